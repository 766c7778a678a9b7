"""SQLite, the library inside Python."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from benchyard.core.errors import InputError
from benchyard.core.model import Json, JsonObject
from resources.embedded import EmbeddedDatabase


@dataclass(frozen=True, slots=True)
class SQLiteSettings:
    """What a case may set.

    Args:
        pragmas: Name to value, set in this order when the database is opened.
    """

    pragmas: Mapping[str, str | int] = field(default_factory=dict[str, str | int])

    def __post_init__(self) -> None:
        for name in self.pragmas:
            if not name.isidentifier():
                raise InputError(f"SQLite: '{name}' is not the name of a pragma; see pragma.html")


class SQLite(EmbeddedDatabase[SQLiteSettings]):
    """SQLite with its database in a file."""

    Settings: ClassVar[type[SQLiteSettings]] = SQLiteSettings
    _what: ClassVar[str] = "SQLite"
    _database: ClassVar[str] = "database.sqlite"

    @classmethod
    def installed(cls, settings: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the version, as ``version`` does."""
        del settings
        return {"version": sqlite3.sqlite_version}

    def version(self) -> str:
        """Return the library's version; the worker runs the same Python."""
        return sqlite3.sqlite_version

    def _worker_settings(self) -> JsonObject:
        return {"pragmas": dict(self.settings.pragmas)}
