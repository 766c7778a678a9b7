"""The commands that most engines have in common."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from benchyard.case.resource import CommandResult, InputFile, OutputFile, command
from resources._mapping.databases import Database, DatabaseType, database_of


class ArgumentEngine(ABC):
    """A program that is given arguments."""

    @abstractmethod
    def _run_engine(self, arguments: list[str], output_file: str | None) -> CommandResult:
        """Run the program; the file must be there afterwards."""

    @command
    def execute(self, arguments: list[str], output_file: OutputFile | None = None) -> CommandResult:
        """Run the engine with arguments of your own.

        Args:
            arguments: What follows the engine's own call; no shell reads them.
            output_file: A file in ``data/shared`` that it writes and that must then be there.
        """
        return self._run_engine(arguments, output_file)


@dataclass(frozen=True, slots=True)
class Mapping:
    """What is to be mapped, and to what; files are named as the step names them."""

    file: str
    output: str
    serialization: str
    database: Database | None


class MappingEngine(ArgumentEngine):
    """A program that makes RDF from files, or from a relational database."""

    @abstractmethod
    def _execute_mapping(self, mapping: Mapping) -> CommandResult:
        """Make the RDF."""

    @command
    def execute_mapping(  # noqa: PLR0913, PLR0917 - each is a parameter of KROWN's steps
        self,
        mapping_file: InputFile,
        output_file: OutputFile,
        serialization: str,
        rdb_username: str | None = None,
        rdb_password: str | None = None,
        rdb_host: str | None = None,
        rdb_port: int | None = None,
        rdb_name: str | None = None,
        rdb_type: DatabaseType | None = None,
    ) -> CommandResult:
        """Make RDF as a mapping says.

        Args:
            mapping_file: The mapping, R2RML or RML.
            output_file: The RDF.
            serialization: Its format, such as ``ntriples`` or ``nquads``.
            rdb_username: Who reads the database; all six are given for one, or none.
            rdb_password: Of that user.
            rdb_host: The class name of a resource of this case, or another host.
            rdb_port: TCP port of the database.
            rdb_name: Name of the database.
            rdb_type: Its kind.
        """
        database = database_of(rdb_username, rdb_password, rdb_host, rdb_port, rdb_name, rdb_type)
        return self._execute_mapping(Mapping(mapping_file, output_file, serialization, database))
