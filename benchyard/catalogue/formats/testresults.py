"""TestResults documents of TensorFlow's schema, ours and others'."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from benchyard.catalogue.entry import Entry
from benchyard.catalogue.formats.benchmark_file import json_files
from benchyard.catalogue.formats.contract import Found, Listing
from benchyard.catalogue.formats.sniffing import (
    DESCRIBED_BYTES,
    LOADED_BYTES,
    Head,
    TooLongError,
    content_of,
    entry_of,
    head_of,
)
from benchyard.core.errors import BenchyardError
from benchyard.core.model import Json
from benchyard.publish.testresults.document import Document, parse, subject_in

_ENTRIES = ("entries.entry", "entries")
#: One of them stands in each document, in one of the two spellings of its printers.
_BESIDE = (
    *("startTime", "start_time", "runTime", "run_time", "runConfiguration", "run_configuration"),
    *("machineConfiguration", "machine_configuration", "benchmarkType", "benchmark_type"),
)


@dataclass(frozen=True, slots=True)
class TestResultsFile:
    """The format of TestResults documents."""

    __test__ = False  # keeps pytest from collecting it

    name: str = "testresults"
    tool: str = "TestResults"

    def detect(self, listing: Listing) -> Iterable[str]:
        """Return the files that may hold JSON."""
        return json_files(listing)

    def describe(self, found: Found) -> Entry | None:
        """Read it, if it is not longer than ``DESCRIBED_BYTES``; of a longer one its head."""
        head = head_of(found.place)
        if head is None or not _is_document(head):
            return None
        try:
            document = parse(content_of(found.place, DESCRIBED_BYTES))
        except TooLongError:
            return entry_of(found, self.name)
        except BenchyardError as error:
            return entry_of(found, self.name, str(error))
        entry = entry_of(found, self.name)
        return entry and _described(entry, document)

    def load(self, entry: Entry) -> Document:
        """Read it.

        Raises:
            DocumentRejectedError: If it is no document.
            InputError: If it cannot be read, or is longer than ``LOADED_BYTES``.
        """
        return parse(content_of(entry.place, LOADED_BYTES))


def _is_document(head: Head) -> bool:
    return any(map(head.has, _ENTRIES)) and any(map(head.has, _BESIDE))


def _described(entry: Entry, document: Document) -> Entry:
    subject = subject_in(document)
    return replace(
        entry,
        title=document.test,
        host=str(subject.get("host") or ""),
        commit=_commit(subject.get("repositories")),
        started_s=document.started_at.timestamp() or None,
        counts={"entries": len(document.entries)},
    )


def _commit(repositories: Json) -> str:
    for told in repositories.values() if isinstance(repositories, dict) else ():
        if isinstance(told, dict) and told.get("commit"):
            return str(told["commit"])
    return ""


TESTRESULTS = TestResultsFile()
