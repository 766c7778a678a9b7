"""The cases of a suite against a baseline, once all of them are measured."""

from collections.abc import Sequence
from dataclasses import replace

from benchyard.regressions import Baseline
from benchyard.suite.choosing import Entry
from benchyard.suite.summing import Line, Summary


def with_comparisons(summary: Summary, entries: Sequence[Entry], baseline: str) -> Summary:
    """Return a summary that also tells what is worse than it was.

    Only cases of which the suite has done runs are looked at. What keeps one from being compared
    is told and fails nothing: its runs are good.

    Args:
        entries: The cases, one for each line.
        baseline: A folder with results of these cases, or ``FOLDER@1-5``.
    """
    before = Baseline(baseline)
    lines = [_looked(*both, before) for both in zip(summary.lines, entries, strict=True)]
    return replace(summary, lines=lines)


def _looked(line: Line, entry: Entry, before: Baseline) -> Line:
    if not line.done or entry.results is None:
        return line
    looked = before.look(entry.title, entry.results)
    return replace(line, compared=looked.summary, regressions=looked.regressions)
