"""Results that KROWN's exectool made: which runs they are, and its samples as records of runs.

A run of KROWN's and one of ours that lost its record both leave a ``metrics.csv`` of the same
columns, a ``case-info.txt``, a ``log.txt`` and a ``.done``. What tells them apart:

- ``run.json`` and ``resources.csv`` are Benchyard's alone.
- In ``.done`` Benchyard writes the time with its offset from UTC, KROWN without one.
- A line of ``log.txt`` begins with the date, KROWN's with a bracket before it.

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

Source: Van Assche et al., KROWN's execution framework, https://github.com/kg-construct/KROWN and
https://github.com/kg-construct/exectool (executor, logger, collector and stats of bench_executor).
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from os.path import lexists
from pathlib import Path
from typing import Any

from benchyard.core.errors import RecordError
from benchyard.core.files import content
from benchyard.core.model import Json, Outcome
from benchyard.results.folders import METRICS_FILE, Results, RunFolder
from benchyard.results.krown_scan import MOST_STEPS, Scan, StepRows, scan
from benchyard.results.metrics_csv import COUNTERS
from benchyard.results.record import Attempt, Repetition, RunRecord, StepRecord

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
    runs = Results(results).runs(linked=True).items()
    return [
        (number, run.path)
        for number, run in runs
        if run.checkpoint.is_file() and not lexists(run.record) and (number, run.path) not in krowns
    ]


def surely_krowns(folder: Path) -> bool:
    """Tell whether something in a folder is as only KROWN leaves it."""
    run = RunFolder(folder)
    return _begins(run.checkpoint, _KROWNS_DONE) or _begins(run.log, _KROWNS_LOG)


def is_krowns(folder: Path) -> bool:
    """Tell whether KROWN made the run in a folder: its signs, or samples in its columns."""
    return surely_krowns(folder) or _begins(RunFolder(folder).metrics, _KROWNS_METRICS)


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


# -- samples as records

_TOO_FEW = "KROWN took too few samples of it to tell its length"
#: Most warnings about single runs that are shown.
_SHOWN = 5
#: Line of case-info.txt to the member of a record's environment.
_ENVIRONMENT = {"Hostname": "host", "Kernel": "kernel", "OS name": "os", "Name": "cpu"}
#: Column to our name of it, without the sum of two others.
_COUNTERS = {c: (names[0], scale) for c, (names, scale) in COUNTERS.items() if len(names) == 1}


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


def read_results(title: str, results: Path) -> KrownResults:
    """Read all runs that KROWN made of a case.

    Args:
        title: Of the case.
        results: The case's ``results``; its metadata.json, beside, names the steps.
    """
    metadata = results.parent / "metadata.json"
    declared = _declared(metadata)
    scans: dict[Path, Scan] = {}
    unreadable: dict[int, RecordError] = {}
    for number, folder in krown_runs(results):
        try:
            scans[folder] = scan(folder / METRICS_FILE, len(declared) or MOST_STEPS)
        except RecordError as error:
            unreadable[number] = error
    steps = declared or _unnamed(scans.values())
    runs = [(folder, _record(title, folder, found, steps)) for folder, found in scans.items()]
    done = [run for run in runs if RunFolder(run[0]).checkpoint.is_file()]
    unfinished = [run[1] for run in runs if done and run not in done]
    warnings = [*_warnings([record for _, record in runs], unfinished, any_done=bool(done))]
    if metadata.exists() and not declared:
        why = "does not tell the steps, so they have no names; benchyard validate says why"
        warnings.insert(0, f"{metadata} {why}")
    return KrownResults(tuple(done or runs), tuple(unfinished), tuple(warnings), unreadable)


def read_run(title: str, folder: Path) -> RunRecord:
    """Read one run that KROWN made.

    Args:
        title: Of the case.
        folder: The run's; metadata.json beside its results names the steps.

    Raises:
        RecordError: If it cannot be read.
    """
    declared = _declared(folder.parent.parent / "metadata.json")
    found = scan(folder / METRICS_FILE, len(declared) or MOST_STEPS)
    return _record(title, folder, found, declared or _unnamed([found]))


def _declared(metadata: Path) -> list[StepRecord]:
    """Read the steps of a case, which may be invalid here; none if they cannot be read."""
    try:
        steps: list[dict[str, Any]] = json.loads(content(metadata))["steps"]
        return [_declared_step(number, step) for number, step in enumerate(steps, 1)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []


def _unnamed(scans: Iterable[Scan]) -> list[StepRecord]:
    most = max((part.step for found in scans for part in found.parts), default=0)
    return [_declared_step(number, {}) for number in range(1, most + 1)]


def _declared_step(number: int, step: dict[str, Any]) -> StepRecord:
    defaults = {"@id": f"step{number}", "name": f"step {number}", "resource": "", "command": ""}
    texts = [str(step.get(key, default)) for key, default in defaults.items()]
    return StepRecord(number, *texts, parameters={}, measure=True, outcome=Outcome.COMPLETED)


def _warnings(
    records: Sequence[RunRecord], unfinished: Sequence[RunRecord], *, any_done: bool
) -> Iterator[str]:
    if records and not any_done:
        yield "no run has a .done: nothing shows that KROWN finished them"
    if unfinished:
        numbers = ", ".join(str(record.run) for record in unfinished)
        named = f"run{'s' * (len(unfinished) > 1)} {numbers}"
        yield f"KROWN did not finish {named}: no .done; left out"
    intervals = [record.collector["interval_s"] for record in records]
    if known := [interval for interval in intervals if isinstance(interval, float)]:
        yield (
            "measured by KROWN: a step is timed from its first to its last sample, which is up to "
            f"{2 * max(known):.3g} s (two intervals) too short; usage is that of the whole host"
        )
    odd = [f"run {record.run}: {text}" for record in records for text in record.warnings]
    more = f" (and {len(odd) - _SHOWN:,} more like this)" if len(odd) > _SHOWN else ""
    for number, text in enumerate(odd[:_SHOWN], 1):
        yield text + (more if number == _SHOWN else "")


def _record(title: str, folder: Path, found: Scan, declared: Sequence[StepRecord]) -> RunRecord:
    run, parts, doubts = RunFolder(folder), _by_step(found.parts), _doubts(found.parts)
    info = _case_info(run.case_info)
    return RunRecord(
        case={"title": title, "name": title, "hash": None},
        run=run.number,
        outcome=Outcome.COMPLETED,
        started_at=info.get("Timestamp", ""),
        ended_at="",
        duration_s=max((part.end for part in parts.values()), default=0.0),
        steps=tuple(_step(one, parts.get(one.index), doubts.get(one.index)) for one in declared),
        environment={ours: info[theirs] for theirs, ours in _ENVIRONMENT.items() if theirs in info},
        collector={"made_by": "KROWN", "interval_s": _interval(found)},
        warnings=tuple(dict.fromkeys(_oddities(found, parts, doubts))),
    )


def _case_info(path: Path) -> dict[str, str]:
    """Read ``name: value`` lines; the last of a name counts."""
    try:
        lines = content(path).decode("utf-8", "replace").splitlines()
    except OSError:
        return {}
    pairs = (line.strip().partition(": ") for line in lines)
    return {name: value for name, colon, value in pairs if colon}


def _interval(found: Scan) -> float | None:
    """Return the mean time between two samples (s)."""
    steady = [part for part in found.parts if not part.backwards]
    length = sum(part.difference("timestamp") or 0 for part in steady)
    count = sum(part.readings - 1 for part in steady)
    return length / count if count and length else None


def _oddities(
    found: Scan, parts: Mapping[int, StepRows], doubts: Mapping[int, str]
) -> Iterator[str]:
    if found.damaged:
        rows = "row of metrics.csv is" if found.damaged == 1 else "rows of metrics.csv are"
        why = "cut off, no numbers, or of no time or step of the case"
        yield f"{found.damaged:,} damaged {rows} left out ({why})"
    if not found.parts:
        yield "metrics.csv holds no samples"
    order = [part.step for part in found.parts]
    if order != sorted(set(order)):
        yield "its steps are not in order"
    yield from doubts.values()
    for step in sorted(parts.keys() - doubts.keys()):
        for column in _COUNTERS:
            if (parts[step].difference(column) or 0) < 0:
                yield f"{column} went backwards in step {step}"


def _by_step(parts: Sequence[StepRows]) -> dict[int, StepRows]:
    """Return the rows of each step; of one that is there twice the most that lie together."""
    found: dict[int, StepRows] = {}
    for part in parts:
        found[part.step] = max(found.get(part.step, part), part, key=lambda rows: rows.readings)
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
    for before, after in pairwise(parts):
        if after.start < before.end:
            # Which of the two times is wrong cannot be told.
            for step in (before.step, after.step):
                found.setdefault(step, f"the clock went backwards at the edge of step {step}")
    return {step: f"{why}, so how long it took is unknown" for step, why in found.items()}


def _step(declared: StepRecord, part: StepRows | None, doubt: str | None) -> StepRecord:
    """Complete a declared step with what its rows tell."""
    if part is None:
        return replace(declared, reason=doubt or _TOO_FEW, sampled={"samples": 0, "levels": {}})
    levels: dict[str, Json] = {
        n: {"min": low, "max": high} for n, (low, high) in part.levels.items()
    }
    step = replace(declared, sampled={"samples": part.samples, "levels": levels})
    if doubt or part.samples == 0 or part.readings == 1:
        return replace(step, reason=doubt or _TOO_FEW)
    length = float(part.difference("timestamp") or 0)
    made = Repetition("measured", part.start, length, Outcome.COMPLETED, _used(part))
    attempt = Attempt(1, "", part.start, part.end, Outcome.COMPLETED, (made,))
    return replace(step, attempts=(attempt,))


def _used(part: StepRows) -> dict[str, float | None]:
    """Return what was used between the outermost rows; null of a counter that went backwards."""
    used: dict[str, float | None] = {}
    for column, (name, scale) in _COUNTERS.items():
        amount = part.difference(column)
        known = None if amount is None or amount < 0 else amount
        used[name] = known if known is None or scale == 1 else known / scale
    return used
