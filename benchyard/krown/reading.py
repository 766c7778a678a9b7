"""From KROWN's folders to records of runs: what each step took, as far as its samples tell."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchyard.krown.scanning import Cells, Number, Part, Scan
from benchyard.krown.workers import scan_files
from benchyard.krown_csv import COUNTERS
from benchyard.model import Json, Outcome
from benchyard.record import RUN_FILE, Attempt, Repetition, RunRecord, StepRecord

METRICS_FILE = "metrics.csv"
_DONE = ".done"
_RUN = re.compile(r"run_([1-9][0-9]*)")
#: Decimals of KROWN's figures: a difference of two has no more, but for the noise of binary ones.
_DECIMALS = 4
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
    """

    runs: tuple[tuple[Path, RunRecord], ...]
    unfinished: tuple[RunRecord, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Declared:
    """A step as metadata.json has it."""

    id: str
    name: str
    resource: str = ""
    command: str = ""


def krown_runs(results: Path) -> list[tuple[int, Path]]:
    """Return number and folder of the runs that KROWN made: samples without a record of ours."""
    try:
        folders = [entry for entry in results.iterdir() if _RUN.fullmatch(entry.name)]
    except OSError:
        return []
    return sorted(
        (int(folder.name.removeprefix("run_")), folder)
        for folder in folders
        if (folder / METRICS_FILE).is_file() and not (folder / RUN_FILE).exists()
    )


def read_results(title: str, results: Path) -> KrownResults:
    """Read all runs that KROWN made of a case, each file in one pass.

    Args:
        title: Of the case.
        results: The case's ``results``; its metadata.json, beside, names the steps.

    Raises:
        RecordError: If a metrics.csv cannot be read or is none.
    """
    found = krown_runs(results)
    scans = scan_files([folder / METRICS_FILE for _, folder in found])
    declared = _declared(results.parent / "metadata.json")
    seen = [part["step"] for scan in scans for part in scan["parts"]]
    steps = _steps(declared, max(seen, default=0))
    runs = [
        (folder, _record(title, number, folder, scan, steps))
        for (number, folder), scan in zip(found, scans, strict=True)
    ]
    return _judged(runs, scans)


def _judged(runs: Sequence[tuple[Path, RunRecord]], scans: Sequence[Scan]) -> KrownResults:
    finished = [(folder / _DONE).is_file() for folder, _ in runs]
    warnings: list[str] = []
    if not any(finished):
        finished = [True] * len(runs)
        warnings.append("no run has a .done: nothing shows that KROWN finished them")
    done = tuple(run for run, ok in zip(runs, finished, strict=True) if ok)
    unfinished = tuple(record for (_, record), ok in zip(runs, finished, strict=True) if not ok)
    if unfinished:
        text = _listed(record.run for record in unfinished)
        warnings.append(f"KROWN did not finish {text}: no .done; left out")
    warnings += _warnings(runs, scans)
    return KrownResults(done, unfinished, tuple(warnings))


def _warnings(runs: Sequence[tuple[Path, RunRecord]], scans: Sequence[Scan]) -> Iterator[str]:
    intervals = [i for scan in scans if (i := _interval(scan)) is not None]
    if intervals:
        yield (
            "measured by KROWN: a step is timed from its first to its last sample, which is up to "
            f"{2 * max(intervals):.3g} s (two intervals) too short; usage is that of the whole host"
        )
    for (_, record), scan in zip(runs, scans, strict=True):
        if scan["damaged"]:
            yield f"run {record.run}: {scan['damaged']:,} damaged rows of metrics.csv are left out"
        if not scan["parts"]:
            yield f"run {record.run}: metrics.csv holds no samples"
    odd = [f"run {record.run}: {text}" for _, record in runs for text in record.warnings]
    more = f" (and {len(odd) - _SHOWN:,} more like this)" if len(odd) > _SHOWN else ""
    for number, text in enumerate(odd[:_SHOWN], 1):
        yield text + (more if number == _SHOWN else "")


def _listed(runs: Iterator[int]) -> str:
    numbers = [str(run) for run in runs]
    return ("runs " if len(numbers) > 1 else "run ") + ", ".join(numbers)


def _interval(scan: Scan) -> float | None:
    """Return the mean time between two samples (s)."""
    if not scan["parts"]:
        return None
    length = _difference(scan["parts"][0]["first"], scan["parts"][-1]["last"], "timestamp")
    count = sum(part["readings"] for part in scan["parts"]) - 1
    return length / count if length and count else None


def _declared(metadata: Path) -> list[_Declared]:
    """Read the steps of a case that need not be valid here; none if they cannot be read."""
    try:
        steps: list[dict[str, Any]] = json.loads(metadata.read_bytes())["steps"]
        return [_declared_step(number, step) for number, step in enumerate(steps, 1)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []


def _declared_step(number: int, step: dict[str, Any]) -> _Declared:
    keys = {"@id": f"step{number}", "name": f"step {number}", "resource": "", "command": ""}
    return _Declared(*(str(step.get(key, default)) for key, default in keys.items()))


def _steps(declared: Sequence[_Declared], most: int) -> list[_Declared]:
    further = range(len(declared) + 1, most + 1)
    return [*declared, *(_Declared(f"step{index}", f"step {index}") for index in further)]


def _record(
    title: str, run: int, folder: Path, scan: Scan, declared: Sequence[_Declared]
) -> RunRecord:
    told = _case_info(folder / "case-info.txt")
    parts, warnings = _by_step(scan["parts"])
    steps = tuple(
        _step(index, about, parts.get(index), warnings) for index, about in enumerate(declared, 1)
    )
    ends = [time for part in parts.values() if (time := part["last"]["timestamp"]) is not None]
    started_at = told.get("Timestamp", "")
    return RunRecord(
        case={"title": title, "name": title, "hash": None},
        run=run,
        outcome=Outcome.COMPLETED,
        started_at=started_at,
        ended_at="",
        duration_s=float(max(ends, default=0)),
        steps=steps,
        environment={ours: told[theirs] for theirs, ours in _ENVIRONMENT.items() if theirs in told},
        collector={"made_by": "KROWN", "interval_s": _interval(scan)},
        warnings=tuple(dict.fromkeys(warnings)),
    )


def _case_info(path: Path) -> dict[str, str]:
    """Read ``name: value`` lines; the last of a name counts."""
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return {}
    pairs = (line.strip().partition(": ") for line in lines)
    return {name: value for name, colon, value in pairs if colon}


def _by_step(parts: Sequence[Part]) -> tuple[dict[int, Part], list[str]]:
    """Return the rows of each step, and what is odd about them."""
    order = [part["step"] for part in parts]
    warnings = ["its steps are not in order"] if order != sorted(set(order)) else []
    found: dict[int, Part] = {}
    for part in parts:
        # Of a step that is there twice the longer part counts; joined, they would span others.
        known = found.get(part["step"])
        if known is None or known["readings"] < part["readings"]:
            found[part["step"]] = part
    return found, warnings


def _step(index: int, declared: _Declared, part: Part | None, warnings: list[str]) -> StepRecord:
    length = None if part is None else _length(part, index, warnings)
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
        reason=None if attempts else "KROWN took too few samples of it to tell its length",
        sampled=_sampled(part),
    )


def _length(part: Part, index: int, warnings: list[str]) -> float | None:
    """Return the time between the outermost rows (s); None with fewer than two."""
    length = _difference(part["first"], part["last"], "timestamp")
    if length is None or part["samples"] == 0 or part["readings"] == 1:
        return None
    if length < 0:
        warnings.append(f"the clock went backwards in step {index}")
        return None
    return float(length)


def _attempt(part: Part, duration_s: float, used: Mapping[str, float | None]) -> Attempt:
    start = float(part["first"]["timestamp"] or 0)
    made = Repetition("measured", start, duration_s, Outcome.COMPLETED, used)
    end = float(part["last"]["timestamp"] or 0)
    return Attempt(1, "", start, end, Outcome.COMPLETED, (made,))


def _sampled(part: Part | None) -> dict[str, Json]:
    if part is None:
        return {"samples": 0, "levels": {}}
    levels: dict[str, Json] = {
        name: {"min": least, "max": most} for name, (least, most) in part["levels"].items()
    }
    return {"samples": part["samples"], "levels": levels}


def _used(part: Part, index: int, warnings: list[str]) -> dict[str, float | None]:
    """Return what was used between the outermost rows; null of a counter that went backwards."""
    used: dict[str, float | None] = {}
    for column, (names, scale) in COUNTERS.items():
        if len(names) != 1:
            continue
        amount = _difference(part["first"], part["last"], column)
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
