"""Queries to a SPARQL endpoint, with answers that are looked at."""

import platform
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal, TypedDict, cast
from urllib.parse import urlsplit

from benchyard.case.resource import CommandResult, InputFile, NoSettings, OutputFile, command
from benchyard.core.errors import CommandFailedError, retold
from benchyard.core.model import Json, JsonObject
from resources._containers.network import addresses
from resources._files import named_or_kept, read_text
from resources._sparql_answers import Count, count
from resources._workers import WorkerResource

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


class Credentials(TypedDict):
    """Name and password, sent by HTTP's basic or digest authentication."""

    type: Literal["basic", "digest"]
    username: str
    password: str


class Query(WorkerResource[NoSettings]):
    """A client for SPARQL endpoints."""

    _what: ClassVar[str] = "the client for queries"
    _whose: ClassVar[str] = "the client's"
    _known: Mapping[str, str] = {}

    @classmethod
    def installed(cls, settings: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the version, as ``version`` does."""
        return {"version": f"Python {platform.python_version()}"}

    def version(self) -> str:
        """Return the version of Python, whose HTTP client sends the queries."""
        return str(self.installed({})["version"])

    # -- life

    def start(self) -> None:
        """Start the process."""
        self._launch(WORKER)

    def wait_until_ready(self) -> None:
        """Wait until the process takes queries."""
        self._first(READY_DEADLINE)

    def begin(self, step: str) -> None:
        """Find out where the run's containers are, before anything is measured."""
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
        auth: Credentials | None = None,
    ) -> CommandResult:
        """Send a query and save its answer.

        Args:
            query: The query.
            sparql_endpoint: URL; its host may be the class of a container of this run.
            results_file: Where the answer goes, as the endpoint sent it.
            expect_empty: Whether the answer must hold no result; otherwise it must hold one.
            headers: Of the request, such as ``Accept`` for the format of the answer.
            auth: Who sends it, for an endpoint that asks.
        """
        return self._execute(
            query, sparql_endpoint, results_file, headers, auth, empty=expect_empty
        )

    @command
    def execute_from_file(
        self,
        query_file: InputFile,
        sparql_endpoint: str,
        *,
        expect_empty: bool = False,
        headers: dict[str, str] | None = None,
        auth: Credentials | None = None,
    ) -> CommandResult:
        """Send the query of a file; its answer goes to the run's results.

        Args:
            query_file: The query.
            sparql_endpoint: URL; its host may be the class of a container of this run.
            expect_empty: Whether the answer must hold no result; otherwise it must hold one.
            headers: Of the request, such as ``Accept`` for the format of the answer.
            auth: Who sends it, for an endpoint that asks.
        """
        query = read_text(self.workspace, query_file)
        return self._execute(query, sparql_endpoint, None, headers, auth, empty=expect_empty)

    @command
    def execute_from_file_and_save(
        self,
        query_file: InputFile,
        sparql_endpoint: str,
        results_file: OutputFile,
        *,
        expect_empty: bool = False,
        headers: dict[str, str] | None = None,
        auth: Credentials | None = None,
    ) -> CommandResult:
        """Send the query of a file and save its answer.

        Args:
            query_file: The query.
            sparql_endpoint: URL; its host may be the class of a container of this run.
            results_file: Where the answer goes, as the endpoint sent it.
            expect_empty: Whether the answer must hold no result; otherwise it must hold one.
            headers: Of the request, such as ``Accept`` for the format of the answer.
            auth: Who sends it, for an endpoint that asks.
        """
        query = read_text(self.workspace, query_file)
        return self._execute(
            query, sparql_endpoint, results_file, headers, auth, empty=expect_empty
        )

    # -- how

    def _execute(
        self,
        query: str,
        endpoint: str,
        name: str | None,
        headers: dict[str, str] | None,
        auth: Credentials | None,
        *,
        empty: bool,
    ) -> CommandResult:
        _refuse_address(endpoint)
        saved = named_or_kept(self.workspace, name, "answer")
        # Half an answer must not pass for one: it gets its name when all of it came.
        part = saved.with_name(f".{saved.name}.part")
        request: JsonObject = {
            "url": endpoint,
            "address": self._known.get(urlsplit(endpoint).hostname or ""),
            "query": query,
            "headers": {**(headers or {})},
            "auth": {**cast("Mapping[str, Json]", auth or {})},
            "answer": str(part),
        }
        try:
            values = self._ask(request)
            if name is None:
                kind = str(values["content_type"]).partition(";")[0].strip().lower()
                ending = kind.rpartition("/")[2].rpartition("+")[2]
                saved = saved.with_suffix(_SUFFIXES.get(ending, ".txt"))
            part.replace(saved)
        except CommandFailedError as error:
            raise retold(error, f"{endpoint}: {error}") from error
        finally:
            part.unlink(missing_ok=True)
        verify = partial(_verify, endpoint, saved, str(values["content_type"]), empty=empty)
        return CommandResult(values, saved, verify)


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


def _verify(endpoint: str, answer: Path, content_type: str, *, empty: bool) -> JsonObject:
    """Count the results; an answer that is wrong is removed, for it must not pass for one."""
    try:
        found = count(answer, content_type)
        _refuse(found, empty=empty)
    except CommandFailedError as error:
        answer.unlink(missing_ok=True)
        raise CommandFailedError(f"{endpoint} answered {error}") from error
    return found._asdict()


def _refuse(found: Count, *, empty: bool) -> None:
    """See that there are results where some must be, and none where none may be."""
    if found.empty and not empty:
        raise CommandFailedError("without any result; if that is right, set 'expect_empty' to true")
    if empty and not found.empty:
        number = "" if found.results is None else f"{found.results:,} "
        raise CommandFailedError(f"with {number}results, and 'expect_empty' is true")
