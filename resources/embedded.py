"""The base of databases that live inside a process: each gets a child process to live in.

So its CPU time and memory are its own and not the lab's, and a query can be stopped by a kill.
"""

import json
import subprocess
import sys
import threading
from abc import ABC, abstractmethod
from pathlib import Path
from typing import IO, Any, ClassVar, TypedDict

from benchyard.children import Child, pipe, spawn, tail
from benchyard.errors import CommandFailedError, NotReadyError, ResourceError
from benchyard.model import Json, JsonObject
from benchyard.resource import (
    CommandResult,
    InputFile,
    OutputFile,
    Resource,
    SettingsT,
    Workspace,
    command,
    current_step,
)
from benchyard.usage import Ended
from resources.process import run_label

WORKER = Path(__file__).with_name("_embedded") / "embedded_worker.py"

#: Seconds that opening the database may take.
READY_DEADLINE = 60.0
#: Seconds that closing it may take: a database may bring much to its file.
CLOSE_DEADLINE = 10.0


class TableFile(TypedDict):
    """A file and the table that it is loaded into."""

    file: InputFile
    table: str


class _DiedError(ResourceError):
    """The worker's end, seen from this side of the pipe."""


class _Worker:
    """The child and the two pipes to it."""

    def __init__(self, child: Child, stderr: Path) -> None:
        self._child = child
        self._stderr = stderr
        self._requests = pipe(child.stdin)
        self._answers = pipe(child.stdout)
        self._owes_an_answer = True  # the one that says that the database is open

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def running(self) -> bool:
        return self._child.running

    @property
    def ended(self) -> Ended | None:
        return self._child.ended

    def ask(self, request: JsonObject) -> JsonObject:
        """Send a request and wait for the answer.

        Raises:
            _DiedError: If the worker ends before it answers.
        """
        self._owes_an_answer = True
        try:
            self._requests.write(json.dumps(request).encode() + b"\n")
            self._requests.flush()
        except OSError as error:
            raise self._death() from error
        return self.answer()

    def answer(self) -> JsonObject:
        """Wait for the next answer."""
        line = self._answers.readline()
        if not line.endswith(b"\n"):
            raise self._death()
        self._owes_an_answer = False
        return json.loads(line)

    def _death(self) -> _DiedError:
        ended = self._child.wait()
        said = tail(self._stderr) or "nothing"
        return _DiedError(f"its process died ({ended.describe()}); on stderr: {said}")

    def kill(self) -> None:
        self._child.kill()

    def close(self) -> None:
        """Let it end by itself; kill it if it is still at work or takes too long."""
        if self._owes_an_answer:
            self._child.kill()
        killer = threading.Timer(CLOSE_DEADLINE, self._child.kill)
        killer.start()
        try:
            _close(self._requests)
            self._child.wait()
        finally:
            killer.cancel()
            _close(self._answers)


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
        self._worker: _Worker | None = None
        self._latest: _Worker | None = None

    @abstractmethod
    def _worker_settings(self) -> JsonObject:
        """Return what the engine's ``open_engine`` takes."""

    def start(self) -> None:
        """Start the process; it opens the database by itself."""
        own = self.workspace.own
        own.mkdir(parents=True, exist_ok=True)
        options: JsonObject = {
            "engine": self._engine,
            "database": str(own / self._database),
            "settings": self._worker_settings(),
        }
        with self._stderr.open("wb") as stderr:
            child = spawn(
                [sys.executable, str(WORKER), json.dumps(options)],
                folder=own,
                # The worker's folder must be on its path, and this one, with duckdb.py, must not.
                environment={"PYTHONSAFEPATH": ""},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                labels=run_label(self.workspace),
            )
        self._worker = self._latest = _Worker(child, self._stderr)
        self.changed()

    def wait_until_ready(self) -> None:
        """Return once the database is open.

        Raises:
            NotReadyError: If it cannot be opened, in time or at all.
        """
        worker = self._living()
        killer = threading.Timer(READY_DEADLINE, worker.kill)
        killer.start()
        try:
            answer = worker.answer()
        except _DiedError as error:
            raise NotReadyError(f"{self._engine} did not start: {error}") from error
        finally:
            killer.cancel()
        if "error" in answer:
            raise NotReadyError(f"{self._engine} cannot open its database: {answer['error']}")

    def stop(self) -> None:
        """Close the database; kill what does not end."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()
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

    @property
    def _stderr(self) -> Path:
        return self.workspace.own / "worker.stderr.txt"

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
        except _DiedError as error:
            raise CommandFailedError(f"{self._engine} did not answer: {error}") from error
        if "error" in answer:
            raise CommandFailedError(f"{self._engine}: {answer['error']}")
        return answer["values"]

    def _living(self) -> _Worker:
        if self._worker is None:
            raise NotReadyError(f"{self._engine} was not started")
        return self._worker


def _close(stream: IO[bytes]) -> None:
    try:
        stream.close()
    except OSError:
        return  # unsent bytes for a child that is gone
