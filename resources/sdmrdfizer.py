"""SDM-RDFizer, which executes RML mappings: https://github.com/SDM-TIB/SDM-RDFizer."""

from pathlib import Path
from typing import ClassVar, Literal

from benchyard.case.resource import CommandResult, InputFile, OutputFile, command
from resources._mapping.commands import ArgumentEngine, Database, DatabaseType, database_of
from resources._mapping.folder import DATA, OUTPUT, ConfiguredEngine, in_rml, ini, shared

#: Names of formats: those of the cases to SDM-RDFizer's own, which has none with graphs.
_FORMATS = {"ntriples": "n-triples", "nquads": "n-triples", "turtle": "turtle"}
_KINDS = {"MySQL": "mysql", "PostgreSQL": "postgres"}
_CONFIGURATION = "config_sdmrdfizer.ini"


class SDMRDFizer(ArgumentEngine, ConfiguredEngine):
    """SDM-RDFizer: one container for each command.

    A database is named in a copy of the mapping, which is RML then.
    """

    _image: ClassVar[str] = "kgconstruct/sdm-rdfizer:v4.6.6.5"

    def _run_engine(self, arguments: list[str], output_file: str | None) -> CommandResult:
        return self._call(_call(*arguments), output_file)

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
        settings = _settings(Path(output_file).stem, _FORMATS[serialization])
        settings["dataset1"]["mapping"] = shared(mapping_file)
        if database is not None:
            settings["datasets"]["dbType"] = _KINDS[database.kind]
            settings["dataset1"] |= _connection(database)
            settings["dataset1"]["mapping"] = self._converted(mapping_file, database)
        configuration = self._hand_over(_CONFIGURATION, ini(settings, delimiter=":"))
        return self._map_into_folder(_call(configuration), output_file)

    def _converted(self, mapping_file: str, database: Database) -> str:
        """Return where the container sees the mapping as this engine wants it."""
        file = self.workspace.file(mapping_file)
        text = in_rml(file, mapping_file, database, formulations=True)
        return self._hand_over("mapping_converted.rml.ttl", text)


def _call(*arguments: str) -> list[str]:
    """Return the call; without arguments it reads KROWN's file, an earlier command's."""
    given = arguments or (f"{DATA}/{_CONFIGURATION}",)
    return ["python3", "sdm-rdfizer/rdfizer/run_rdfizer.py", *given]


def _settings(name: str, output_format: str) -> dict[str, dict[str, str]]:
    """Return what stands in the configuration for every mapping.

    Args:
        name: Of the file that it writes, without its suffix.
    """
    return {
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
        "dataset1": {"name": name},
    }


def _connection(database: Database) -> dict[str, str]:
    return {
        "user": database.username,
        "password": database.password,
        "host": database.host,
        "port": str(database.port),
        "db": database.name,
    }
