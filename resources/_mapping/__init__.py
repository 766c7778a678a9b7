"""Engines that make graphs from mappings; here the commands and the database of most."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, cast
from urllib.parse import quote

from benchyard.case.resource import CommandResult, InputFile, OutputFile, command
from benchyard.core.errors import CommandFailedError

#: What KROWN's cases write as ``rdb_type``.
DatabaseType: TypeAlias = Literal["MySQL", "PostgreSQL"]

_PARAMETERS = (
    *("rdb_username", "rdb_password", "rdb_host"),
    *("rdb_port", "rdb_name", "rdb_type"),
)
_JDBC = {"MySQL": "jdbc:mysql", "PostgreSQL": "jdbc:postgresql"}
_SQLALCHEMY = {"MySQL": "mysql+pymysql", "PostgreSQL": "postgresql+psycopg2"}
#: MySQL's driver refuses its own default way to authenticate without them. Source: KROWN.
_MYSQL_OPTIONS = "?allowPublicKeyRetrieval=true&useSSL=false"


@dataclass(frozen=True, slots=True)
class Database:
    """A relational database.

    Args:
        host: Host name; the class name of a resource of the same case, or any other.
        name: Of the database on its server.
    """

    username: str
    password: str = field(repr=False)
    host: str
    port: int
    name: str
    kind: DatabaseType

    @property
    def driver(self) -> str:
        """The begin of its JDBC URL, such as ``jdbc:mysql``."""
        return _JDBC[self.kind]

    def jdbc_url(self, *, options: bool = False) -> str:
        """Return how a Java program finds it.

        Args:
            options: Whether what MySQL's driver needs beside the address stands in it.
        """
        more = _MYSQL_OPTIONS if options and self.kind == "MySQL" else ""
        return f"{self.driver}://{self.host}:{self.port}/{self.name}{more}"

    def sqlalchemy_url(self) -> str:
        """Return how a Python program finds it, user and password included."""
        who = f"{quote(self.username, safe='')}:{quote(self.password, safe='')}"
        return f"{_SQLALCHEMY[self.kind]}://{who}@{self.host}:{self.port}/{self.name}"


def database_of(*given: str | int | None) -> Database | None:
    """Return the database that a step names, or None if it names none.

    Args:
        given: The six parameters, in the order of ``Database``.

    Raises:
        CommandFailedError: If it names one in part.
    """
    missing = [name for name, value in zip(_PARAMETERS, given, strict=True) if value is None]
    if len(missing) == len(given):
        return None
    if missing:
        raise CommandFailedError(
            f"the database is named in part: {', '.join(missing)} missing; give all six 'rdb_' "
            "parameters, or none for a mapping of files"
        )
    return Database(*cast("tuple[str, str, str, int, str, DatabaseType]", given))


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
