"""Outcomes of cases, from records made by hand."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from benchyard.analysis.regressions import Baseline
from benchyard.core.model import Outcome
from benchyard.results.record import RunRecord
from benchyard.results.subject import subject_of
from benchyard.results.summary import summarize
from benchyard.show.ci.checks import CheckedCase
from benchyard.show.ci.outcomes import CaseOutcome, outcome_of
from benchyard.show.ci.reports import junit
from tests.benchyard.analysis.comparison.conftest import place


def outcome(
    folder: Path, records: Sequence[RunRecord], baseline: Sequence[RunRecord] = ()
) -> CaseOutcome:
    """Return what came of runs, which are written to a folder with their summary."""
    results, title = place(folder, records), str(records[0].case["title"])
    done = [one for one in records if one.outcome is Outcome.COMPLETED]
    undone = [one for one in records if one.outcome is not Outcome.COMPLETED]
    summary: Any = summarize(title, done, unfinished=undone)
    summary["subject"] = dict(subject_of(records[-1]))
    if not baseline:
        return outcome_of(title, results, summary)
    before = place(folder.with_name("baseline"), baseline)
    return outcome_of(title, results, summary, Baseline(str(before)).look(title, results))


def xml(cases: Sequence[CheckedCase]) -> ET.Element:
    """Return the document, as a reader parses it."""
    return ET.fromstring(junit(cases))  # noqa: S314 - made here


def attributes(root: ET.Element, *names: str) -> tuple[str | None, ...]:
    return tuple(root.get(name) for name in names)
