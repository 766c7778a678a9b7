"""What a record tells, as tables."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote as quoted

from benchyard.core.model import Json, Outcome
from benchyard.core.table import BYTES, LONG, NUMBER, SECONDS, TEXT, Cell, Field, Value
from benchyard.results.reasons import why_step_failed
from benchyard.results.record import Repetition, RunRecord, StepRecord
from benchyard.results.summary_metrics import middle
from benchyard.web.rendering import outcome_mark
from benchyard.web.runs import Shown, ShownRun
from benchyard.web.tables import DataTable, table_of

#: Deeper facts of a host are written as JSON.
_DEEPEST = 4


@dataclass(frozen=True, slots=True)
class _RunTable:
    """A table of a run.

    Args:
        rows: Returns what there is a row for.
    """

    title: str
    rows: Callable[[ShownRun, RunRecord], Iterable[Any]]
    fields: Sequence[Field]
    empty: str = "The record tells of none."


def _cell(outcome: Outcome) -> Cell:
    return Cell(outcome.value, outcome.value.replace("_", " "), mark=outcome_mark(outcome))


def _used(key: str, head: str, *names: str) -> Field:
    """Return a column of the medians of a metric; of several, of their sum."""

    def sum_of(one: Repetition) -> float | None:
        values = [one.used.get(name) for name in names or (key,)]
        return None if None in values else sum(value for value in values if value is not None)

    kind = SECONDS if key.endswith("_s") else BYTES
    return key, head, kind, lambda step: middle(map(sum_of, step.measured))


def _why(step: StepRecord) -> str:
    return step.reason or "" if step.outcome is Outcome.COMPLETED else why_step_failed(step)


_STEPS: Sequence[Field] = (
    ("index", "No.", NUMBER, lambda step: step.index),
    ("step", "Step", TEXT, lambda step: step.name),
    ("resource", "Resource", TEXT, lambda step: step.resource),
    ("command", "Command", TEXT, lambda step: step.command),
    ("outcome", "Outcome", TEXT, lambda step: _cell(step.outcome)),
    ("median_s", "Median", SECONDS, lambda step: middle(step.durations_s)),
    ("repetitions", "N", NUMBER, lambda step: len(step.measured)),
    ("attempts", "Attempts", NUMBER, lambda step: len(step.attempts)),
    _used("resource_cpu_s", "CPU"),
    _used("resource_memory_peak_bytes", "Memory peak"),
    _used("resource_process_peak_rss_bytes", "Largest process"),
    _used("host_cpu_s", "CPU of host", "host_cpu_user_s", "host_cpu_system_s"),
    _used("host_memory_used_bytes", "Memory of host"),
    _used("host_disk_read_bytes", "Disk read"),
    _used("host_disk_write_bytes", "Disk written"),
    _used("host_network_received_bytes", "Received"),
    _used("host_network_sent_bytes", "Sent"),
    ("suspect", "Suspect", LONG, lambda step: Cell("; ".join(step.suspect), mark="doubtful")),
    ("reason", "Why", LONG, _why),
)
_ATTEMPTS: Sequence[Field] = (
    ("index", "No.", NUMBER, lambda one: one[0].index),
    ("step", "Step", TEXT, lambda one: one[0].name),
    ("attempt", "Attempt", NUMBER, lambda one: one[1].number),
    ("outcome", "Outcome", TEXT, lambda one: _cell(one[1].outcome)),
    ("start_s", "Began after", SECONDS, lambda one: one[1].start_s),
    ("duration_s", "Took", SECONDS, lambda one: one[1].end_s - one[1].start_s),
    ("repetitions", "Repetitions", NUMBER, lambda one: len(one[1].repetitions)),
    ("error_type", "Error", TEXT, lambda one: one[1].error and one[1].error.type),
    ("error", "What it said", LONG, lambda one: one[1].error and one[1].error.message),
)
_PHASES: Sequence[Field] = (
    ("resource", "Resource", TEXT, lambda one: one.resource),
    ("phase", "Phase", TEXT, lambda one: one.phase),
    ("step", "Step", NUMBER, lambda one: one.step),
    ("outcome", "Outcome", TEXT, lambda one: _cell(one.outcome)),
    ("start_s", "Began after", SECONDS, lambda one: one.start_s),
    ("duration_s", "Took", SECONDS, lambda one: one.duration_s),
    ("error", "Error", LONG, lambda one: one.error and one.error.message),
)
_RESOURCES: Sequence[Field] = (
    ("resource", "Resource", TEXT, lambda one: one[0]),
    ("version", "Version", TEXT, lambda one: one[1].get("version")),
    ("about", "Settings, image and digest", LONG, lambda one: _facts(one[1])),
)
#: Status of a finding to its mark, the worst first.
_STATUS = {"fail": "bad", "warn": "doubtful", "unknown": "quiet", "ok": "good"}


def _status(finding: Mapping[str, Json]) -> Cell:
    status = finding.get("status")
    return Cell(status, mark=_STATUS.get(str(status), "quiet"))


_FINDINGS: Sequence[Field] = (
    ("check", "Check", TEXT, lambda one: one.get("check")),
    ("status", "Status", TEXT, _status),
    ("finding", "Finding", LONG, lambda one: one.get("finding")),
    ("advice", "Advice", LONG, lambda one: one.get("advice")),
)


def findings_table(title: str, record: RunRecord, href: str) -> DataTable:
    """Return a row for each finding before a run, what is wrong first."""
    empty = "Nothing was looked at before this run."
    return table_of("checks", title, _FINDINGS, _by_status(record.preflight), href, empty=empty)


def _by_status(findings: Iterable[Mapping[str, Json]]) -> list[Mapping[str, Json]]:
    order = {status: place for place, status in enumerate(_STATUS)}
    return sorted(findings, key=lambda one: order.get(str(one.get("status")), 0))


def _size(output: Mapping[str, Json]) -> int | None:
    size = output.get("bytes")
    return size if isinstance(size, int) else None


def _digest(output: Mapping[str, Json]) -> Cell:
    digest = output.get("sha256")
    return Cell(digest, str(digest)[:16] if digest else None)


_OUTPUTS: Sequence[Field] = (
    ("path", "File", TEXT, lambda one: Cell(str(one[1].get("path")), href=one[0])),
    ("bytes", "Size", BYTES, lambda one: _size(one[1])),
    ("sha256", "SHA-256", TEXT, lambda one: _digest(one[1])),
)
_ENVIRONMENT: Sequence[Field] = (
    ("fact", "Fact", TEXT, lambda one: one[0]),
    ("value", "Value", LONG, lambda one: one[1]),
)


def file_address(shown: ShownRun, path: str) -> str:
    """Return the address of a file of the run."""
    return f"/run/{shown.entry.id}/file/{quoted(path, errors='replace')}"


def _outputs(shown: ShownRun, record: RunRecord) -> Iterable[tuple[str, Mapping[str, Json]]]:
    return ((file_address(shown, str(one.get("path"))), one) for one in record.outputs)


def _environment(_: ShownRun, record: RunRecord) -> Iterable[tuple[str, Value]]:
    yield from _flat(record.environment, "")
    yield from ((f"subject.{name}", text) for name, text in _flat(record.subject, ""))
    for name, value in record.variables.items():
        yield f"${name}", Cell(value, "not recorded" if value is None else None)


def _facts(facts: Mapping[str, Json]) -> str:
    others = {name: value for name, value in facts.items() if name != "version"}
    return "; ".join(f"{name}: {text}" for name, text in _flat(others, "") if text != "")


def _flat(facts: Mapping[str, Json], before: str, depth: int = 1) -> Iterable[tuple[str, str]]:
    for name, value in facts.items():
        if isinstance(value, dict) and depth < _DEEPEST:
            yield from _flat(value, f"{before}{name}.", depth + 1)
        else:
            texts = value if isinstance(value, list) else [value]
            yield f"{before}{name}", ", ".join("" if one is None else str(one) for one in texts)


_TABLES = {
    "steps": _RunTable("Steps", lambda _, record: record.steps, _STEPS),
    "attempts": _RunTable(
        "Attempts",
        lambda _, record: ((step, one) for step in record.steps for one in step.attempts),
        _ATTEMPTS,
    ),
    "phases": _RunTable("Phases", lambda _, record: record.phases, _PHASES),
    "outputs": _RunTable("Outputs", _outputs, _OUTPUTS, "The run left no files."),
    "resources": _RunTable(
        "Resources",
        lambda _, record: (one for one in record.resources.items() if isinstance(one[1], dict)),
        _RESOURCES,
    ),
    "preflight": _RunTable(
        "Checks before the run", lambda _, record: _by_status(record.preflight), _FINDINGS
    ),
    "environment": _RunTable("Environment", _environment, _ENVIRONMENT),
}


def _made(name: str, table: _RunTable) -> Callable[[ShownRun], DataTable]:
    def make(shown: Shown) -> DataTable:
        record = shown.record
        things = table.rows(shown, record) if record else ()
        said, href = table.empty if record else shown.reason, f"/run/{shown.entry.id}/{name}"
        return table_of(name, table.title, table.fields, things, href, empty=said)

    return make


#: Last part of an address to what makes the table there.
TABLES = {name: _made(name, table) for name, table in _TABLES.items()}


def on_page(table: DataTable, most: int) -> DataTable:
    """Return the first rows of a table, and the columns that tell anything."""
    return table.hiding_unknown().first(most, " rows are in the whole table: CSV or JSON.")
