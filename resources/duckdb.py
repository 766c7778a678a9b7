"""DuckDB, the library of the PyPI package ``duckdb``, which only the worker imports."""

import importlib.metadata
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from benchyard.core.errors import InputError
from benchyard.core.model import Json, JsonObject
from resources.embedded import EmbeddedDatabase

if importlib.util.find_spec("duckdb") is None:
    raise ImportError("the package 'duckdb' is not installed; install it with: pip install duckdb")


@dataclass(frozen=True, slots=True)
class DuckDBSettings:
    """What a case may set; None leaves it to DuckDB.

    Args:
        threads: How many threads a query may use.
        memory_limit: With its unit, such as ``2GB``.
    """

    threads: int | None = None
    memory_limit: str | None = None

    def __post_init__(self) -> None:
        if self.threads is not None and self.threads < 1:
            raise InputError(f"DuckDB: threads is {self.threads}; it must be 1 or more")


class DuckDB(EmbeddedDatabase[DuckDBSettings]):
    """DuckDB with its database in a file."""

    Settings: ClassVar[type[DuckDBSettings]] = DuckDBSettings
    _what: ClassVar[str] = "DuckDB"
    _database: ClassVar[str] = "database.duckdb"

    @classmethod
    def installed(cls, settings: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the version, as ``version`` does."""
        del settings
        return {"version": importlib.metadata.version("duckdb")}

    def version(self) -> str:
        """Return the installed package's version, which is the library's."""
        return importlib.metadata.version("duckdb")

    def _worker_settings(self) -> JsonObject:
        given: JsonObject = {
            "threads": self.settings.threads,
            "memory_limit": self.settings.memory_limit,
        }
        return {name: value for name, value in given.items() if value is not None}
