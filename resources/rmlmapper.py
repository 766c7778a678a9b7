"""RMLMapper, which executes R2RML and RML mappings: https://github.com/RMLio/rmlmapper-java."""

from typing import ClassVar

from benchyard.resource import CommandResult
from resources._containers.programs import ProgramContainer
from resources._containers.settings import ContainerSettings
from resources._mapping.commands import Mapping, MappingEngine
from resources._mapping.folder import shared
from resources._mapping.java import heap_arguments
from resources._mapping.rmlmapper import mapping_arguments


class RMLMapper(MappingEngine, ProgramContainer[ContainerSettings]):
    """RMLMapper: one container for each command."""

    _image: ClassVar[str] = "kgconstruct/rmlmapper:v6.0.0"

    def _run_engine(self, arguments: list[str], output_file: str | None) -> CommandResult:
        heap = heap_arguments(self.settings.memory_bytes)
        return self._call(
            ["java", *heap, "-jar", "/rmlmapper/rmlmapper.jar", *arguments], output_file
        )

    def _execute_mapping(self, mapping: Mapping) -> CommandResult:
        arguments = mapping_arguments(
            shared(mapping.file), shared(mapping.output), mapping.serialization, mapping.database
        )
        return self._run_engine(arguments, mapping.output)
