"""Queries to a SPARQL endpoint, with answers that are looked at."""

import platform
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from benchyard.case.resource import CommandResult, InputFile, NoSettings, OutputFile, command
from benchyard.core.errors import CommandFailedError, ProgramFailedError, retold
from benchyard.core.model import Json, JsonObject
from resources._containers.container_environment import address_of, addresses
from resources._files import named_or_kept, read_text
from resources._workers import Worker, WorkerResource

WORKER = Path(__file__).with_name("_sparql") / "sparql_worker.py"

#: Seconds that its start may take.
READY_DEADLINE = 30.0


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


class Query(WorkerResource[NoSettings]):
    """A client for SPARQL endpoints."""

    _what: ClassVar[str] = "the client for queries"
    _known: Mapping[str, str] = {}

    @classmethod
    def installed(cls, settings: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the version, as ``version`` does."""
        del settings
        return {"version": f"Python {platform.python_version()}"}

    def version(self) -> str:
        """Return the version of Python, whose HTTP client sends the queries."""
        return f"Python {platform.python_version()}"

    # -- life

    def _launched(self) -> Worker:
        return Worker(WORKER, self.workspace, name="client")

    def wait_until_ready(self) -> None:
        """Wait until the process takes queries."""
        self._first(READY_DEADLINE)

    def begin(self, step: str) -> None:
        """Find out where the run's containers are, before anything is measured."""
        del step
        self._known = addresses(self.workspace.labels)

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
        query = read_text(self.workspace, query_file)
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
        query = read_text(self.workspace, query_file)
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
        saved = named_or_kept(self.workspace, name, "answer")
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
            return self._request(request)
        except CommandFailedError as error:
            raise _failed(endpoint, error) from error

    def _counted(self, endpoint: str, answer: Path, values: JsonObject) -> JsonObject:
        request: JsonObject = {
            "do": "count",
            "answer": str(answer),
            "content_type": values["content_type"],
        }
        try:
            return self._request(request)
        except CommandFailedError as error:
            kind = values["content_type"] or "no content type"
            raise _failed(f"{endpoint} answered with {kind}, which is wrong", error) from error

    def _request(self, request: JsonObject) -> JsonObject:
        answer: dict[str, Any] = self._living().ask(request)
        if "error" in answer:
            kind = ProgramFailedError if answer["refused"] else CommandFailedError
            raise kind(answer["error"])
        return answer["values"]


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
