"""SQLite, the library inside Python."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from benchyard.core.errors import InputError
from benchyard.core.model import JsonObject
from resources._interpreters import refuse_relative
from resources.embedded import EmbeddedDatabase


@dataclass(frozen=True, slots=True)
class SQLiteSettings:
    """What a case may set.

    Args:
        pragmas: Name to value, set in this order when the database is opened.
        python: Interpreter, or virtual environment, whose library is used; the lab's own if None.
    """

    pragmas: Mapping[str, str | int] = field(default_factory=dict[str, str | int])
    python: str | None = None

    def __post_init__(self) -> None:
        refuse_relative("SQLite", self.python)
        for name in self.pragmas:
            if not name.isidentifier():
                raise InputError(f"SQLite: '{name}' is not the name of a pragma; see pragma.html")


class SQLite(EmbeddedDatabase[SQLiteSettings]):
    """SQLite with its database in a file."""

    Settings: ClassVar[type[SQLiteSettings]] = SQLiteSettings
    _what: ClassVar[str] = "SQLite"
    _database: ClassVar[str] = "database.sqlite"

    @classmethod
    def _own_version(cls) -> str:
        return sqlite3.sqlite_version

    def _worker_settings(self) -> JsonObject:
        return {"pragmas": dict(self.settings.pragmas)}
