"""From KROWN's folders to records of runs: what each step took, as far as its samples tell."""

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
from benchyard.results.krown.runs import krown_runs
from benchyard.results.krown.scanning import MOST_STEPS, Cells, Number, Scan, StepRows, backwards
from benchyard.results.krown.workers import scan_files, unreadable
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


def read_results(title: str, results: Path) -> KrownResults:
    """Read all runs that KROWN made of a case, each file in one pass.

    Args:
        title: Of the case.
        results: The case's ``results``; its metadata.json, beside, names the steps.
    """
    found = krown_runs(results)
    metadata = results.parent / "metadata.json"
    declared = _declared(metadata)
    scans = scan_files(
        [folder / METRICS_FILE for _, folder in found], len(declared) if declared else MOST_STEPS
    )
    read, unread = _sorted_out(found, scans)
    seen = [part["step"] for _, _, scan in read for part in scan["parts"]]
    steps = declared or _unnamed(max(seen, default=0))
    runs = [(folder, _record(title, number, folder, scan, steps)) for number, folder, scan in read]
    unnamed = [] if declared or not metadata.exists() else [_no_names(metadata)]
    return _judged(runs, [scan for _, _, scan in read], unread, unnamed)


def _sorted_out(
    found: Sequence[tuple[int, Path]], scans: Sequence[Scan | RecordError]
) -> tuple[list[tuple[int, Path, Scan]], dict[int, RecordError]]:
    """Return the runs that can be read, and why the others cannot."""
    read: list[tuple[int, Path, Scan]] = []
    unread: dict[int, RecordError] = {}
    for (number, folder), scan in zip(found, scans, strict=True):
        wrong = scan if isinstance(scan, RecordError) else _wrong_version(folder, scan)
        if wrong is not None:
            unread[number] = wrong
        elif not isinstance(scan, RecordError):
            read.append((number, folder, scan))
    return read, unread


def _wrong_version(folder: Path, scan: Scan) -> RecordError | None:
    """Return what is wrong with the version that the rows tell; None where it is known."""
    told = [row.get("version") for part in scan["parts"] for row in (part["first"], part["last"])]
    versions = {version for version in told if version is not None}
    if (versions and versions <= _VERSIONS) or not told:
        return None
    odd = ", ".join(f"{version}" for version in sorted(versions - _VERSIONS)) or "not told"
    return unreadable(folder / METRICS_FILE, f"its version is {odd}, and only 2 and 3 are known")


def _no_names(metadata: Path) -> str:
    return f"{metadata} does not tell the steps, so they have no names; benchyard validate says why"


def _judged(
    runs: Sequence[tuple[Path, RunRecord]],
    scans: Sequence[Scan],
    unread: Mapping[int, RecordError],
    notes: Sequence[str],
) -> KrownResults:
    finished = [RunFolder(folder).checkpoint.is_file() for folder, _ in runs]
    warnings = list(notes)
    if runs and not any(finished):
        finished = [True] * len(runs)
        warnings.append("no run has a .done: nothing shows that KROWN finished them")
    done = tuple(run for run, ok in zip(runs, finished, strict=True) if ok)
    unfinished = tuple(record for (_, record), ok in zip(runs, finished, strict=True) if not ok)
    if unfinished:
        text = _listed(record.run for record in unfinished)
        warnings.append(f"KROWN did not finish {text}: no .done; left out")
    warnings += _warnings(runs, scans)
    return KrownResults(done, unfinished, tuple(warnings), unread)


def _warnings(runs: Sequence[tuple[Path, RunRecord]], scans: Sequence[Scan]) -> Iterator[str]:
    intervals = [i for scan in scans if (i := _interval(scan)) is not None]
    if intervals:
        yield (
            "measured by KROWN: a step is timed from its first to its last sample, which is up to "
            f"{2 * max(intervals):.3g} s (two intervals) too short; usage is that of the whole host"
        )
    for (_, record), scan in zip(runs, scans, strict=True):
        if scan["damaged"]:
            yield f"run {record.run}: {_damaged(scan['damaged'])}"
        if not scan["parts"]:
            yield f"run {record.run}: metrics.csv holds no samples"
    odd = [f"run {record.run}: {text}" for _, record in runs for text in record.warnings]
    more = f" (and {len(odd) - _SHOWN:,} more like this)" if len(odd) > _SHOWN else ""
    for number, text in enumerate(odd[:_SHOWN], 1):
        yield text + (more if number == _SHOWN else "")


def _listed(runs: Iterator[int]) -> str:
    numbers = [str(run) for run in runs]
    return ("runs " if len(numbers) > 1 else "run ") + ", ".join(numbers)


def _damaged(count: int) -> str:
    rows = "row of metrics.csv is" if count == 1 else "rows of metrics.csv are"
    why = "cut off, no numbers, or of no time or step of the case"
    return f"{count:,} damaged {rows} left out ({why})"


def _interval(scan: Scan) -> float | None:
    """Return the mean time between two samples (s)."""
    steady = [part for part in scan["parts"] if not part["backwards"]]
    lengths = [_difference(part["first"], part["last"], "timestamp") or 0 for part in steady]
    count = sum(part["readings"] - 1 for part in steady)
    return sum(lengths) / count if count and sum(lengths) else None


def _declared(metadata: Path) -> list[_Declared]:
    """Read the steps of a case that need not be valid here; none if they cannot be read."""
    try:
        steps: list[dict[str, Any]] = json.loads(content(metadata))["steps"]
        return [_declared_step(number, step) for number, step in enumerate(steps, 1)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []


def _declared_step(number: int, step: dict[str, Any]) -> _Declared:
    keys = {"@id": f"step{number}", "name": f"step {number}", "resource": "", "command": ""}
    return _Declared(*(str(step.get(key, default)) for key, default in keys.items()))


def _unnamed(most: int) -> list[_Declared]:
    return [_Declared(f"step{index}", f"step {index}") for index in range(1, most + 1)]


def _record(
    title: str, run: int, folder: Path, scan: Scan, declared: Sequence[_Declared]
) -> RunRecord:
    told = _case_info(RunFolder(folder).case_info)
    order = [part["step"] for part in scan["parts"]]
    warnings = ["its steps are not in order"] if order != sorted(set(order)) else []
    parts, doubts = _by_step(scan["parts"]), _doubts(scan["parts"])
    warnings += doubts.values()
    steps = tuple(
        _step(index, about, parts.get(index), doubts.get(index), warnings)
        for index, about in enumerate(declared, 1)
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
        lines = (
            path.read_text(errors="replace", encoding="utf-8").splitlines()
            if path.is_file()
            else []
        )
    except OSError:
        return {}
    pairs = (line.strip().partition(": ") for line in lines)
    return {name: value for name, colon, value in pairs if colon}


def _by_step(parts: Sequence[StepRows]) -> dict[int, StepRows]:
    """Return the rows of each step; of one that is there twice the most that lie together."""
    found: dict[int, StepRows] = {}
    for part in parts:
        known = found.get(part["step"])
        if known is None or known["readings"] < part["readings"]:
            found[part["step"]] = part
    return found


def _doubts(parts: Sequence[StepRows]) -> dict[int, str]:
    """Return why the length of a step is unknown, for each step whose samples do not tell it."""
    found: dict[int, str] = {}
    seen: set[int] = set()
    for part in parts:
        step = part["step"]
        if part["backwards"]:
            found[step] = f"the clock went backwards in step {step}"
        elif part["cut_before"] or part["cut_after"]:
            found.setdefault(step, f"a row at the edge of step {step} is damaged or cut off")
        elif step in seen:
            found.setdefault(step, f"rows of other steps lie amid those of step {step}")
        seen.add(step)
    for one, after in pairwise(parts):
        if backwards(one, after):
            # Which of the two times is wrong cannot be told.
            for step in (one["step"], after["step"]):
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
    length = _difference(part["first"], part["last"], "timestamp")
    if length is None or part["samples"] == 0 or part["readings"] == 1:
        return None
    return float(length)


def _attempt(part: StepRows, duration_s: float, used: Mapping[str, float | None]) -> Attempt:
    start = float(part["first"]["timestamp"] or 0)
    made = Repetition("measured", start, duration_s, Outcome.COMPLETED, used)
    end = float(part["last"]["timestamp"] or 0)
    return Attempt(1, "", start, end, Outcome.COMPLETED, (made,))


def _sampled(part: StepRows | None) -> dict[str, Json]:
    if part is None:
        return {"samples": 0, "levels": {}}
    levels: dict[str, Json] = {
        name: {"min": least, "max": most} for name, (least, most) in part["levels"].items()
    }
    return {"samples": part["samples"], "levels": levels}


def _used(part: StepRows, index: int, warnings: list[str]) -> dict[str, float | None]:
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
