"""Which runs KROWN made, and which of ours lost their record.

Both leave a ``metrics.csv`` of the same columns, a ``case-info.txt``, a ``log.txt`` and a
``.done``. What tells them apart:

- ``run.json`` and ``resources.csv`` are Benchyard's alone.
- In ``.done`` Benchyard writes the time with its offset from UTC, KROWN without one.
- A line of ``log.txt`` begins with the date, KROWN's with a bracket before it.

Source: https://github.com/kg-construct/exectool (executor.py and logger.py of bench_executor).
"""

import re
from os.path import lexists
from pathlib import Path

from benchyard.results.folders import Results, RunFolder

_DATE = rb"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_OUR_DONE = re.compile(_DATE + rb"T[0-9:.]+[+-][0-9]{2}:[0-9]{2}\s*")
_KROWNS_DONE = re.compile(_DATE + rb"T[0-9:]{8}\s*\Z")
_KROWNS_LOG = re.compile(rb"\[" + _DATE)
_OUR_LOG = re.compile(_DATE + rb" [0-9:]{8},[0-9]{3} [A-Z]+ ")
_KROWNS_METRICS = re.compile(rb"(?=[a-z_,]*\bstep,)(?=[a-z_,]*\btimestamp,)")
_BEGINNING = 64


def krown_runs(results: Path) -> list[tuple[int, Path]]:
    """Return number and folder of the runs that KROWN made: samples, and nothing of ours."""
    runs = Results(results).runs(linked=True).items()
    return [(number, run.path) for number, run in runs if has_only_samples(run)]


def has_only_samples(run: RunFolder) -> bool:
    """Tell whether KROWN made a run: there are samples, and nothing of ours."""
    return not lexists(run.record) and lexists(run.metrics) and not is_ours(run.path)


def runs_without_record(results: Path) -> list[tuple[int, Path]]:
    """Return number and folder of the finished runs that lack a record and are not KROWN's."""
    krowns = krown_runs(results)
    return [
        (number, folder)
        for number, folder in _unrecorded(results)
        if RunFolder(folder).checkpoint.is_file() and (number, folder) not in krowns
    ]


def surely_krowns(folder: Path) -> bool:
    """Tell whether something in a folder is as only KROWN leaves it."""
    run = RunFolder(folder)
    return _begins(run.checkpoint, _KROWNS_DONE) or _begins(run.log, _KROWNS_LOG)


def is_krowns(folder: Path) -> bool:
    """Tell whether KROWN made the run in a folder: its signs, or samples in its columns."""
    return surely_krowns(folder) or _begins(RunFolder(folder).metrics, _KROWNS_METRICS)


def _unrecorded(results: Path) -> list[tuple[int, Path]]:
    runs = Results(results).runs(linked=True).items()
    return [(number, run.path) for number, run in runs if not lexists(run.record)]


def is_ours(folder: Path) -> bool:
    """Tell whether a run without a record has something that only Benchyard leaves."""
    run = RunFolder(folder)
    return (
        lexists(run.resources) or _begins(run.checkpoint, _OUR_DONE) or _begins(run.log, _OUR_LOG)
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
