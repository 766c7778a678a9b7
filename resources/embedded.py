"""The base of databases that live inside a process, each in a child of its own; SQLite."""

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, cast

from benchyard.case.resource import CommandResult, SettingsT, Workspace
from benchyard.core.errors import CommandFailedError, InputError, NotReadyError, retold
from benchyard.core.model import Json, JsonObject
from resources._databases import SqlDatabase
from resources._workers import (
    DiedError,
    WorkerResource,
    interpreter,
    refuse_relative,
    version_in,
)

WORKER = Path(__file__).with_name("_embedded") / "embedded_worker.py"

#: Seconds that opening the database may take.
READY_DEADLINE = 60.0
#: Seconds that closing it may take: a database may bring much to its file.
CLOSE_DEADLINE = 10.0


class EmbeddedDatabase(SqlDatabase[SettingsT], WorkerResource[SettingsT], ABC):
    """A database in a child process."""

    _close_seconds = CLOSE_DEADLINE
    #: Name of the database's file.
    _database: ClassVar[str]

    def __init__(self, settings: SettingsT, workspace: Workspace) -> None:
        super().__init__(settings, workspace)
        self._told: dict[str, Any] = {}

    @classmethod
    @abstractmethod
    def _own_version(cls) -> str:
        """Return the version of the library beside the lab, without loading it."""

    @classmethod
    def installed(cls, settings: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the version that the interpreter of the case loads."""
        python = settings.get("python")
        if python is None:
            return {"version": cls._own_version()}
        return {"version": version_in(interpreter(str(python)), WORKER, cls._what)}

    def version(self) -> str:
        """Return the version that was loaded; before that, the one that would be."""
        given: Mapping[str, Json] = {"python": self._python}
        return self._told.get("version") or str(self.installed(given)["version"])

    def facts(self) -> Mapping[str, Json]:
        """Return the version of the interpreter, where the case names one."""
        known = self._python is not None and bool(self._told)
        return {"python_version": self._told["python"]} if known else {}

    @property
    def _python(self) -> str | None:
        """The interpreter, or its environment, that the case names."""
        python: str | None = cast("Any", self.settings).python
        return python

    def initialize(self) -> None:
        """See that the interpreter of the case loads the library.

        Raises:
            NotReadyError: If it does not.
        """
        if self._python is not None:
            version_in(interpreter(self._python), WORKER, self._what)

    @abstractmethod
    def _worker_settings(self) -> JsonObject:
        """Return what the engine's ``open_engine`` takes."""

    def start(self) -> None:
        """Start the process."""
        options: JsonObject = {
            "engine": self._what,
            "database": str(self.workspace.own / self._database),
            "settings": self._worker_settings(),
        }
        # Its folder is on the worker's path, and this one, with duckdb.py, must not be.
        self._launch(WORKER, options, interpreter(self._python))

    def wait_until_ready(self) -> None:
        """Return once the database is open.

        Raises:
            NotReadyError: If it cannot be opened, in time or at all.
        """
        answer = self._first(READY_DEADLINE)
        if "error" in answer:
            raise NotReadyError(f"{self._what} cannot open its database: {answer['error']}")
        self._told = cast("dict[str, Any]", answer["values"])

    def _execute_sql(self, sql: str) -> int | None:
        return self._ask({"do": "execute", "sql": sql})["rows"]

    def _save_answer(self, query_file: str, target: Path) -> int | None:
        query = self._input(query_file)
        return self._ask({"do": "query", "query": query, "results": str(target)})["rows"]

    def _input(self, name: str) -> dict[str, Json]:
        return {"name": name, "path": str(self.workspace.file(name))}

    def _load(self, files: list[tuple[str, str]], schema_file: str | None) -> CommandResult:
        loaded: list[Json] = [
            {**self._input(file), "table": table.lower()} for file, table in files
        ]
        schema = self._input(schema_file) if schema_file else None
        return CommandResult(self._ask({"do": "load", "files": loaded, "schema": schema}))

    def _ask(self, request: JsonObject) -> dict[str, Any]:
        try:
            return super()._ask(request)
        except DiedError as error:
            raise CommandFailedError(f"{self._what} did not answer: {error}") from error
        except CommandFailedError as error:
            raise retold(error, f"{self._what}: {error}") from error


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
