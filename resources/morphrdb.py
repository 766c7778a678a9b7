"""Morph-RDB, which executes R2RML on relational databases: https://github.com/oeg-upm/morph-rdb."""

from typing import ClassVar, Literal

from benchyard.case.resource import CommandResult, InputFile, OutputFile, command
from resources._containers.settings import heap_arguments
from resources._mapping.commands import ArgumentEngine, Database, DatabaseType
from resources._mapping.folder import DATA, ConfiguredEngine, properties

#: Names of formats: those of the cases to Morph-RDB's own.
_FORMATS = {"ntriples": "N-TRIPLE", "nquads": "N-QUADS"}
_DRIVERS = {"MySQL": "com.mysql.jdbc.Driver", "PostgreSQL": "org.postgresql.Driver"}
_CONFIGURATION = "config.properties"
#: With the versions of its image; Java itself expands the star.
_CLASS_PATH = ".:morph-rdb-dist-3.12.6.jar:dependency/*"
_MAIN = "es.upm.fi.dia.oeg.morph.r2rml.rdb.engine.MorphRDBRunner"


class MorphRDB(ArgumentEngine, ConfiguredEngine):
    """Morph-RDB: one container for each command."""

    _image: ClassVar[str] = "kgconstruct/morph-rdb:v3.12.5"

    def _run_engine(self, arguments: list[str], output_file: str | None) -> CommandResult:
        """Run it; without arguments it reads KROWN's file, an earlier command's."""
        heap = heap_arguments(self.settings.memory_bytes)
        files = arguments or [DATA, _CONFIGURATION]
        return self._call(["java", *heap, "-cp", _CLASS_PATH, _MAIN, *files], output_file)

    @command
    def execute_mapping(  # noqa: PLR0913, PLR0917 - each is a parameter of KROWN's steps
        self,
        mapping_file: InputFile,
        output_file: OutputFile,
        serialization: Literal["ntriples", "nquads"],
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
            serialization: Its format.
            rdb_username: Who reads the database.
            rdb_password: Of that user.
            rdb_host: The class name of a resource of this case, or another host.
            rdb_port: TCP port of the database.
            rdb_name: Name of the database.
            rdb_type: Its kind.
        """
        database = Database(rdb_username, rdb_password, rdb_host, rdb_port, rdb_name, rdb_type)
        # It takes paths relative to its configuration file's folder.
        files = {
            "mappingdocument.file.path": f"shared/{mapping_file}",
            "output.file.path": f"shared/{output_file}",
            "output.rdflanguage": _FORMATS[serialization],
        }
        self._hand_over(_CONFIGURATION, properties(files | _connection(database)))
        return self._run_engine([], output_file)


def _connection(database: Database) -> dict[str, str]:
    return {
        "database.name[0]": database.name,
        "database.driver[0]": _DRIVERS[database.kind],
        "database.type[0]": database.kind.lower(),
        "database.url[0]": database.jdbc_url(options=True),
        "database.user[0]": database.username,
        "database.pwd[0]": database.password,
        "no_of_database": "1",
    }
