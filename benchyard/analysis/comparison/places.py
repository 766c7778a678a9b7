"""Results wherever they lie, as the runs of cases: in folders, in reports, in other files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from benchyard.analysis.comparison.run_sets import (
    RunSelection,
    RunSet,
    read_run_sets,
    refuse_missing,
    results_folders,
)
from benchyard.core.errors import InputError
from benchyard.core.files import shown
from benchyard.core.wording import printable
from benchyard.results.excerpt import ReportData, ReportSide, is_report, read_report
from benchyard.results.layout import case_place

#: Reads the runs of each case in a file of others, or a folder of such, by title; None if it knows
#: none.
FileOpener: TypeAlias = Callable[[Path], Mapping[str, RunSet] | None]


def no_file(_: Path) -> None:
    """Open no file."""


def open_results(selection: RunSelection, open_file: FileOpener = no_file) -> dict[str, RunSet]:
    """Read the runs of every case in a selection by title, whatever its place is.

    Args:
        selection: Of a folder with results of one case or several, a campaign, a report, or a file.
        open_file: Reads files that are no reports.

    Raises:
        InputError: As ``read_run_sets``, if a report is about several sides, and if a file holds
            no results that are known.
    """
    file = next(filter(Path.is_file, (selection.folder, *selection.folder.parents)), None)
    if file is None:
        found = None if results_folders(selection.folder) else open_file(selection.folder)
        return read_run_sets(selection) if found is None else dict(found)
    cases = _of_one_side(file) if is_report(file) else open_file(file)
    if cases is None:
        raise InputError(f"{shown(file)} is no file of results that can be read here")
    return {
        title: run_set if selection.runs is None else _only(run_set, selection.runs)
        for title, run_set in cases.items()
        if run_set.folder.is_relative_to(selection.folder)
    }


def _of_one_side(report: Path) -> dict[str, RunSet]:
    sides = read_reported(report)
    if len(sides) > 1:
        names = ", ".join(side.name for side, _ in sides)
        raise InputError(
            f"{shown(report)} is about {len(sides)} sides ({printable(names)}); write its runs "
            "into folders with benchyard report --extract, and name one of these"
        )
    return sides[0][1]


def _only(run_set: RunSet, wanted: Sequence[int]) -> RunSet:
    refuse_missing(run_set.folder, wanted, {record.run for record in run_set.everything})
    kept = [tuple(r for r in s if r.run in wanted) for s in (run_set.records, run_set.failed)]
    return replace(run_set, records=kept[0], failed=kept[1])


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
