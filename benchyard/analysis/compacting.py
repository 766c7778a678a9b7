"""Results reduced to what comparisons read, small enough for a repository.

They are results as any others: a folder ``run_<n>`` for each run, with ``run.json`` and, of a
finished run, ``.done``. What their records lack is read as empty, as in records of older versions.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast

from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.analysis.comparison.verdicts import ALL_METRICS
from benchyard.core.errors import InputError
from benchyard.core.files import remove_tree, shown, sync_folder, sync_tree, write_atomically
from benchyard.core.json_text import encoded
from benchyard.core.model import Json, JsonObject
from benchyard.results.folders import DONE, RUN_FILE, run_folder, run_number
from benchyard.results.layout import case_place
from benchyard.results.ownership import is_summary
from benchyard.results.record import FORMAT, VERSION, Attempt, Repetition, RunRecord, StepRecord

#: All that is in the folder of a compact run.
_FILES = {RUN_FILE, DONE}


@dataclass(frozen=True, slots=True)
class CompactResults:
    """What became of the results of one case.

    Args:
        title: Of the case.
        folder: Where the compact results lie.
        runs: Numbers of the finished runs.
        sizes: Of each record (B), those of failed runs included.
    """

    title: str
    folder: Path
    runs: tuple[int, ...]
    sizes: tuple[int, ...]


def write_compact(
    run_sets: Mapping[str, RunSet], folder: Path, metrics: Sequence[str] = (ALL_METRICS,)
) -> list[CompactResults]:
    """Write each case's runs, in the place of those that lie there, into a folder of its own.

    Args:
        metrics: Those that are kept beside the durations: names, globs, or ``all``.

    Raises:
        InputError: If something else has the place; nothing is written then.
    """
    places = {title: folder / case_place(one.everything[-1]) for title, one in run_sets.items()}
    foreign = [found for place in places.values() for found in _foreign(place)]
    if foreign:
        raise InputError(
            f"{shown(foreign[0])} is no compact run, and stays: nothing was written; name another "
            "folder, or remove it"
        )
    return [_write(run_set, places[title], metrics) for title, run_set in run_sets.items()]


def _foreign(place: Path) -> list[Path]:
    """List what lies in a place and is not of a compact run."""
    if not os.path.lexists(place):
        return []
    if place.is_symlink() or not place.is_dir():
        return [place]
    there = sorted(place.iterdir())
    return [path for path in there if not (_is_compact(path) or is_summary(path))]


def _is_compact(path: Path) -> bool:
    if path.is_symlink() or not path.is_dir() or run_number(path.name) is None:
        return False
    return {inner.name for inner in path.iterdir()} <= _FILES


def _write(run_set: RunSet, place: Path, metrics: Sequence[str]) -> CompactResults:
    beside = place.with_name(f".{place.name}.new")
    remove_tree(beside)
    sizes: list[int] = []
    for record in run_set.everything:
        content = compact_json(record, metrics).encode(errors="backslashreplace")
        run = run_folder(beside, record.run)
        run.mkdir(parents=True)
        write_atomically(run / RUN_FILE, content)
        sizes.append(len(content))
    for record in run_set.records:
        write_atomically(run_folder(beside, record.run) / DONE, f"{record.ended_at}\n")
    sync_tree(beside)
    remove_tree(place)
    beside.rename(place)
    sync_folder(place.parent)
    return CompactResults(run_set.title, place, run_set.numbers, tuple(sizes))


def compact_json(record: RunRecord, metrics: Sequence[str] = (ALL_METRICS,)) -> str:
    """Return a record's document on one line; the same record gives the same text."""
    body = _said(compact(record, metrics))
    return encoded({"format": FORMAT, "version": VERSION, **body}) + "\n"


def compact(record: RunRecord, metrics: Sequence[str] = (ALL_METRICS,)) -> RunRecord:
    """Return a record without what no comparison reads.

    Paths of this host, texts of errors and the environment's variables are among what goes.
    """
    told = {"description", "folder"}
    interval = ("interval_s", "made_by")
    return RunRecord(
        case={name: value for name, value in record.case.items() if name not in told},
        run=record.run,
        outcome=record.outcome,
        started_at=record.started_at,
        ended_at=record.ended_at,
        duration_s=record.duration_s,
        steps=tuple(_step(step, metrics) for step in record.steps),
        resources=record.resources,
        environment=record.environment,
        collector={n: record.collector[n] for n in interval if n in record.collector},
        benchyard_version=record.benchyard_version,
        preflight=tuple(
            {name: found[name] for name in ("check", "status") if name in found}
            for found in record.preflight
        ),
        subject=record.subject,
        session=record.session,
    )


def _step(step: StepRecord, metrics: Sequence[str]) -> StepRecord:
    attempts = tuple(_attempt(attempt, metrics) for attempt in step.attempts[-1:])
    return replace(step, attempts=attempts, sampled={}, reason=None)


def _attempt(attempt: Attempt, metrics: Sequence[str]) -> Attempt:
    made = tuple(_repetition(repetition, metrics) for repetition in attempt.repetitions)
    return replace(attempt, repetitions=made, error=None)


def _repetition(made: Repetition, metrics: Sequence[str]) -> Repetition:
    plain = Repetition(made.kind, made.start_s, made.duration_s, made.outcome)
    if made.kind != "measured":
        return plain
    values = {
        name: value
        for name, value in made.values.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and _kept(name, metrics)
    }
    # A counter that is not known has a name all the same: a reported value of that name yields.
    used = {
        name: value
        for name, value in made.used.items()
        if name in values or (value is not None and _kept(name, metrics))
    }
    return replace(plain, used=used, values=values, suspect=made.suspect)


def _kept(name: str, metrics: Sequence[str]) -> bool:
    names = (name, f"reported_{name}")
    return any(one == ALL_METRICS or any(fnmatchcase(n, one) for n in names) for one in metrics)


def _said(value: Any) -> JsonObject:
    """Return the members of a dataclass, without those that are as if they were left out."""
    members = {field: getattr(value, field.name) for field in fields(value)}
    return {field.name: _plain(v) for field, v in members.items() if v != _default(field)}


def _default(field: "Field[Any]") -> object:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _plain(value: Any) -> Json:
    if is_dataclass(value):
        return _said(value)
    if isinstance(value, tuple):
        return [_plain(one) for one in cast("tuple[Any, ...]", value)]
    return value
