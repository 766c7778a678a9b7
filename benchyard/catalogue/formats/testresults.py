"""TestResults documents of TensorFlow's schema, ours and others'."""

from collections.abc import Mapping
from typing import Any

from benchyard.catalogue.formats.benchmark_file import JsonFile
from benchyard.catalogue.formats.sniffing import Head
from benchyard.core.model import Json
from benchyard.publish.testresults.document import Document, parse, subject_in

_ENTRIES = ("entries.entry", "entries")
#: One of them stands in each document, in one of the two spellings of its printers.
_BESIDE = (
    *("startTime", "start_time", "runTime", "run_time", "runConfiguration", "run_configuration"),
    *("machineConfiguration", "machine_configuration", "benchmarkType", "benchmark_type"),
)


class TestResultsFile(JsonFile[Document]):
    """The format of TestResults documents."""

    __test__ = False  # keeps pytest from collecting it

    def told(self, content: Document) -> Mapping[str, Any]:
        """Return what was tested, where and when, and how many entries there are."""
        subject = subject_in(content)
        return {
            "title": content.test,
            "host": str(subject.get("host") or ""),
            "commit": _commit(subject.get("repositories")),
            "started_s": content.started_at.timestamp() or None,
            "counts": {"entries": len(content.entries)},
        }


def _is_document(head: Head) -> bool:
    return any(map(head.has, _ENTRIES)) and any(map(head.has, _BESIDE))


def _commit(repositories: Json) -> str:
    for told in repositories.values() if isinstance(repositories, dict) else ():
        if isinstance(told, dict) and told.get("commit"):
            return str(told["commit"])
    return ""


TESTRESULTS = TestResultsFile(
    "testresults", "TestResults", _is_document, lambda content, _: parse(content)
)
