"""Runs that are read back from a report."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchyard.analysis.comparison.run_sets import (
    RunSelection,
    RunSet,
    read_run_sets,
    refuse_missing,
)
from benchyard.core.errors import InputError
from benchyard.core.files import shown
from benchyard.core.wording import printable
from benchyard.results.layout import case_place
from benchyard.results.report_data import ReportData, ReportSide, is_report, read_report


def read_reported(report: Path) -> list[tuple[ReportSide, dict[str, RunSet]]]:
    """Read the sides of a report, each with its runs by the case's title.

    Raises:
        InputError: If it is no report, or was changed.
    """
    data = read_report(report)
    return [(side, _reported(report, data, side)) for side in data.sides]


def _reported(report: Path, data: ReportData, side: ReportSide) -> dict[str, RunSet]:
    cases: dict[str, list[int]] = {}
    for place in side.runs:
        cases.setdefault(str(data.records[place].case.get("title")), []).append(place)
    several = len(data.sides) > 1
    return {
        title: RunSet(
            title,
            # There is no such folder: it tells which cases and sides are of the same runs.
            report / (str(min(places)) if several else "") / case_place(data.records[places[-1]]),
            tuple(data.records[place] for place in places if data.runs[place].done),
            tuple(data.records[place] for place in places if not data.runs[place].done),
            compared_as=None if side.step is None else {side.step: ""},
        )
        for title, places in cases.items()
    }


def read_selected(selection: RunSelection) -> dict[str, RunSet]:
    """Read the runs of every case in a selection, which may be of a report, by title.

    Raises:
        InputError: As ``read_run_sets``, and if the report is about several sides.
    """
    report = next(filter(is_report, (selection.folder, *selection.folder.parents)), None)
    return read_run_sets(selection) if report is None else _of_one_side(report, selection)


def _of_one_side(report: Path, selection: RunSelection) -> dict[str, RunSet]:
    sides = read_reported(report)
    if len(sides) > 1:
        names = ", ".join(side.name for side, _ in sides)
        raise InputError(
            f"{shown(report)} is about {len(sides)} sides ({printable(names)}); write its runs "
            "into folders with benchyard report --extract, and name one of these"
        )
    return {
        title: run_set if selection.runs is None else _only(run_set, selection.runs)
        for _, cases in sides
        for title, run_set in cases.items()
        if run_set.folder.is_relative_to(selection.folder)
    }


def _only(run_set: RunSet, wanted: Sequence[int]) -> RunSet:
    refuse_missing(run_set.folder, wanted, {record.run for record in run_set.everything})
    kept = [tuple(r for r in s if r.run in wanted) for s in (run_set.records, run_set.failed)]
    return replace(run_set, records=kept[0], failed=kept[1])
