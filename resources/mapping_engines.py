"""Engines that make RDF of mappings, each configured in its own way; YARRRML's parser."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal

from benchyard.case.resource import CommandResult, InputFile, OutputFile, command
from resources._containers.base import ProgramContainer
from resources._containers.settings import ContainerSettings
from resources._mapping import Database, DatabaseType, Mapping, MappingEngine, database_of
from resources._mapping.folder import DATA, OUTPUT, ConfiguredEngine, ini, properties, shared


class RMLStreamer(ConfiguredEngine, MappingEngine):
    """RMLStreamer: one container for each command.

    It writes several files, which are joined in the order of their names. Duplicates stay: it does
    not remove them. A database is named in a copy of the mapping, which is RML then.
    """

    _image: ClassVar[str] = "kgconstruct/rmlstreamer:v2.5.0"
    _program: ClassVar[Sequence[str]] = ("java", "-jar", "/rmlstreamer/rmlstreamer.jar")

    def _execute_mapping(self, mapping: Mapping) -> CommandResult:
        seen = self._rml(mapping.file, mapping.database)
        # Where no row makes a triple, it makes no file.
        call = self._engine_call(["toFile", "-o", OUTPUT, "-m", seen])
        return self._map_into_folder(call, mapping.output, least=0)


#: Names of formats: those of the cases to Morph-KGC's own.
_KGC_FORMATS = {"ntriples": "N-TRIPLES", "nquads": "N-QUADS"}
_KGC_FILE = "config_morphkgc.ini"


class MorphKGC(ConfiguredEngine):
    """Morph-KGC: one container for each command."""

    _image: ClassVar[str] = "kgconstruct/morph-kgc:v2.2.0"
    _program: ClassVar[Sequence[str]] = ("python3", "-m", "morph_kgc")
    _by_default: ClassVar[Sequence[str]] = (f"{DATA}/{_KGC_FILE}",)

    @command
    def execute_mapping(  # noqa: PLR0913, PLR0917 - each is a parameter of KROWN's steps
        self,
        mapping_file: InputFile,
        output_file: OutputFile,
        serialization: Literal["ntriples", "nquads"],
        rdb_username: str | None = None,
        rdb_password: str | None = None,
        rdb_host: str | None = None,
        rdb_port: int | None = None,
        rdb_name: str | None = None,
        rdb_type: DatabaseType | None = None,
        *,
        multiple_files: bool = False,
    ) -> CommandResult:
        """Make RDF as a mapping says.

        Args:
            mapping_file: The mapping, R2RML or RML.
            output_file: The RDF.
            serialization: Its format.
            rdb_username: Who reads the database; all six are given for one, or none.
            rdb_password: Of that user.
            rdb_host: The class name of a resource of this case, or another host.
            rdb_port: TCP port of the database.
            rdb_name: Name of the database.
            rdb_type: Its kind.
            multiple_files: Whether it writes a file for each part of the mapping; they are joined
                in the order of their names afterwards.
        """
        database = database_of(rdb_username, rdb_password, rdb_host, rdb_port, rdb_name, rdb_type)
        # Not to the output itself, for it changes suffixes to its own.
        file = f"{OUTPUT}/{Path(output_file).name}"
        where = {"output_dir": OUTPUT} if multiple_files else {"output_file": file}
        access = {"db_url": database.sqlalchemy_url()} if database else {}
        settings = ini(
            {
                "CONFIGURATION": {"output_format": _KGC_FORMATS[serialization], **where},
                "DataSource0": {"mappings": shared(mapping_file), **access},
            }
        )
        self._hand_over(_KGC_FILE, settings)
        return self._map_into_folder(self._engine_call(), output_file)


#: Names of formats: those of the cases to Morph-RDB's own.
_RDB_FORMATS = {"ntriples": "N-TRIPLE", "nquads": "N-QUADS"}
_RDB_DRIVERS = {"MySQL": "com.mysql.jdbc.Driver", "PostgreSQL": "org.postgresql.Driver"}
_RDB_FILE = "config.properties"
#: With the versions of its image; Java itself expands the star.
_RDB_CLASS_PATH = ".:morph-rdb-dist-3.12.6.jar:dependency/*"
_RDB_MAIN = "es.upm.fi.dia.oeg.morph.r2rml.rdb.engine.MorphRDBRunner"


class MorphRDB(ConfiguredEngine):
    """Morph-RDB: one container for each command."""

    _image: ClassVar[str] = "kgconstruct/morph-rdb:v3.12.5"
    _program: ClassVar[Sequence[str]] = ("java", "-cp", _RDB_CLASS_PATH, _RDB_MAIN)
    _by_default: ClassVar[Sequence[str]] = (DATA, _RDB_FILE)

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
            "output.rdflanguage": _RDB_FORMATS[serialization],
        }
        self._hand_over(_RDB_FILE, properties(files | _rdb_connection(database)))
        return self._run_engine([], output_file)


def _rdb_connection(database: Database) -> dict[str, str]:
    return {
        "database.name[0]": database.name,
        "database.driver[0]": _RDB_DRIVERS[database.kind],
        "database.type[0]": database.kind.lower(),
        "database.url[0]": database.jdbc_url(options=True),
        "database.user[0]": database.username,
        "database.pwd[0]": database.password,
        "no_of_database": "1",
    }


#: Names of formats: those of the cases to SDM-RDFizer's own, which has none with graphs.
_SDM_FORMATS = {"ntriples": "n-triples", "nquads": "n-triples", "turtle": "turtle"}
_SDM_KINDS = {"MySQL": "mysql", "PostgreSQL": "postgres"}
_SDM_FILE = "config_sdmrdfizer.ini"


class SDMRDFizer(ConfiguredEngine):
    """SDM-RDFizer: one container for each command.

    A database is named in a copy of the mapping, which is RML then.
    """

    _image: ClassVar[str] = "kgconstruct/sdm-rdfizer:v4.6.6.5"
    _program: ClassVar[Sequence[str]] = ("python3", "sdm-rdfizer/rdfizer/run_rdfizer.py")
    _by_default: ClassVar[Sequence[str]] = (f"{DATA}/{_SDM_FILE}",)

    @command
    def execute_mapping(  # noqa: PLR0913, PLR0917 - each is a parameter of KROWN's steps
        self,
        mapping_file: InputFile,
        output_file: OutputFile,
        serialization: Literal["ntriples", "nquads", "turtle"],
        rdb_username: str | None = None,
        rdb_password: str | None = None,
        rdb_host: str | None = None,
        rdb_port: int | None = None,
        rdb_name: str | None = None,
        rdb_type: DatabaseType | None = None,
    ) -> CommandResult:
        """Make RDF as a mapping says.

        Args:
            mapping_file: The mapping, RML, or R2RML for a database.
            output_file: The RDF.
            serialization: Its format; ``nquads`` is written as N-Triples, without graphs.
            rdb_username: Who reads the database; all six are given for one, or none.
            rdb_password: Of that user.
            rdb_host: The class name of a resource of this case, or another host.
            rdb_port: TCP port of the database.
            rdb_name: Name of the database.
            rdb_type: Its kind.
        """
        database = database_of(rdb_username, rdb_password, rdb_host, rdb_port, rdb_name, rdb_type)
        name, form = Path(output_file).stem, _SDM_FORMATS[serialization]
        mapping = self._rml(mapping_file, database, formulations=True)
        settings = _sdm_settings(name, form, mapping, database)
        self._hand_over(_SDM_FILE, ini(settings, delimiter=":"))
        return self._map_into_folder(self._engine_call(), output_file)


def _sdm_settings(
    name: str, output_format: str, mapping: str, database: Database | None
) -> dict[str, dict[str, str]]:
    """Return the sections of SDM-RDFizer's configuration file.

    Args:
        name: Of the file that it writes, without its suffix.
        mapping: Where it sees the mapping.
    """
    settings = {
        "default": {"main_directory": "/data/shared"},
        "datasets": {
            "number_of_datasets": "1",
            "output_folder": OUTPUT,
            "all_in_one_file": "yes",
            "remove_duplicate": "yes",
            "enrichment": "yes",
            "name": name,
            "ordered": "no",
            "large_file": "false",
            "output_format": output_format,
        },
        "dataset1": {"name": name, "mapping": mapping},
    }
    if database is not None:
        settings["datasets"]["dbType"] = _SDM_KINDS[database.kind]
        settings["dataset1"] |= {
            "user": database.username,
            "password": database.password,
            "host": database.host,
            "port": str(database.port),
            "db": database.name,
        }
    return settings


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
