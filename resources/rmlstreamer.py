"""RMLStreamer, which executes RML mappings as streams: https://github.com/RMLio/RMLStreamer."""

from typing import ClassVar

from benchyard.case.resource import CommandResult
from resources._containers.settings import heap_arguments
from resources._mapping.commands import Mapping, MappingEngine
from resources._mapping.folder import OUTPUT, ConfiguredEngine, in_rml, shared


class RMLStreamer(MappingEngine, ConfiguredEngine):
    """RMLStreamer: one container for each command.

    It writes several files, which are joined in the order of their names. Duplicates stay: it does
    not remove them. A database is named in a copy of the mapping, which is RML then.
    """

    _image: ClassVar[str] = "kgconstruct/rmlstreamer:v2.5.0"

    def _run_engine(self, arguments: list[str], output_file: str | None) -> CommandResult:
        return self._call(self._arguments(arguments), output_file)

    def _execute_mapping(self, mapping: Mapping) -> CommandResult:
        arguments = self._arguments(["toFile", "-o", OUTPUT, "-m", self._mapping(mapping)])
        # Where no row makes a triple, it makes no file.
        return self._map_into_folder(arguments, mapping.output, least=0)

    def _arguments(self, arguments: list[str]) -> list[str]:
        heap = heap_arguments(self.settings.memory_bytes)
        return ["java", *heap, "-jar", "/rmlstreamer/rmlstreamer.jar", *arguments]

    def _mapping(self, mapping: Mapping) -> str:
        """Return where the container sees the mapping."""
        if mapping.database is None:
            return shared(mapping.file)
        text = in_rml(self.workspace.file(mapping.file), mapping.file, mapping.database)
        return self._hand_over("mapping_converted.rml.ttl", text)
