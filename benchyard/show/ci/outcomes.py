"""What came of cases, as every report for continuous integration is made of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from benchyard.analysis.comparison.gate import Regression
from benchyard.analysis.regressions import Looked
from benchyard.core.json_text import read_as
from benchyard.results.record import RunRecord
from benchyard.show.export.sources import unfinished
from benchyard.show.summary_tables import Document


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """One case that was to be executed.

    Args:
        title: Of the case.
        summary: The document of summary.json; empty if there is none here.
        results: Folder with the runs; None if it is not here.
        failed: Records of the runs that were tried and are not done.
        looked: What the comparison with a baseline came to; None if there was none.
        why: What a suite says of it: why runs failed or were left out.
        done: Runs that a suite has done of it, here or elsewhere.
        is_bad: Whether a suite could not do what was wanted of it.
    """

    title: str
    summary: Document
    results: Path | None = None
    failed: tuple[RunRecord, ...] = ()
    looked: Looked | None = None
    why: str = ""
    done: int = 0
    is_bad: bool = False

    @property
    def steps(self) -> list[Document]:
        """The member ``steps`` of the summary."""
        return self.summary.get("steps") or []

    @property
    def regressions(self) -> tuple[Regression, ...]:
        """What is worse than in the baseline."""
        return self.looked.regressions if self.looked else ()


def outcome_of(
    title: str, results: Path, summary: Document, looked: Looked | None = None
) -> CaseOutcome:
    """Return what came of a case whose results are here; unreadable failed runs are left out.

    Args:
        summary: The document of its summary.json; empty if there is none.
    """
    return CaseOutcome(title, summary, results, tuple(unfinished(results)), looked)


def outcome_in_suite(
    line: Mapping[str, Any], summary: Document, results: Path | None, untold: int = 0
) -> CaseOutcome:
    """Return what came of one case of a suite.

    Args:
        line: Of the member ``cases`` of the suite's document.
        summary: As for ``outcome_of``.
        results: None if the runs are on another host.
        untold: Of how many steps and metrics the comparison can tell nothing.
    """
    worse = tuple(read_as(Regression, one) for one in cast("list[Any]", line["regressions"]))
    compared, against = line.get("compared"), str(line.get("against") or "")
    unjudged = tuple(map(str, line.get("unjudged") or ()))
    return CaseOutcome(
        title=str(line["case"]),
        summary=summary,
        results=results,
        failed=tuple(unfinished(results)) if results else (),
        looked=Looked(worse, str(compared), against, untold=untold, unjudged=unjudged)
        if compared
        else None,
        why=str(line.get("why") or ""),
        done=int(line.get("runs_done") or 0),
        is_bad=not line.get("valid", True) or bool(line.get("runs_failed")),
    )
