"""RMLMapper, which executes R2RML and RML mappings: https://github.com/RMLio/rmlmapper-java."""

from typing import ClassVar

from benchyard.case.resource import CommandResult
from resources._containers.kinds import ProgramContainer
from resources._containers.settings import ContainerSettings, heap_arguments
from resources._containers.specification import Mount
from resources._mapping.commands import Mapping, MappingEngine
from resources._mapping.configuration import write_private
from resources._mapping.folder import shared
from resources._mapping.rmlmapper import CONFIGURATION, configuration, mapping_arguments


class RMLMapper(MappingEngine, ProgramContainer[ContainerSettings]):
    """RMLMapper: one container for each command."""

    _image: ClassVar[str] = "kgconstruct/rmlmapper:v6.0.0"

    def _run_engine(self, arguments: list[str], output_file: str | None) -> CommandResult:
        return self._call(self._java(arguments), output_file)

    def _java(self, arguments: list[str]) -> list[str]:
        heap = heap_arguments(self.settings.memory_bytes)
        return ["java", *heap, "-jar", "/rmlmapper/rmlmapper.jar", *arguments]

    def _execute_mapping(self, mapping: Mapping) -> CommandResult:
        secret = configuration(mapping.database)
        seen = f"/{CONFIGURATION}" if secret else ""
        arguments = mapping_arguments(
            *(shared(mapping.file), shared(mapping.output), mapping.serialization),
            mapping.database,
            seen,
        )
        mounts: list[Mount] = []
        if secret:
            file = self.workspace.own / CONFIGURATION
            write_private(file, secret)
            mounts.append(Mount(file, seen, read_only=True))
        return self._call(self._java(arguments), mapping.output, mounts)
