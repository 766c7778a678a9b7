"""The cases of a suite against a baseline, once all of them are measured."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchyard.analysis.regressions import Baseline, Looked
from benchyard.core.model import Json
from benchyard.results.campaigns import read_campaign
from benchyard.suite.choosing import Entry
from benchyard.suite.summing import Summary


def with_comparisons(
    summary: Summary,
    entries: Sequence[Entry],
    baseline: str,
    flow_run: Mapping[str, Json] | None = None,
) -> Summary:
    """Return a summary that also tells what is worse than it was.

    Only cases of which the suite has done runs are looked at, in an earlier attempt of it if need
    be. What keeps one from being compared is told and fails nothing: its runs are good.

    Args:
        entries: The cases, one for each line.
        baseline: A folder with results of these cases, ``FOLDER@1-5``, or "previous".
        flow_run: The suite's, as its runs record it.
    """
    before, suite = Baseline(baseline), {"suite": (flow_run or {}).get("id")}
    lines = [
        replace(line, looked=before.look(entry.title, entry.results))
        if entry.results is not None and (line.done or read_campaign(entry.results).runs_of(suite))
        else line
        for line, entry in zip(summary.lines, entries, strict=True)
    ]
    return replace(summary, lines=lines)


def without_comparison(summary: Summary) -> Summary:
    """Return a summary that says of which cases no testbed has compared what was done."""
    said = Looked((), "not compared on its testbed")
    lines = [
        replace(line, looked=said) if line.done and line.looked is None else line
        for line in summary.lines
    ]
    return replace(summary, lines=lines)
