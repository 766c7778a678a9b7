"""Files that sides of a comparison may be: packs, and what other benchmark tools wrote."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchyard.analysis.comparison.run_sets import RunSelection, RunSet, read_run_sets
from benchyard.catalogue.formats import read_measurements
from benchyard.catalogue.formats.as_runs import as_one, records_of
from benchyard.catalogue.formats.measurements import Measurements
from benchyard.core.errors import InputError
from benchyard.core.files import files_below, shown
from benchyard.publish.packs.archives import ENDINGS as PACK_ENDINGS
from benchyard.publish.packs.manifest import RESULTS
from benchyard.publish.packs.unpacking import unpacked_to_check


def open_file(place: Path) -> dict[str, RunSet] | None:
    """Read the runs of each case in a file, or in the files of a folder, by title.

    None if nothing there is of a known format.

    Raises:
        InputError: If something is damaged, or tells no times.
    """
    if place.name.lower().endswith(PACK_ENDINGS):
        return _packed(place)
    found: dict[str, list[Measurements]] = {}
    for file in [place] if place.is_file() else files_below(place):
        if (read := read_measurements(file)) is not None:
            found.setdefault(read[0].tool, []).append(read[1])
    runs = {tool: _runs(tool, place, several) for tool, several in found.items()}
    if runs and not any(one.has_values for one in runs.values()):
        raise InputError(f"{shown(place)} tells no times; only these can be a side")
    return {tool: one for tool, one in runs.items() if one.has_values} or None


def _runs(tool: str, place: Path, found: Sequence[Measurements]) -> RunSet:
    """Return what files of one tool hold: of several commits that of the newest.

    What several files measured was measured by several processes: each file is a run then.
    """
    newest = max(found, key=lambda one: one.started_s or 0)
    alike = [one for one in found if one.commit == newest.commit]
    names = Counter(name for one in alike for name in {row.name for row in one.rows})
    if max(names.values(), default=1) > 1:
        of_files = (as_one(records_of(tool, one)) for one in alike)
        records = [replace(one, run=run) for run, one in enumerate(filter(None, of_files), 1)]
        return RunSet(tool, place, tuple(records), in_turns=False)
    whole = replace(newest, rows=[row for one in alike for row in one.rows])
    records = tuple(records_of(tool, whole))
    return RunSet(tool, place, records, one_process=whole.one_process, in_turns=whole.in_turns)


def _packed(place: Path) -> dict[str, RunSet]:
    with unpacked_to_check(place) as (folder, _):
        found = read_run_sets(RunSelection(folder / RESULTS))
    # The folder is gone; what stands for it tells which cases are of the same runs.
    return {
        title: replace(runs, folder=place / runs.folder.relative_to(folder))
        for title, runs in found.items()
    }
