"""Morph-KGC, which executes R2RML, RML and RML-star: https://github.com/morph-kgc/morph-kgc."""

from pathlib import Path
from typing import ClassVar, Literal

from benchyard.case.resource import CommandResult, InputFile, OutputFile, command
from resources._mapping.commands import ArgumentEngine, Database, DatabaseType, database_of
from resources._mapping.folder import DATA, OUTPUT, ConfiguredEngine, ini, shared

#: Names of formats: those of the cases to Morph-KGC's own.
_FORMATS = {"ntriples": "N-TRIPLES", "nquads": "N-QUADS"}
_CONFIGURATION = "config_morphkgc.ini"


class MorphKGC(ArgumentEngine, ConfiguredEngine):
    """Morph-KGC: one container for each command."""

    _image: ClassVar[str] = "kgconstruct/morph-kgc:v2.2.0"

    def _run_engine(self, arguments: list[str], output_file: str | None) -> CommandResult:
        return self._call(_call(*arguments), output_file)

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
        where = {"output_dir": OUTPUT} if multiple_files else {"output_file": _named(output_file)}
        settings = ini(
            {
                "CONFIGURATION": {"output_format": _FORMATS[serialization], **where},
                "DataSource0": {"mappings": shared(mapping_file), **_address(database)},
            }
        )
        return self._map_into_folder(_call(self._hand_over(_CONFIGURATION, settings)), output_file)


def _call(*arguments: str) -> list[str]:
    """Return the call; without arguments it reads KROWN's file, an earlier command's."""
    return ["python3", "-m", "morph_kgc", *(arguments or (f"{DATA}/{_CONFIGURATION}",))]


def _named(output_file: str) -> str:
    """Return where it writes: not to the output itself, for it changes suffixes to its own."""
    return f"{OUTPUT}/{Path(output_file).name}"


def _address(database: Database | None) -> dict[str, str]:
    return {} if database is None else {"db_url": database.sqlalchemy_url()}
