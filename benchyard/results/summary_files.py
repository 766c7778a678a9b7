"""The files beside the runs of a case: ``summary.json`` and KROWN's three CSV files."""

import json
import os
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from os.path import lexists
from pathlib import Path
from typing import Any, cast

from benchyard.core.errors import InputError
from benchyard.core.files import content, shown, write_atomically
from benchyard.core.json_text import encoded
from benchyard.core.model import Json, JsonObject
from benchyard.results.folders import (
    AGGREGATED_FILE,
    METRICS_FILE,
    STATS_FILE,
    SUMMARY_FILE,
    SUMMARY_TABLE,
)
from benchyard.results.metrics_csv import COLUMNS, StepSamples, stats_csv, summary_csv, to_csv
from benchyard.results.ownership import is_summary
from benchyard.results.record import Repetition, RunRecord
from benchyard.results.summary import duration_s, summarize
from benchyard.results.summary_metrics import counting, levels_of, middle
from benchyard.results.trust import Suspect

#: Document, steps, one step: what is inside of these stands on a line, but for metrics.
_NESTING = 3
#: Between two metrics. Inside of a text the quotation mark would have a backslash before it.
_NEXT_METRIC = ']},"'


@dataclass(frozen=True, slots=True)
class Remarks:
    """What is known of the runs of a case beside their records.

    Args:
        warnings: What a reader should know.
        unreadable: Numbers of the finished runs that are left out since they cannot be read.
        adaptive: By which rule there are so many runs, and what it came to; None if it was fixed.
        subject: What the runs measured; empty if nobody knows.
        others: Documents of the runs beside them that measured something else, newest first.
    """

    warnings: Sequence[str] = ()
    unreadable: Sequence[int] = ()
    adaptive: JsonObject | None = None
    subject: Mapping[str, Json] = field(default_factory=dict[str, Json])
    others: Sequence[JsonObject] = ()


def write_summary(
    results: Path,
    title: str,
    runs: Sequence[tuple[Path, RunRecord]],
    *,
    unfinished: Sequence[RunRecord] = (),
    remarks: Remarks = Remarks(),
    suspect: Suspect = Suspect.AUTO,
    foreign: bool = False,
) -> None:
    """Write ``summary.json``, and with at least one run the three CSV files.

    All of them are made anew each time, so that none is older than the last run.

    Args:
        results: Folder with the runs of the case.
        runs: Folder and record of each done run.
        unfinished: Records of runs that do not count.
        remarks: What else a reader should know.
        suspect: What becomes of executions that are not to be trusted.
        foreign: Whether another program made the runs: CSV files that are there and were not
            written by this function stay as they are, and no file is shared with a run.

    Raises:
        InputError: If another program wrote the summary.json that is there.
        OSError: If the disk is full or not writable.
    """
    if lexists(results / SUMMARY_FILE) and not is_summary(results / SUMMARY_FILE):
        where = shown(results / SUMMARY_FILE)
        raise InputError(f"{where} was not made by Benchyard, and would be replaced: move it away")
    records = [record for _, record in runs]
    document = summarize(title, records, unfinished=unfinished, suspect=suspect)
    made = _csv_files(title, runs, document) if runs else {}
    kept = _not_ours(results, made, listed=foreign)
    notes = [f"{results / name} is not Benchyard's and stays as it is" for name in kept]
    _add_remarks(document, remarks, notes)
    results.mkdir(parents=True, exist_ok=True)
    ours = [name for name in made if name not in kept]
    for name in ours:
        made[name](results / name)
    if foreign:
        document["files"] = {name: _traits(results / name) for name in ours}
    text = rendered(document) + "\n"
    # Names of files may be no Unicode: such bytes become escapes that JSON reads back.
    write_atomically(results / SUMMARY_FILE, text.encode(errors="backslashreplace"))


def _add_remarks(document: JsonObject, remarks: Remarks, notes: Sequence[str]) -> None:
    document["unreadable"] = list[Json](remarks.unreadable)
    own = cast("list[Json]", document["warnings"])
    document["warnings"] = [*own, *remarks.warnings, *notes]
    if remarks.adaptive is not None:
        document["adaptive"] = remarks.adaptive
    document["subject"] = dict(remarks.subject)
    document["other_subjects"] = list[Json](remarks.others)


def _csv_files(
    title: str, runs: Sequence[tuple[Path, RunRecord]], document: JsonObject
) -> dict[str, Callable[[Path], None]]:
    """Return how each file is written."""
    shown = document["median_run"]
    described = cast("list[dict[str, Any]]", document["steps"])
    included = {step["index"] for step in described if step.get("suspect_counted")}
    steps = list(_steps_of_runs(title, (r for _, r in runs), included))
    source = next((f / METRICS_FILE for f, r in runs if r.run == shown), None)
    own = document["made_by"] == "Benchyard"
    return {
        STATS_FILE: partial(write_atomically, content=stats_csv(steps)),
        SUMMARY_TABLE: partial(write_atomically, content=summary_csv(_median_steps(steps))),
        AGGREGATED_FILE: partial(_write_aggregated, source, link=own),
    }


def _steps_of_runs(
    title: str, records: Iterable[RunRecord], included: Collection[int]
) -> Iterable[StepSamples]:
    """Yield the measured steps of each run in order as the CSV files need them.

    Args:
        included: Indices of the steps whose suspect executions count.
    """
    for record in sorted(records, key=lambda one: one.run):
        for step in record.steps:
            if not step.measure:
                continue
            include_suspect = step.index in included
            found = counting(step, include_suspect=include_suspect)
            used = found[0].used if len(found) == 1 else _middle_used(found)
            count = step.sampled.get("samples")
            yield StepSamples(
                title,
                record.run,
                step.index,
                duration_s(step, include_suspect=include_suspect),
                used,
                count if isinstance(count, int) else None,
                levels_of(step.sampled),
            )


def _median_steps(steps: Iterable[StepSamples]) -> Iterable[StepSamples]:
    """Yield each step of the run in which it took its median time; the lower one of two."""
    by_step: dict[int, list[StepSamples]] = {}
    for step in steps:
        by_step.setdefault(step.step, []).append(step)
    for each in by_step.values():
        timed = [(s.duration_s, s.run, s) for s in each if s.duration_s is not None]
        yield sorted(timed)[(len(timed) - 1) // 2][2] if timed else each[-1]


def _middle_used(repetitions: Sequence[Repetition]) -> Mapping[str, float | None]:
    names = {name: None for repetition in repetitions for name in repetition.used}
    return {name: middle(r.used.get(name) for r in repetitions) for name in names}


def _write_aggregated(source: Path | None, target: Path, *, link: bool) -> None:
    """Give the median run's metrics.csv a second name, or make a copy where that cannot be."""
    if source is None or not source.is_file():
        write_atomically(target, to_csv(COLUMNS, ()))
        return
    if target.is_file() and _traits(target) == _traits(source):
        return
    beside = target.with_name(f".{target.name}.{os.getpid()}.new")
    beside.unlink(missing_ok=True)
    try:
        if not link or not _linked(source, beside):
            shutil.copy2(source, beside)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def _linked(source: Path, target: Path) -> bool:
    with suppress(OSError):  # another file system, or one without links
        target.hardlink_to(source)
        return True
    return False


def _not_ours(results: Path, names: Iterable[str], *, listed: bool) -> list[str]:
    """Return the files that are there and are not ours.

    Args:
        listed: Whether only those are that an earlier summary lists as they are: KROWN writes files
            of the same form.
    """
    there = [name for name in names if lexists(results / name)]
    if not listed:
        return [name for name in there if not is_summary(results / name)]
    try:
        known: Any = json.loads(content(results / SUMMARY_FILE)).get("files")
    except (OSError, ValueError, AttributeError, RecursionError):
        known = None
    ours: Mapping[str, Json] = cast("dict[str, Json]", known) if isinstance(known, dict) else {}
    return [name for name in there if ours.get(name) != _traits(results / name)]


def _traits(path: Path) -> JsonObject:
    status = path.lstat()
    return {"bytes": status.st_size, "modified_ns": status.st_mtime_ns}


def rendered(document: Json, depth: int = 0) -> str:
    """Write a document with a line for each metric, in a third of the time of indenting it.

    Args:
        depth: How many others it stands in.
    """
    inner, outer = "\n" + "  " * (depth + 1), "\n" + "  " * depth
    if depth == _NESTING or not document or not isinstance(document, dict | list):
        # One call for all metrics: a thousand calls cost as much again.
        return encoded(document).replace(_NEXT_METRIC, f']}},{inner}"')
    if isinstance(document, dict):
        parts = (f"{encoded(k)}: {rendered(v, depth + 1)}" for k, v in document.items())
        return "{" + inner + ("," + inner).join(parts) + outer + "}"
    return "[" + inner + ("," + inner).join(rendered(v, depth + 1) for v in document) + outer + "]"
