"""The base of databases that live inside a process: each gets a child process to live in.

So its CPU time and memory are its own and not the lab's, and a query can be stopped by a kill.
"""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, TypedDict

from benchyard.case.resource import (
    CommandResult,
    InputFile,
    OutputFile,
    Resource,
    SettingsT,
    Workspace,
    command,
    current_step,
)
from benchyard.core.errors import CommandFailedError, NotReadyError, ProgramFailedError
from benchyard.core.model import Json, JsonObject
from benchyard.process.usage import Ended
from resources._workers import DiedError, Worker

WORKER = Path(__file__).with_name("_embedded") / "embedded_worker.py"

#: Seconds that opening the database may take.
READY_DEADLINE = 60.0
#: Seconds that closing it may take: a database may bring much to its file.
CLOSE_DEADLINE = 10.0


class TableFile(TypedDict):
    """A file and the table that it is loaded into."""

    file: InputFile
    table: str


class EmbeddedDatabase(Resource[SettingsT], ABC):
    """A database in a child process, with the commands that all of them share.

    Files that end in ``.tbl`` have the form of TPC-H's dbgen: ``|`` after each value, no header.
    All others are CSV with a header. In both, ``NULL`` is the null.
    """

    #: What the worker calls the engine; its library is imported there and nowhere else.
    _engine: ClassVar[str]
    #: Name of the database's file.
    _database: ClassVar[str]

    def __init__(self, settings: SettingsT, workspace: Workspace) -> None:
        super().__init__(settings, workspace)
        self._worker: Worker | None = None
        self._latest: Worker | None = None

    @abstractmethod
    def _worker_settings(self) -> JsonObject:
        """Return what the engine's ``open_engine`` takes."""

    def start(self) -> None:
        """Start the process; it opens the database by itself."""
        options: JsonObject = {
            "engine": self._engine,
            "database": str(self.workspace.own / self._database),
            "settings": self._worker_settings(),
        }
        # Its folder is on the worker's path, and this one, with duckdb.py, must not be.
        self._worker = self._latest = Worker(WORKER, self.workspace, options)
        self.changed()

    def wait_until_ready(self) -> None:
        """Return once the database is open.

        Raises:
            NotReadyError: If it cannot be opened, in time or at all.
        """
        try:
            answer = self._living().first(READY_DEADLINE)
        except DiedError as error:
            raise NotReadyError(f"{self._engine} did not start: {error}") from error
        if "error" in answer:
            raise NotReadyError(f"{self._engine} cannot open its database: {answer['error']}")

    def stop(self) -> None:
        """Close the database; kill what does not end."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close(CLOSE_DEADLINE)
            self.changed()

    def abort(self, step: str | None = None) -> None:
        """Kill the process; the command in progress fails at once."""
        del step  # one command at a time: it is the one
        worker = self._worker
        if worker is not None:
            worker.kill()

    def alive(self) -> bool:
        """Tell whether the process still runs."""
        worker = self._worker
        return worker is not None and worker.running

    def pids(self, step: str | None = None) -> list[int]:
        """Return the process that the database lives in."""
        del step  # as in ``abort``
        worker = self._latest
        return [] if worker is None or worker.ended else [worker.pid]

    def ended(self, step: str | None = None) -> list[Ended]:
        """Return what the kernel accounted for that process, once it ended."""
        del step
        worker = self._latest
        return [] if worker is None or worker.ended is None else [worker.ended]

    @command
    def load(
        self, csv_file: InputFile, table: str, schema_file: InputFile | None = None
    ) -> CommandResult:
        """Load a file into a table, as one transaction.

        Args:
            csv_file: The file.
            table: The table, written in lower case whatever stands here.
            schema_file: SQL that makes the table and is executed first. Without it the table is
                made anew from the header, all columns text and all names in lower case.
        """
        return self._load([(csv_file, table)], schema_file)

    @command
    def load_multiple(
        self, csv_files: list[TableFile], schema_file: InputFile | None = None
    ) -> CommandResult:
        """Load files into tables, all in one transaction.

        Args:
            csv_files: Each ``file`` with its ``table``.
            schema_file: As for ``load``, for all the tables.
        """
        return self._load([(pair["file"], pair["table"]) for pair in csv_files], schema_file)

    @command
    def load_sql_schema(
        self, schema_file: InputFile, csv_files: list[tuple[InputFile, str]]
    ) -> CommandResult:
        """Execute a schema, then load files into its tables, all in one transaction.

        Args:
            schema_file: SQL that makes the tables.
            csv_files: Pairs of a file and a table.
        """
        return self._load([(file, table) for file, table in csv_files], schema_file)

    @command
    def execute(self, sql: str) -> CommandResult:
        """Execute statements, each query to its last row, and keep no rows.

        Args:
            sql: One or more statements.
        """
        return CommandResult(self._ask({"do": "execute", "sql": sql}))

    @command
    def execute_query_file(
        self, query_file: InputFile, results_file: OutputFile | None = None
    ) -> CommandResult:
        """Execute the statements of a file and save the rows of its last query.

        Args:
            query_file: SQL.
            results_file: CSV with a header; by default a file among the run's results.
        """
        results = self._results(results_file)
        request: JsonObject = {
            "do": "query",
            "query": self._input(query_file),
            "results": str(results),
        }
        values = self._ask(request)
        if values["rows"] is None and results_file:
            raise CommandFailedError(
                f"{query_file} has no query, so there is nothing for '{results_file}'; "
                "leave results_file out"
            )
        return CommandResult(values, None if values["rows"] is None else results)

    def _results(self, name: str | None) -> Path:
        if name:
            return self.workspace.new_file(name)
        self.workspace.kept.mkdir(parents=True, exist_ok=True)
        return self.workspace.kept / f"{current_step()}.csv"

    def _input(self, name: str) -> dict[str, Json]:
        return {"name": name, "path": str(self.workspace.file(name))}

    def _load(self, pairs: list[tuple[str, str]], schema_file: str | None) -> CommandResult:
        files: list[Json] = [{**self._input(file), "table": table.lower()} for file, table in pairs]
        schema = self._input(schema_file) if schema_file else None
        return CommandResult(self._ask({"do": "load", "files": files, "schema": schema}))

    def _ask(self, request: JsonObject) -> JsonObject:
        try:
            answer: dict[str, Any] = self._living().ask(request)
        except DiedError as error:
            raise CommandFailedError(f"{self._engine} did not answer: {error}") from error
        if "error" in answer:
            kind = ProgramFailedError if answer["refused"] else CommandFailedError
            raise kind(f"{self._engine}: {answer['error']}")
        return answer["values"]

    def _living(self) -> Worker:
        if self._worker is None:
            raise NotReadyError(f"{self._engine} was not started")
        return self._worker
