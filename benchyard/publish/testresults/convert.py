"""A run as a TestResults document; the same record always makes the same bytes.

It holds no parameters, settings or environment variables of the case and no texts of errors. Of the
programs that steps start it holds the names, which are in the subject.
"""

import json
import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import cast

from benchyard.core.errors import RecordError
from benchyard.core.model import Json, JsonObject, Outcome, mapped, object_in, plain, slug
from benchyard.publish.testresults.document import STARTED_AT, SUBJECT, Document
from benchyard.results.record import RunRecord, StepRecord
from benchyard.statistics import median

#: Of a record's ``used``: what becomes cpuTime.
_CPU = "resource_cpu_s"
#: No number that is told is larger; the sum of two is still a double.
_MOST = 1e100
#: Of an identity in a file's name: enough to tell apart runs of one second and one title.
_DIGITS = 12
Facts = Mapping[str, Json]


def document_of(record: RunRecord) -> JsonObject:
    """Return a run as a TestResults document.

    ``name`` is the case's title with the point of its matrix, such as ``tpch[scale=0.01]``; an
    entry's name is its step's ``@id``. Neither changes from run to run, nor when a step is renamed.
    Times are seconds an iteration, the median of the measured repetitions. Steps that failed, were
    tolerated or skipped have no time and are no entries; they are named in
    ``runConfiguration.argument``, with all that tells this run from others.

    Raises:
        RecordError: If the run does not say when it started.
    """
    document: JsonObject = {
        "name": title(record),
        "target": _text(record.case.get("id")) or title(record),
        "startTime": str(_start_seconds(record)),
        "runTime": float(record.duration_s),
        "benchmarkType": "UNKNOWN",
        "entries": {"entry": [_entry(step, record.run) for step in _timed(record)]},
        "machineConfiguration": machine_of(record.environment),
        "runConfiguration": {"argument": list[Json](_arguments(record))},
    }
    commit = _commit(record)
    if commit:
        document["commitId"] = commit
    return cast("JsonObject", _readable(document))


def text_of(record: RunRecord) -> str:
    """Return ``document_of`` as a line of JSON.

    Raises:
        RecordError: If the run does not say when it started.
    """
    document = document_of(record)
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def file_name(document: Document) -> str:
    """Return the name of a document's file: it sorts by time, is unique and below 100 bytes.

    Such as ``20261121T193000Z-example-first-0123456789ab.json``.
    """
    when = document.started_at.strftime("%Y%m%dT%H%M%SZ")
    return f"{when}-{slug(document.test)}-{document.identity[:_DIGITS]}.json"


def title(record: RunRecord) -> str:
    """Return the name of the test: the case's title, name or id."""
    named = (_text(record.case.get(key)) for key in ("title", "name", "id"))
    return next(filter(None, named), "case")


def _start_seconds(record: RunRecord) -> int:
    """Return the start in whole seconds since 1970, UTC; the schema has no parts of them."""
    try:
        began = datetime.fromisoformat(record.started_at)
        seconds = math.floor(began.timestamp()) if began.tzinfo else -1
    except (ValueError, OverflowError):
        seconds = -1
    if seconds < 0:
        raise RecordError(
            f"run {record.run} of {title(record)} does not say when it started "
            f"('{record.started_at}'), so it cannot be published; execute it again"
        )
    return seconds


def _commit(record: RunRecord) -> JsonObject:
    """Return the commit of what was measured, or else of the case's repository."""
    if record.commit is not None:
        commit, changes = record.commit
        # The schema's word for what lies between a commit and what was tested.
        return known({"hash": commit, "snapshot": changes})
    return known({"hash": _text(object_in(record.environment, "git").get("commit"))})


def _arguments(record: RunRecord) -> list[str]:
    """Return what tells a run from all others, and the outcomes of its steps."""
    told: JsonObject = {
        "case-hash": record.case.get("hash"),
        **{f"matrix.{name}": value for name, value in object_in(record.case, "point").items()},
        "run": record.run,
        STARTED_AT: record.started_at,
        "interval-s": record.collector.get("interval_s"),
        "uncommitted-changes": object_in(record.environment, "git").get("dirty"),
        "benchyard": record.benchyard_version or None,
        "outcome": record.outcome.value,
        **{f"step.{step.id}": step.outcome.value for step in record.steps if _is_lost(step)},
    }
    if record.subject:  # an older record makes the same document as ever
        subject = _readable(dict(record.subject))
        told[SUBJECT] = json.dumps(subject, sort_keys=True, separators=(",", ":"))
    return [f"--{name}={plain(value)}" for name, value in told.items() if value is not None]


def _is_lost(step: StepRecord) -> bool:
    return step.outcome is not Outcome.COMPLETED


def _timed(record: RunRecord) -> list[StepRecord]:
    return [step for step in record.steps if step.measure and step.measured]


def _entry(step: StepRecord, run: int) -> JsonObject:
    """Describe a step of which at least one repetition was measured."""
    used = _middles([_numbers(made.used) for made in step.measured])
    reported = _middles([_numbers(made.values) for made in step.measured])
    # A command may report what the lab measures too; neither may hide the other.
    metrics = used | {f"reported_{k}" if k in used else k: v for k, v in reported.items()}
    entry: JsonObject = {
        "name": step.id or f"step{step.index}",
        "iters": str(len(step.measured)),
        "wallTime": float(median(step.durations_s)),
        "cpuTime": used.get(_CPU),
        "extras": _extras(step, run),
        "metrics": [{"name": name, "value": value} for name, value in metrics.items()],
    }
    return known(entry)


def _extras(step: StepRecord, run: int) -> JsonObject:
    """Return what no field of the schema is for."""
    told: dict[str, str | float] = {
        "unit": "s/iteration",
        "statistic": "median",
        "step": step.name,
        "resource": step.resource,
        "command": step.command,
        "outcome": step.outcome.value,
        "run": float(run),
        "attempts": float(len(step.attempts)),
    }
    if len(step.measured) > 1:
        # Not minValue and maxValue of a metric: those say what is acceptable, not what was seen.
        extremes = {"min": min(step.durations_s), "max": max(step.durations_s)}
        told |= {f"wall_time_{end}_s": float(value) for end, value in extremes.items()}
    if step.suspect:
        told["suspect"] = "; ".join(step.suspect)
    return {
        name: {"stringValue": value} if isinstance(value, str) else {"doubleValue": value}
        for name, value in told.items()
    }


_Numbers = Mapping[str, float]


def _numbers(told: Mapping[str, Json]) -> _Numbers:
    """Return the numbers among the values of a repetition, by name."""
    return {
        name: float(value)
        for name, value in told.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and -_MOST < value < _MOST
    }


def _middles(repetitions: Sequence[_Numbers]) -> dict[str, float]:
    """Return the median of each metric over the repetitions that have it."""
    names = dict.fromkeys(name for one in repetitions for name in one)
    return {name: median([told[name] for told in repetitions if name in told]) for name in names}


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def _readable(value: Json) -> Json:
    """Escape single surrogates, as in names of files: JSON parsers may refuse them."""

    def escaped(text: str) -> str:
        return text.encode(errors="backslashreplace").decode()

    return mapped(value, escaped, escaped)


def machine_of(environment: Facts) -> JsonObject:
    """Return the MachineConfiguration of a record's ``environment``."""
    machine: JsonObject = {
        "hostname": _text(environment.get("host")),
        "platformInfo": _platform(environment),
        "cpuInfo": _processor(object_in(environment, "cpu")),
        "memoryInfo": known({"total": _integer(environment.get("memory_bytes"))}),
    }
    return known(machine)


def known(fields: JsonObject) -> JsonObject:
    """Leave out what is null or empty; 0 and false stay."""
    return {name: value for name, value in fields.items() if value not in (None, "", {}, [])}


def _platform(environment: Facts) -> JsonObject:
    """Parse Python's name of the platform: ``Linux-6.1.0-18-amd64-x86_64-with-glibc2.36``."""
    machine = _text(environment.get("architecture")) or ""
    system, _, rest = (_text(environment.get("kernel")) or "").partition("-")
    release = rest.partition(f"-{machine}-with-")[0] if machine else None
    return known({"machine": machine, "release": release, "system": system})


def _processor(cpu: Facts) -> JsonObject:
    hertz = cpu.get("frequency_max_hz")
    return known(
        {
            "numCores": _integer(cpu.get("logical_cores")),
            "numCoresAllowed": _integer(_length(_text(cpu.get("affinity")) or "")),
            "mhzPerCpu": hertz / 1e6 if isinstance(hertz, int | float) else None,
            "cpuInfo": _text(cpu.get("model")),
            "cpuGovernor": _text(cpu.get("governor")),
            "cacheSize": known({k: _integer(v) for k, v in object_in(cpu, "cache_bytes").items()}),
        }
    )


def _length(cpus: str) -> int | None:
    """Count the CPUs of a list like ``0-3,8``; None if it is none."""
    ranges = [part.partition("-") for part in cpus.split(",")]
    try:
        return sum(int(last or first) - int(first) + 1 for first, _, last in ranges)
    except ValueError:
        return None


def _integer(value: Json) -> str | None:
    """Write an int64 as proto3's JSON does: as a text."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return str(value)
