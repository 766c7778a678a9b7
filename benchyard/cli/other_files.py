"""Packs and files of other benchmark tools: read as runs, and written."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchyard.analysis.comparison.run_sets import RunSelection, RunSet, read_run_sets
from benchyard.catalogue.formats import read_measurements
from benchyard.catalogue.formats.as_runs import as_one, records_of
from benchyard.catalogue.formats.from_runs import measurements_of
from benchyard.catalogue.formats.measurements import REPEATED, Measurements
from benchyard.catalogue.formats.writing_more import WRITERS
from benchyard.cli.terminal import say
from benchyard.core.errors import InputError
from benchyard.core.files import files_below, shown
from benchyard.core.outputs import write
from benchyard.core.wording import hint, printable, quote
from benchyard.publish.packs.archives import ENDINGS as PACK_ENDINGS
from benchyard.publish.packs.manifest import RESULTS
from benchyard.publish.packs.unpacking import unpacked_to_check
from benchyard.show.export.sources import CaseFolder, read
from benchyard.show.export.tidy import Choice


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
            if names := read[1].about.get(REPEATED):
                say(f"{shown(file)} repeats keys, whose last values count: {names}", err=True)
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


def write_as(
    form: str, sources: Sequence[CaseFolder], choice: Choice, files: Sequence[Path]
) -> list[str]:
    """Write results in the form of another tool, and say on stderr what it has no place for.

    Returns:
        Why runs are left out that cannot be read.

    Raises:
        InputError: If there is no such form, or it requires what is not known.
    """
    if form not in WRITERS:
        raise InputError(f"--as {quote(form)}: no such form{hint(form, WRITERS)}")
    measured, unreadable = _measured(sources, choice)
    content = WRITERS[form](measured)
    for file in files:
        write(file, content)
    told = [f"{row.name}: {row.note}" for row in measured.rows if row.note]
    if left := WRITERS[form].leaves_out(measured):
        told.append(f"{form} has no place for {', '.join(left)}")
    for sentence in dict.fromkeys(told):
        say(printable(sentence), err=True)
    return unreadable


def _measured(sources: Sequence[CaseFolder], choice: Choice) -> tuple[Measurements, list[str]]:
    for source in sources:
        if source.folder.is_file() and (found := read_measurements(source.folder)):
            if len(sources) > 1 or choice.metrics:
                raise InputError("a file of another tool is converted alone, and whole")
            return found[1], []
    read_each = [read(source) for source in sources]
    cases = [group for one in read_each for group in one.groups[:1] if group]
    unreadable = [why for one in read_each for why in one.unreadable]
    if not cases:
        raise InputError("\n".join(["no run to export; benchyard run makes them", *unreadable]))
    return measurements_of(cases, choice.suspect, choice.metrics), unreadable
