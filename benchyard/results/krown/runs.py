"""Which runs KROWN made, and which of ours lost their record.

Both leave a ``metrics.csv`` of the same columns, a ``case-info.txt``, a ``log.txt`` and a
``.done``. What tells them apart:

- ``run.json`` and ``resources.csv`` are Benchyard's alone.
- In ``.done`` Benchyard writes the time with its offset from UTC, KROWN without one.
- A line of ``log.txt`` begins with the date, KROWN's with a bracket before it.

Source: https://github.com/kg-construct/exectool (executor.py and logger.py of bench_executor).
"""

import re
from collections.abc import Iterator
from os.path import lexists
from pathlib import Path

from benchyard.results.record import RUN_FILE

METRICS_FILE = "metrics.csv"
DONE = ".done"
_RUN = re.compile(r"run_([1-9][0-9]*)")
_DATE = rb"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_OUR_DONE = re.compile(_DATE + rb"T[0-9:.]+[+-][0-9]{2}:[0-9]{2}\s*")
_KROWNS_DONE = re.compile(_DATE + rb"T[0-9:]{8}\s*\Z")
_KROWNS_LOG = re.compile(rb"\[" + _DATE)
_OUR_LOG = re.compile(_DATE + rb" [0-9:]{8},[0-9]{3} [A-Z]+ ")
_KROWNS_METRICS = re.compile(rb"(?=[a-z_,]*\bstep,)(?=[a-z_,]*\btimestamp,)")
_BEGINNING = 64


def krown_runs(results: Path) -> list[tuple[int, Path]]:
    """Return number and folder of the runs that KROWN made: samples, and nothing of ours."""
    return [
        (number, folder)
        for number, folder in _unrecorded(results)
        if lexists(folder / METRICS_FILE) and not is_ours(folder)
    ]


def runs_without_record(results: Path) -> list[tuple[int, Path]]:
    """Return number and folder of the finished runs that lack a record and are not KROWN's."""
    krowns = krown_runs(results)
    return [run for run in _unrecorded(results) if (run[1] / DONE).is_file() and run not in krowns]


def surely_krowns(folder: Path) -> bool:
    """Tell whether something in a folder is as only KROWN leaves it."""
    return _begins(folder / DONE, _KROWNS_DONE) or _begins(folder / "log.txt", _KROWNS_LOG)


def is_krowns(folder: Path) -> bool:
    """Tell whether KROWN made the run in a folder: its signs, or samples in its columns."""
    return surely_krowns(folder) or _begins(folder / METRICS_FILE, _KROWNS_METRICS)


def _unrecorded(results: Path) -> list[tuple[int, Path]]:
    try:
        entries = list(results.iterdir())
    except OSError:
        return []
    return sorted(_of_runs(entries))


def _of_runs(entries: list[Path]) -> Iterator[tuple[int, Path]]:
    for folder in entries:
        match = _RUN.fullmatch(folder.name)
        if match and folder.is_dir() and not lexists(folder / RUN_FILE):
            yield int(match[1]), folder


def is_ours(folder: Path) -> bool:
    """Tell whether a run without a record has something that only Benchyard leaves."""
    return (
        lexists(folder / "resources.csv")
        or _begins(folder / DONE, _OUR_DONE)
        or _begins(folder / "log.txt", _OUR_LOG)
    )


def _begins(file: Path, pattern: re.Pattern[bytes]) -> bool:
    """Tell whether a file begins so; what cannot be read does not."""
    try:
        if not file.is_file():
            return False
        with file.open("rb") as stream:
            return pattern.match(stream.read(_BEGINNING)) is not None
    except OSError:
        return False
