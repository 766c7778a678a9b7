"""DuckDB, the library of the PyPI package ``duckdb``, which only the worker imports."""

import importlib.metadata
from dataclasses import dataclass
from typing import ClassVar

from benchyard.core.errors import InputError, SettingsError, require_extra
from benchyard.core.model import JsonObject
from resources._workers import refuse_relative
from resources.embedded import EmbeddedDatabase


@dataclass(frozen=True, slots=True)
class DuckDBSettings:
    """What a case may set; None leaves it to DuckDB.

    Args:
        threads: How many threads a query may use.
        memory_limit: With its unit, such as ``2GB``.
        python: Interpreter, or virtual environment, whose library is used; the lab's own if None.
    """

    threads: int | None = None
    memory_limit: str | None = None
    python: str | None = None

    def __post_init__(self) -> None:
        refuse_relative("DuckDB", self.python)
        if self.python is None:
            _require_own_library()
        if self.threads is not None and self.threads < 1:
            raise InputError(f"DuckDB: threads is {self.threads}; it must be 1 or more")


class DuckDB(EmbeddedDatabase[DuckDBSettings]):
    """DuckDB with its database in a file."""

    Settings: ClassVar[type[DuckDBSettings]] = DuckDBSettings
    _what: ClassVar[str] = "DuckDB"
    _database: ClassVar[str] = "database.duckdb"

    @classmethod
    def _own_version(cls) -> str:
        return importlib.metadata.version("duckdb")

    def _worker_settings(self) -> JsonObject:
        given: JsonObject = {
            "threads": self.settings.threads,
            "memory_limit": self.settings.memory_limit,
        }
        return {name: value for name, value in given.items() if value is not None}


def _require_own_library() -> None:
    try:
        require_extra("duckdb", "duckdb", "DuckDB", "name an interpreter that has it")
    except InputError as error:
        raise SettingsError([("python", str(error))]) from error
