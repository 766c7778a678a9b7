"""The base of databases that live inside a process: each gets a child process to live in."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

from benchyard.case.resource import CommandResult, SettingsT
from benchyard.core.errors import CommandFailedError, NotReadyError, ProgramFailedError
from benchyard.core.model import Json, JsonObject
from resources._databases.commands import SqlDatabase
from resources._workers import DiedError, Worker, WorkerResource

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

    @abstractmethod
    def _worker_settings(self) -> JsonObject:
        """Return what the engine's ``open_engine`` takes."""

    def _launched(self) -> Worker:
        options: JsonObject = {
            "engine": self._what,
            "database": str(self.workspace.own / self._database),
            "settings": self._worker_settings(),
        }
        # Its folder is on the worker's path, and this one, with duckdb.py, must not be.
        return Worker(WORKER, self.workspace, options)

    def wait_until_ready(self) -> None:
        """Return once the database is open.

        Raises:
            NotReadyError: If it cannot be opened, in time or at all.
        """
        answer = self._first(READY_DEADLINE)
        if "error" in answer:
            raise NotReadyError(f"{self._what} cannot open its database: {answer['error']}")

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
            answer: dict[str, Any] = self._living().ask(request)
        except DiedError as error:
            raise CommandFailedError(f"{self._what} did not answer: {error}") from error
        if "error" in answer:
            kind = ProgramFailedError if answer["refused"] else CommandFailedError
            raise kind(f"{self._what}: {answer['error']}")
        return answer["values"]
