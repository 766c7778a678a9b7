"""Files that sides of a comparison may be: packs, and what other benchmark tools wrote."""

from dataclasses import replace
from pathlib import Path

from benchyard.analysis.comparison.run_sets import RunSelection, RunSet, read_run_sets
from benchyard.catalogue.formats import OTHERS
from benchyard.catalogue.formats.as_runs import records_of
from benchyard.catalogue.formats.contract import Candidate
from benchyard.catalogue.formats.measurements import BenchmarkFile, Measurements
from benchyard.core.errors import BenchyardError, InputError
from benchyard.core.files import shown
from benchyard.publish.packs.archives import ENDINGS as PACK_ENDINGS
from benchyard.publish.packs.manifest import RESULTS
from benchyard.publish.packs.unpacking import unpacked_to_check


def open_file(place: Path) -> dict[str, RunSet] | None:
    """Read the runs of each case in a file, by title; None if it is of no known format.

    Raises:
        InputError: If it is damaged, or tells no times.
    """
    if place.name.lower().endswith(PACK_ENDINGS):
        return _packed(place)
    if (found := _measured(place)) is None:
        return None
    tool, measured = found
    runs = RunSet(
        tool,
        place,
        tuple(records_of(tool, measured)),
        one_process=measured.one_process,
        in_turns=measured.in_turns,
    )
    if not runs.has_values:
        raise InputError(f"{shown(place)} tells no times; only these can be a side")
    return {tool: runs}


def _packed(place: Path) -> dict[str, RunSet]:
    with unpacked_to_check(place) as (folder, _):
        found = read_run_sets(RunSelection(folder / RESULTS))
    # The folder is gone; what stands for it tells which cases are of the same runs.
    return {
        title: replace(runs, folder=place / runs.folder.relative_to(folder))
        for title, runs in found.items()
    }


def _measured(place: Path) -> tuple[str, Measurements] | None:
    """Return the tool that wrote a file, and what it measured."""
    found = Candidate("", place.parent, place.name)
    known = (one for one in OTHERS if isinstance(one, BenchmarkFile))
    for one in (one for one in known if place.name.lower().endswith(one.endings)):
        if entry := one.describe(found):
            try:
                return one.tool, one.load(entry)
            except BenchyardError as error:
                raise InputError(f"{shown(place)}: {error}") from error
    return None
