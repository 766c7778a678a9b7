"""The YARRRML parser, which turns YARRRML into RML: https://github.com/RMLio/yarrrml-parser."""

from typing import ClassVar

from benchyard.case.resource import CommandResult, InputFile, OutputFile, command
from resources._containers.base import ProgramContainer
from resources._containers.settings import ContainerSettings
from resources._mapping.folder import shared


class YARRRML(ProgramContainer[ContainerSettings]):
    """The YARRRML parser: one container for each command."""

    _image: ClassVar[str] = "kgconstruct/yarrrml:v1.3.6"

    @command
    def transform_mapping(
        self,
        yarrrml_file: InputFile,
        mapping_file: OutputFile,
        *,
        r2rml: bool = False,
        pretty: bool = True,
    ) -> CommandResult:
        """Turn a YARRRML mapping into RML or R2RML.

        Args:
            yarrrml_file: The YARRRML.
            mapping_file: The mapping; later steps can read it.
            r2rml: Whether it is to be R2RML.
            pretty: Whether it is to be readable Turtle rather than N-Triples.
        """
        arguments = ["-i", shared(yarrrml_file), "-o", shared(mapping_file)]
        if r2rml:
            arguments += ["-c", "-f", "R2RML"]
        if pretty:
            arguments.append("-p")
        return self._call(arguments, mapping_file)
