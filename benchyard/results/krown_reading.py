"""Results that KROWN's exectool made: its ``metrics.csv``, versions 2 and 3, as records of runs.

KROWN keeps samples and no record, so much is known only within bounds:

- A step lasts from its first to its last sample, up to two sampling intervals too short; one with
  fewer than two samples has no length.
- Usage is the difference of the host's counters between these samples.
- Where a row at the edge of a step is damaged, or the clock ran backwards in it or beside it, or
  rows of another step lie in between, its samples do not tell its length, and it has none.
- The first row is no sample. KROWN writes it itself, with the clock and the counters as they were
  (zero), and with zeros for the memory, which it did not read: it begins the first step, and is
  in neither the levels nor the number of samples.
- KROWN does not say how a step ended. A run with ``.done`` was finished.

Where KROWN's own statistics are right, these are the same.

Source: Van Assche et al., KROWN's execution framework, https://github.com/kg-construct/KROWN
(collector.py and stats.py of bench_executor).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchyard.core.errors import RecordError
from benchyard.core.files import content
from benchyard.core.model import Json, Outcome
from benchyard.results.folders import METRICS_FILE, RunFolder
from benchyard.results.krown import krown_runs
from benchyard.results.krown_scan import (
    MOST_STEPS,
    Cells,
    NotMetricsError,
    Number,
    Scan,
    StepRows,
    scan,
)
from benchyard.results.metrics_csv import COUNTERS
from benchyard.results.record import Attempt, Repetition, RunRecord, StepRecord

#: Versions of metrics.csv that are known.
_VERSIONS = frozenset({2, 3})
#: Decimals of KROWN's figures: a difference of two has no more, but for the noise of binary ones.
_DECIMALS = 4
_TOO_FEW = "KROWN took too few samples of it to tell its length"
#: Most oddities of single steps that are told.
_SHOWN = 5
#: Line of case-info.txt to the member of a record's environment.
_ENVIRONMENT = {"Hostname": "host", "Kernel": "kernel", "OS name": "os", "Name": "cpu"}


@dataclass(frozen=True, slots=True)
class KrownResults:
    """What KROWN left of a case.

    Args:
        runs: Folder and record of each finished run.
        unfinished: Records of runs that have no ``.done`` where others have.
        warnings: What a reader of the figures should know.
        unreadable: Runs that cannot be read, and why.
    """

    runs: tuple[tuple[Path, RunRecord], ...]
    unfinished: tuple[RunRecord, ...] = ()
    warnings: tuple[str, ...] = ()
    unreadable: Mapping[int, RecordError] = field(default_factory=dict[int, RecordError])


@dataclass(frozen=True, slots=True)
class _Declared:
    """A step as metadata.json has it."""

    id: str
    name: str
    resource: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True)
class _Run:
    folder: Path
    record: RunRecord
    scan: Scan


def read_results(title: str, results: Path) -> KrownResults:
    """Read all runs that KROWN made of a case.

    Args:
        title: Of the case.
        results: The case's ``results``; its metadata.json, beside, names the steps.
    """
    metadata = results.parent / "metadata.json"
    declared = _declared(metadata)
    scans: dict[int, tuple[Path, Scan]] = {}
    unread: dict[int, RecordError] = {}
    for number, folder in krown_runs(results):
        try:
            scans[number] = folder, _scanned(folder / METRICS_FILE, len(declared) or MOST_STEPS)
        except RecordError as error:
            unread[number] = error
    most = max((part.step for _, found in scans.values() for part in found.parts), default=0)
    steps = declared or _unnamed(most)
    runs = [
        _Run(folder, _record(title, n, folder, s, steps), s) for n, (folder, s) in scans.items()
    ]
    unnamed = [] if declared or not metadata.exists() else [_no_names(metadata)]
    return _judged(runs, unread, unnamed)


def read_run(title: str, folder: Path) -> RunRecord:
    """Read one run that KROWN made.

    Args:
        title: Of the case.
        folder: The run's; metadata.json beside its results names the steps.

    Raises:
        RecordError: If it cannot be read.
    """
    declared = _declared(folder.parent.parent / "metadata.json")
    found = _scanned(folder / METRICS_FILE, len(declared) or MOST_STEPS)
    most = max((part.step for part in found.parts), default=0)
    return _record(title, RunFolder(folder).number, folder, found, declared or _unnamed(most))


def _unnamed(most: int) -> list[_Declared]:
    return [_Declared(f"step{n}", f"step {n}") for n in range(1, most + 1)]


def _scanned(path: Path, most: int) -> Scan:
    """Scan a metrics.csv.

    Raises:
        RecordError: If it cannot be read, or is no metrics.csv of KROWN's.
    """
    try:
        found = scan(path, most)
        _check_version(found)
    except (OSError, NotMetricsError) as error:
        why = getattr(error, "strerror", None) or error
        told = f"{path}: not readable as KROWN's metrics.csv: {why}; move its run away"
        raise RecordError(told) from error
    return found


def _check_version(found: Scan) -> None:
    told = [row.get("version") for part in found.parts for row in (part.first, part.last)]
    versions = {version for version in told if version is not None}
    if told and not (versions and versions <= _VERSIONS):
        odd = ", ".join(f"{version}" for version in sorted(versions - _VERSIONS)) or "not told"
        raise NotMetricsError(f"its version is {odd}, and only 2 and 3 are known")


def _no_names(metadata: Path) -> str:
    return f"{metadata} does not tell the steps, so they have no names; benchyard validate says why"


def _judged(
    runs: Sequence[_Run], unread: Mapping[int, RecordError], notes: Sequence[str]
) -> KrownResults:
    done = [run for run in runs if RunFolder(run.folder).checkpoint.is_file()]
    unfinished = [run.record for run in runs if run not in done] if done else []
    warnings = list(notes)
    if runs and not done:
        warnings.append("no run has a .done: nothing shows that KROWN finished them")
    if unfinished:
        numbers = ", ".join(str(record.run) for record in unfinished)
        named = f"run{'s' * (len(unfinished) > 1)} {numbers}"
        warnings.append(f"KROWN did not finish {named}: no .done; left out")
    return KrownResults(
        tuple((run.folder, run.record) for run in done or runs),
        tuple(unfinished),
        (*warnings, *_warnings(runs)),
        unread,
    )


def _warnings(runs: Sequence[_Run]) -> Iterator[str]:
    intervals = [i for run in runs if (i := _interval(run.scan)) is not None]
    if intervals:
        yield (
            "measured by KROWN: a step is timed from its first to its last sample, which is up to "
            f"{2 * max(intervals):.3g} s (two intervals) too short; usage is that of the whole host"
        )
    for run in runs:
        if run.scan.damaged:
            yield f"run {run.record.run}: {_damaged(run.scan.damaged)}"
        if not run.scan.parts:
            yield f"run {run.record.run}: metrics.csv holds no samples"
    odd = [f"run {run.record.run}: {text}" for run in runs for text in run.record.warnings]
    more = f" (and {len(odd) - _SHOWN:,} more like this)" if len(odd) > _SHOWN else ""
    for number, text in enumerate(odd[:_SHOWN], 1):
        yield text + (more if number == _SHOWN else "")


def _damaged(count: int) -> str:
    rows = "row of metrics.csv is" if count == 1 else "rows of metrics.csv are"
    why = "cut off, no numbers, or of no time or step of the case"
    return f"{count:,} damaged {rows} left out ({why})"


def _interval(found: Scan) -> float | None:
    """Return the mean time between two samples (s)."""
    steady = [part for part in found.parts if not part.backwards]
    length = sum(_difference(part.first, part.last, "timestamp") or 0 for part in steady)
    count = sum(part.readings - 1 for part in steady)
    return length / count if count and length else None


def _declared(metadata: Path) -> list[_Declared]:
    """Read the steps of a case, which may be invalid here; none if they cannot be read."""
    try:
        steps: list[dict[str, Any]] = json.loads(content(metadata))["steps"]
        return [_declared_step(number, step) for number, step in enumerate(steps, 1)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []


def _declared_step(number: int, step: dict[str, Any]) -> _Declared:
    keys = {"@id": f"step{number}", "name": f"step {number}", "resource": "", "command": ""}
    return _Declared(*(str(step.get(key, default)) for key, default in keys.items()))


def _record(
    title: str, run: int, folder: Path, found: Scan, declared: Sequence[_Declared]
) -> RunRecord:
    told = _case_info(RunFolder(folder).case_info)
    order = [part.step for part in found.parts]
    warnings = ["its steps are not in order"] if order != sorted(set(order)) else []
    parts, doubts = _by_step(found.parts), _doubts(found.parts)
    warnings += doubts.values()
    steps = tuple(
        _step(index, about, parts.get(index), doubts.get(index), warnings)
        for index, about in enumerate(declared, 1)
    )
    return RunRecord(
        case={"title": title, "name": title, "hash": None},
        run=run,
        outcome=Outcome.COMPLETED,
        started_at=told.get("Timestamp", ""),
        ended_at="",
        duration_s=max((part.end for part in parts.values()), default=0.0),
        steps=steps,
        environment={ours: told[theirs] for theirs, ours in _ENVIRONMENT.items() if theirs in told},
        collector={"made_by": "KROWN", "interval_s": _interval(found)},
        warnings=tuple(dict.fromkeys(warnings)),
    )


def _case_info(path: Path) -> dict[str, str]:
    """Read ``name: value`` lines; the last of a name counts."""
    try:
        lines = content(path).decode("utf-8", "replace").splitlines()
    except OSError:
        return {}
    pairs = (line.strip().partition(": ") for line in lines)
    return {name: value for name, colon, value in pairs if colon}


def _by_step(parts: Sequence[StepRows]) -> dict[int, StepRows]:
    """Return the rows of each step; of one that is there twice the most that lie together."""
    found: dict[int, StepRows] = {}
    for part in parts:
        known = found.get(part.step)
        if known is None or known.readings < part.readings:
            found[part.step] = part
    return found


def _doubts(parts: Sequence[StepRows]) -> dict[int, str]:
    """Return why the length of a step is unknown, for each step whose samples do not tell it."""
    found: dict[int, str] = {}
    seen: set[int] = set()
    for part in parts:
        step = part.step
        if part.backwards:
            found[step] = f"the clock went backwards in step {step}"
        elif part.cut_before or part.cut_after:
            found.setdefault(step, f"a row at the edge of step {step} is damaged or cut off")
        elif step in seen:
            found.setdefault(step, f"rows of other steps lie amid those of step {step}")
        seen.add(step)
    for one, after in pairwise(parts):
        if after.start < one.end:
            # Which of the two times is wrong cannot be told.
            for step in (one.step, after.step):
                found.setdefault(step, f"the clock went backwards at the edge of step {step}")
    return {step: f"{why}, so how long it took is unknown" for step, why in found.items()}


def _step(
    index: int, declared: _Declared, part: StepRows | None, doubt: str | None, warnings: list[str]
) -> StepRecord:
    length = None if part is None or doubt else _length(part)
    attempts: tuple[Attempt, ...] = ()
    if part is not None and length is not None:
        attempts = (_attempt(part, length, _used(part, index, warnings)),)
    return StepRecord(
        index,
        declared.id,
        declared.name,
        declared.resource,
        declared.command,
        parameters={},
        measure=True,
        outcome=Outcome.COMPLETED,
        attempts=attempts,
        reason=None if attempts else doubt or _TOO_FEW,
        sampled=_sampled(part),
    )


def _length(part: StepRows) -> float | None:
    """Return the time between the outermost rows (s); None with fewer than two."""
    length = _difference(part.first, part.last, "timestamp")
    if length is None or part.samples == 0 or part.readings == 1:
        return None
    return float(length)


def _attempt(part: StepRows, duration_s: float, used: Mapping[str, float | None]) -> Attempt:
    made = Repetition("measured", part.start, duration_s, Outcome.COMPLETED, used)
    return Attempt(1, "", part.start, part.end, Outcome.COMPLETED, (made,))


def _sampled(part: StepRows | None) -> dict[str, Json]:
    if part is None:
        return {"samples": 0, "levels": {}}
    levels: dict[str, Json] = {
        name: {"min": least, "max": most} for name, (least, most) in part.levels.items()
    }
    return {"samples": part.samples, "levels": levels}


def _used(part: StepRows, index: int, warnings: list[str]) -> dict[str, float | None]:
    """Return what was used between the outermost rows; null of a counter that went backwards."""
    used: dict[str, float | None] = {}
    for column, (names, scale) in COUNTERS.items():
        if len(names) != 1:
            continue
        amount = _difference(part.first, part.last, column)
        if amount is not None and amount < 0:
            warnings.append(f"{column} went backwards in step {index}")
            amount = None
        used[names[0]] = amount if amount is None or scale == 1 else amount / scale
    return used


def _difference(first: Cells, last: Cells, column: str) -> Number:
    start, end = first.get(column), last.get(column)
    if start is None or end is None:
        return None
    return round(end - start, _DECIMALS)
