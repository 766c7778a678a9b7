"""Queries to a SPARQL endpoint, with answers that are looked at."""

import platform
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchyard.case.resource import (
    CommandResult,
    InputFile,
    NoSettings,
    OutputFile,
    Resource,
    Workspace,
    command,
    current_step,
)
from benchyard.core.errors import CommandFailedError, NotReadyError, ProgramFailedError, retold
from benchyard.core.model import Json, JsonObject
from benchyard.process.usage import Ended
from resources._containers.container_environment import address_of, addresses
from resources._workers import Worker

WORKER = Path(__file__).parent / "_sparql" / "worker" / "sparql_worker.py"

#: Seconds that its start may take.
READY_DEADLINE = 30.0


class Client(Worker):
    """A child process that takes one request at a time; starts when it is made."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(WORKER, workspace, name="client")

    def wait_until_ready(self) -> None:
        """Wait until it takes requests.

        Raises:
            NotReadyError: If it died or took too long.
        """
        try:
            _values(self.first(READY_DEADLINE))
        except CommandFailedError as error:
            raise NotReadyError(f"the client for queries did not start: {error}") from error

    def request(self, request: JsonObject) -> JsonObject:
        """Let it do something, and wait for what comes of it.

        Raises:
            CommandFailedError: If it cannot, or died.
        """
        return _values(self.ask(request))


def _values(answer: dict[str, Any]) -> JsonObject:
    if "error" in answer:
        kind = ProgramFailedError if answer["refused"] else CommandFailedError
        raise kind(answer["error"])
    return answer["values"]


#: Ends of the names of answers that the case does not name.
_SUFFIXES = {
    "json": ".json",
    "xml": ".xml",
    "csv": ".csv",
    "tab-separated-values": ".tsv",
    "n-triples": ".nt",
    "ntriples": ".nt",
    "n-quads": ".nq",
    "turtle": ".ttl",
}


class Query(Resource[NoSettings]):
    """A client for SPARQL endpoints.

    Its process is its own, so that its CPU time is not the lab's, and a query that takes too long
    can be stopped by a kill.
    """

    def __init__(self, settings: NoSettings, workspace: Workspace) -> None:
        super().__init__(settings, workspace)
        self._client: Client | None = None
        self._latest: Client | None = None
        self._known: Mapping[str, str] = {}

    @classmethod
    def installed(cls, settings: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the version, as ``version`` does."""
        del settings
        return {"version": f"Python {platform.python_version()}"}

    def version(self) -> str:
        """Return the version of Python, whose HTTP client sends the queries."""
        return f"Python {platform.python_version()}"

    # -- life

    def start(self) -> None:
        """Start the process."""
        self._client = self._latest = Client(self.workspace)
        self.changed()

    def wait_until_ready(self) -> None:
        """Wait until the process takes queries."""
        self._living().wait_until_ready()

    def begin(self, step: str) -> None:
        """Find out where the run's containers are, before anything is measured."""
        del step
        self._known = addresses(self.workspace.labels)

    def stop(self) -> None:
        """End the process."""
        client, self._client = self._client, None
        if client is not None:
            client.close()
            self.changed()

    def abort(self, step: str | None = None) -> None:
        """Kill the process; the query in progress fails at once."""
        del step  # one command at a time: it is the one
        client = self._client
        if client is not None:
            client.kill()

    def alive(self) -> bool:
        """Tell whether the process still runs."""
        client = self._client
        return client is not None and client.running

    def pids(self, step: str | None = None) -> list[int]:
        """Return the process."""
        del step  # as in ``abort``
        client = self._latest
        return [] if client is None or client.ended else [client.pid]

    def ended(self, step: str | None = None) -> list[Ended]:
        """Return what the kernel accounted for the process, once it ended."""
        del step
        client = self._latest
        return [] if client is None or client.ended is None else [client.ended]

    # -- commands

    @command
    def execute_and_save(
        self,
        query: str,
        sparql_endpoint: str,
        results_file: OutputFile,
        *,
        expect_empty: bool = False,
        headers: dict[str, str] | None = None,
    ) -> CommandResult:
        """Send a query and save its answer.

        Args:
            query: The query.
            sparql_endpoint: URL; its host may be the class of a container of this run.
            results_file: Where the answer goes, as the endpoint sent it.
            expect_empty: Whether the answer must hold no result; otherwise it must hold one.
            headers: Of the request, such as ``Accept`` for the format of the answer.
        """
        return self._execute(query, sparql_endpoint, results_file, headers, empty=expect_empty)

    @command
    def execute_from_file(
        self,
        query_file: InputFile,
        sparql_endpoint: str,
        *,
        expect_empty: bool = False,
        headers: dict[str, str] | None = None,
    ) -> CommandResult:
        """Send the query of a file; its answer goes to the run's results.

        Args:
            query_file: The query.
            sparql_endpoint: URL; its host may be the class of a container of this run.
            expect_empty: Whether the answer must hold no result; otherwise it must hold one.
            headers: Of the request, such as ``Accept`` for the format of the answer.
        """
        query = self._read(query_file)
        return self._execute(query, sparql_endpoint, None, headers, empty=expect_empty)

    @command
    def execute_from_file_and_save(
        self,
        query_file: InputFile,
        sparql_endpoint: str,
        results_file: OutputFile,
        *,
        expect_empty: bool = False,
        headers: dict[str, str] | None = None,
    ) -> CommandResult:
        """Send the query of a file and save its answer.

        Args:
            query_file: The query.
            sparql_endpoint: URL; its host may be the class of a container of this run.
            results_file: Where the answer goes, as the endpoint sent it.
            expect_empty: Whether the answer must hold no result; otherwise it must hold one.
            headers: Of the request, such as ``Accept`` for the format of the answer.
        """
        query = self._read(query_file)
        return self._execute(query, sparql_endpoint, results_file, headers, empty=expect_empty)

    # -- how

    def _execute(
        self,
        query: str,
        endpoint: str,
        name: str | None,
        headers: Mapping[str, str] | None,
        *,
        empty: bool,
    ) -> CommandResult:
        saved = self._target(name)
        # Half an answer must not pass for one: it gets its name when all of it came.
        part = saved.with_name(f".{saved.name}.part")
        try:
            values = self._asked(query, endpoint, headers or {}, part)
            if name is None:
                saved = saved.with_suffix(_suffix(str(values["content_type"])))
            part.replace(saved)
        finally:
            part.unlink(missing_ok=True)
        verify = partial(self._look, endpoint, saved, values, empty=empty)
        return CommandResult(values, saved, verify)

    def _look(self, endpoint: str, saved: Path, values: JsonObject, *, empty: bool) -> JsonObject:
        """Count the results; an answer that is wrong is removed, for it must not pass for one."""
        try:
            found = self._counted(endpoint, saved, values)
            _refuse(found, endpoint, empty=empty)
        except CommandFailedError:
            saved.unlink(missing_ok=True)
            raise
        return found

    def _asked(
        self, query: str, endpoint: str, headers: Mapping[str, str], answer: Path
    ) -> JsonObject:
        _refuse_address(endpoint)
        request: JsonObject = {
            "do": "ask",
            "url": endpoint,
            "address": address_of(endpoint, self._known),
            "query": query,
            "headers": dict(headers),
            "answer": str(answer),
        }
        try:
            return dict(self._living().request(request))
        except CommandFailedError as error:
            raise _failed(endpoint, error) from error

    def _counted(self, endpoint: str, answer: Path, values: JsonObject) -> JsonObject:
        request: JsonObject = {
            "do": "count",
            "answer": str(answer),
            "content_type": values["content_type"],
        }
        try:
            return self._living().request(request)
        except CommandFailedError as error:
            kind = values["content_type"] or "no content type"
            raise _failed(f"{endpoint} answered with {kind}, which is wrong", error) from error

    def _target(self, name: str | None) -> Path:
        if name:
            return self.workspace.new_file(name)
        self.workspace.kept.mkdir(parents=True, exist_ok=True)
        return self.workspace.kept / f"{current_step()}.answer"

    def _read(self, name: str) -> str:
        try:
            return self.workspace.file(name).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            raise CommandFailedError(f"{name}: this is not UTF-8; convert it") from error

    def _living(self) -> Client:
        if self._client is None:
            raise NotReadyError("the client for queries was not started")
        return self._client


def _refuse_address(endpoint: str) -> None:
    with suppress(ValueError):
        parts = urlsplit(endpoint)
        # Reading the port is what finds out that it is none.
        if parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0:
            return
    raise CommandFailedError(
        f"sparql_endpoint is '{endpoint}', which is no URL; write it like "
        "http://Virtuoso:8890/sparql"
    )


def _refuse(values: JsonObject, endpoint: str, *, empty: bool) -> None:
    """See that there are results where some must be, and none where none may be."""
    if values["empty"] and not empty:
        raise CommandFailedError(
            f"{endpoint} answered without any result; if that is right, set 'expect_empty' to true"
        )
    if empty and not values["empty"]:
        number = values["results"]
        found = "results" if number is None else f"{number:,} results"
        raise CommandFailedError(f"{endpoint} answered with {found}, and 'expect_empty' is true")


def _failed(what: str, error: CommandFailedError) -> CommandFailedError:
    return retold(error, f"{what}: {error}")


def _suffix(content_type: str) -> str:
    kind = content_type.partition(";")[0].strip().lower()
    return _SUFFIXES.get(kind.rpartition("/")[2].rpartition("+")[2], ".txt")
