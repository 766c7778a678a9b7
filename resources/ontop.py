"""Ontop, which sees a relational database as a knowledge graph: https://ontop-vkg.org."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Literal

from benchyard.case.resource import CommandResult, InputFile, OutputFile, command, current_step
from resources._containers import Specification
from resources._containers.base import ContainerSettingsT, ProgramContainer, ServerContainer
from resources._containers.settings import ContainerSettings, heap_arguments
from resources._mapping import Database, DatabaseType
from resources._mapping.folder import WithFolder, properties, shared
from resources._readiness import Readiness, log_pattern, wait_until_ready

IMAGE = "kgconstruct/ontop:v5.0.0"
PROGRAM = "/ontop/ontop"

_DRIVERS = {"MySQL": "com.mysql.cj.jdbc.Driver", "PostgreSQL": "org.postgresql.Driver"}


class _Ontop(WithFolder[ContainerSettingsT]):
    """Ontop, whatever it is to do."""

    def _specification(self) -> Specification:
        spec = super()._specification()
        heap = " ".join(heap_arguments(self.settings.memory_bytes))
        own = {"ONTOP_JAVA_ARGS": heap, "ONTOP_LOG_LEVEL": "info"}
        return replace(spec, environment={**own, **spec.environment})

    def _files(self, mapping_file: str, database: Database, *more: str) -> Sequence[str]:
        """Write what it reads; return the arguments that name it.

        Args:
            more: Arguments to stand between both files.
        """
        from resources._mapping.mappings import with_classes  # noqa: PLC0415 - see load_conversions

        text = with_classes(self.workspace.file(mapping_file), mapping_file)
        mapping = self._hand_over("mapping_converted.r2rml.ttl", text)
        connection = {
            "jdbc.url": database.jdbc_url(),
            "jdbc.driver": _DRIVERS[database.kind],
            "jdbc.user": database.username,
            "jdbc.password": database.password,
        }
        file = self._hand_over("config.properties", properties(connection))
        return "-m", mapping, *more, "-p", file


#: Where the endpoint listens in its container.
PORT = 8888


class OntopMaterialize(_Ontop[ContainerSettings], ProgramContainer[ContainerSettings]):
    """Ontop as an engine that writes the graph down: one container for each command."""

    _image: ClassVar[str] = IMAGE

    @command
    def execute_mapping(  # noqa: PLR0913, PLR0917 - each is a parameter of KROWN's steps
        self,
        mapping_file: InputFile,
        output_file: OutputFile,
        serialization: str,
        rdb_username: str,
        rdb_password: str,
        rdb_host: str,
        rdb_port: int,
        rdb_name: str,
        rdb_type: DatabaseType,
    ) -> CommandResult:
        """Make RDF from a database as a mapping says.

        Args:
            mapping_file: The mapping, R2RML.
            output_file: The RDF.
            serialization: Its format, such as ``ntriples``.
            rdb_username: Who reads the database.
            rdb_password: Of that user.
            rdb_host: The class name of a resource of this case, or another host.
            rdb_port: TCP port of the database.
            rdb_name: Name of the database.
            rdb_type: Its kind.
        """
        database = Database(rdb_username, rdb_password, rdb_host, rdb_port, rdb_name, rdb_type)
        files = self._files(mapping_file, database, "-o", shared(output_file))
        return self._call([PROGRAM, "materialize", "-f", serialization, *files], output_file)


class OntopVirtualize(_Ontop[ContainerSettings], ServerContainer[ContainerSettings]):
    """Ontop as an endpoint that answers SPARQL from the database.

    It starts when a step gives it a mapping, not before. Its SPARQL is at ``/sparql`` on port 8888.
    """

    _image: ClassVar[str] = IMAGE
    _serves: ClassVar[Sequence[int]] = (PORT,)

    def start(self) -> None:
        """Prepare the ground: without a mapping there is nothing to serve."""
        self._prepare()

    def wait_until_ready(self) -> None:
        """Return: readiness is waited for where the server is started."""

    def alive(self) -> bool:
        """Tell whether a mapping can be taken, or the endpoint runs."""
        return self._server is None or super().alive()

    def _readiness(self) -> Sequence[Readiness]:
        return (log_pattern("Started OntopEndpointApplication"),)

    @command
    def execute_mapping(  # noqa: PLR0913, PLR0917 - each is a parameter of KROWN's steps
        self,
        mapping_file: InputFile,
        serialization: Literal[
            "ntriples", "nquads", "turtle", "rdfjson", "rdfxml", "jsonld", "csv"
        ],
        rdb_username: str,
        rdb_password: str,
        rdb_host: str,
        rdb_port: int,
        rdb_name: str,
        rdb_type: DatabaseType,
    ) -> CommandResult:
        """Start the endpoint with a mapping, and return once it answers.

        The step lasts until then, as in KROWN: its duration is the start-up. An endpoint of an
        earlier step is stopped before. The value ``port`` is where this host finds it.

        Args:
            mapping_file: The mapping, R2RML.
            serialization: What queries may ask for; the endpoint itself knows all of them.
            rdb_username: Who reads the database.
            rdb_password: Of that user.
            rdb_host: The class name of a resource of this case, or another host.
            rdb_port: TCP port of the database.
            rdb_name: Name of the database.
            rdb_type: Its kind.
        """
        del serialization
        database = Database(rdb_username, rdb_password, rdb_host, rdb_port, rdb_name, rdb_type)
        files = self._files(mapping_file, database)
        call = [PROGRAM, "endpoint", "--cors-allowed-origins=*", f"--port={PORT}", *files]
        if self._server is not None:
            self._server.stop(self.settings.stop_seconds)
        spec = replace(self._specification(), command=tuple(call))
        container = self._serve(spec, current_step())
        wait_until_ready(container, self._readiness(), self.settings.ready_seconds)
        return CommandResult({"port": container.port(PORT)})
