"""What a record tells, as tables."""

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import quote as quoted

from benchyard.core.model import Json, Outcome
from benchyard.core.quantity import amount
from benchyard.core.table import LONG, NUMBER, SECONDS, Cell, Column, Row
from benchyard.results.reasons import why_step_failed
from benchyard.results.record import Attempt, Repetition, StepRecord
from benchyard.results.summary_metrics import unit_and_direction
from benchyard.statistics.measures import median_of_sorted
from benchyard.web.rendering import outcome_mark
from benchyard.web.runs import Shown, ShownRun
from benchyard.web.tables import DataTable

#: Key of a column to its head and the metrics that it is the sum of.
_USED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "resource_cpu_s": ("CPU", ("resource_cpu_s",)),
    "resource_memory_peak_bytes": ("Memory peak", ("resource_memory_peak_bytes",)),
    "resource_process_peak_rss_bytes": ("Largest process", ("resource_process_peak_rss_bytes",)),
    "host_cpu_s": ("CPU of host", ("host_cpu_user_s", "host_cpu_system_s")),
    "host_memory_used_bytes": ("Memory of host", ("host_memory_used_bytes",)),
    "host_disk_read_bytes": ("Disk read", ("host_disk_read_bytes",)),
    "host_disk_write_bytes": ("Disk written", ("host_disk_write_bytes",)),
    "host_network_received_bytes": ("Received", ("host_network_received_bytes",)),
    "host_network_sent_bytes": ("Sent", ("host_network_sent_bytes",)),
}
#: Deeper facts of a host are written as JSON.
_DEEPEST = 4


def outcome_cell(outcome: Outcome) -> Cell:
    """Return an outcome in its colour."""
    return Cell(outcome.value, outcome.value.replace("_", " "), mark=outcome_mark(outcome))


def _figure(value: float | None, metric: str) -> Cell:
    return Cell(value, None if value is None else amount(value, unit_and_direction(metric)[0]))


def _said(text: str | None) -> Cell:
    return Cell(text, text or "")


def _median(values: Iterable[float | None]) -> float | None:
    known = sorted(value for value in values if value is not None)
    return median_of_sorted(known) if known else None


def _table(
    shown: ShownRun,
    name: str,
    caption: str,
    columns: Sequence[Column],
    rows: Sequence[Row],
    empty: str = "The record tells of none.",
) -> DataTable:
    said = shown.reason if shown.record is None else empty
    href = f"/run/{shown.entry.id}/{name}"
    return DataTable(name, caption, columns, rows, href, empty=said)


def steps_table(shown: Shown) -> DataTable:
    """Return a row for each step: its outcome, and the medians over its measured repetitions."""
    columns = [
        Column("index", "No.", NUMBER),
        Column("step", "Step"),
        Column("resource", "Resource"),
        Column("command", "Command"),
        Column("outcome", "Outcome"),
        Column("median_s", "Median", NUMBER),
        Column("repetitions", "N", NUMBER),
        Column("attempts", "Attempts", NUMBER),
        *(Column(key, head, NUMBER) for key, (head, _) in _USED.items()),
        Column("suspect", "Suspect", LONG),
        Column("reason", "Why", LONG),
    ]
    rows = [_step(step) for step in shown.record.steps] if shown.record else []
    return _table(shown, "steps", "Steps", columns, rows)


def _step(step: StepRecord) -> Row:
    measured = step.measured
    suspect = "; ".join(step.suspect)
    broken = step.outcome is not Outcome.COMPLETED
    why = why_step_failed(step) if broken else step.reason or ""
    return [
        step.index,
        step.name,
        step.resource,
        step.command,
        outcome_cell(step.outcome),
        _figure(_median(step.durations_s), "duration_s"),
        len(measured),
        len(step.attempts),
        *(
            _figure(_median(_used(one, names) for one in measured), key)
            for key, (_, names) in _USED.items()
        ),
        Cell(suspect, mark="doubtful"),
        why,
    ]


def _used(one: Repetition, names: Sequence[str]) -> float | None:
    values = [one.used.get(name) for name in names]
    return None if None in values else sum(value for value in values if value is not None)


def attempts_table(shown: Shown) -> DataTable:
    """Return a row for each attempt of each step."""
    columns = [
        Column("index", "No.", NUMBER),
        Column("step", "Step"),
        Column("attempt", "Attempt", NUMBER),
        Column("outcome", "Outcome"),
        Column("start_s", "Began after", SECONDS),
        Column("duration_s", "Took", SECONDS),
        Column("repetitions", "Repetitions", NUMBER),
        Column("error_type", "Error"),
        Column("error", "What it said", LONG),
    ]
    steps = shown.record.steps if shown.record else ()
    rows = [_attempt(step, one) for step in steps for one in step.attempts]
    return _table(shown, "attempts", "Attempts", columns, rows)


def _attempt(step: StepRecord, one: Attempt) -> Row:
    return [
        step.index,
        step.name,
        one.number,
        outcome_cell(one.outcome),
        _figure(one.start_s, "start_s"),
        _figure(one.end_s - one.start_s, "duration_s"),
        len(one.repetitions),
        _said(one.error and one.error.type),
        _said(one.error and one.error.message),
    ]


def phases_table(shown: Shown) -> DataTable:
    """Return a row for each start, stop and other phase of a resource."""
    columns = [
        Column("resource", "Resource"),
        Column("phase", "Phase"),
        Column("step", "Step", NUMBER),
        Column("outcome", "Outcome"),
        Column("start_s", "Began after", SECONDS),
        Column("duration_s", "Took", SECONDS),
        Column("error", "Error", LONG),
    ]
    rows = [
        [
            one.resource,
            one.phase,
            one.step,
            outcome_cell(one.outcome),
            _figure(one.start_s, "start_s"),
            _figure(one.duration_s, "duration_s"),
            _said(one.error and one.error.message),
        ]
        for one in (shown.record.phases if shown.record else ())
    ]
    return _table(shown, "phases", "Phases", columns, rows)


def outputs_table(shown: Shown) -> DataTable:
    """Return a row for each file that was kept."""
    columns = [Column("path", "File"), Column("bytes", "Size", NUMBER), Column("sha256", "SHA-256")]
    rows = [_output(shown, one) for one in (shown.record.outputs if shown.record else ())]
    return _table(shown, "outputs", "Outputs", columns, rows, "The run left no files.")


def _output(shown: ShownRun, one: Mapping[str, Json]) -> Row:
    path, size, digest = str(one.get("path")), one.get("bytes"), one.get("sha256")
    return [
        Cell(path, href=file_address(shown, path)),
        _figure(size if isinstance(size, int) else None, "size_bytes"),
        Cell(digest, str(digest)[:16] if digest else None),
    ]


def file_address(shown: ShownRun, path: str) -> str:
    """Return the address of a file of the run."""
    return f"/run/{shown.entry.id}/file/{quoted(path, errors='replace')}"


def resources_table(shown: Shown) -> DataTable:
    """Return a row for each resource: its version, settings, and what else it told."""
    columns = [
        Column("resource", "Resource"),
        Column("version", "Version"),
        Column("about", "Settings, image and digest", LONG),
    ]
    rows = [
        [name, facts.get("version"), _facts(facts)]
        for name, facts in (shown.record.resources.items() if shown.record else ())
        if isinstance(facts, dict)
    ]
    return _table(shown, "resources", "Resources", columns, rows)


def _facts(facts: Mapping[str, Json]) -> str:
    others = {name: value for name, value in facts.items() if name != "version"}
    return "; ".join(f"{name}: {text}" for name, text in _flat(others, "") if text != "")


FINDINGS = (
    Column("check", "Check"),
    Column("status", "Status"),
    Column("finding", "Finding", LONG),
    Column("advice", "Advice", LONG),
)
#: Status of a finding to its mark, the worst first.
_STATUS = {"fail": "bad", "warn": "doubtful", "unknown": "quiet", "ok": "good"}


def finding_rows(findings: Iterable[Mapping[str, Json]]) -> list[Row]:
    """Return a row for each finding, what is wrong first."""
    order = list(_STATUS)
    return [
        [
            one.get("check"),
            Cell(one.get("status"), mark=_STATUS.get(str(one.get("status")), "quiet")),
            one.get("finding"),
            one.get("advice"),
        ]
        for one in sorted(
            findings,
            key=lambda one: order.index(str(one["status"])) if one.get("status") in order else 0,
        )
    ]


def preflight_table(shown: Shown) -> DataTable:
    """Return a row for each finding of the checks before the run, what is wrong first."""
    rows = finding_rows(shown.record.preflight if shown.record else ())
    return _table(shown, "preflight", "Checks before the run", FINDINGS, rows)


def environment_table(shown: Shown) -> DataTable:
    """Return a row for each fact of the host, the subject, and the programs' environment."""
    columns = [Column("fact", "Fact"), Column("value", "Value", LONG)]
    record = shown.record
    facts: Mapping[str, Json] = {} if record is None else record.environment
    rows = [[name, text] for name, text in _flat(facts, "")]
    if record is not None:
        rows += [[f"subject.{n}", text] for n, text in _flat(record.subject, "")]
        rows += [
            [f"${name}", Cell(value, None if value is not None else "not recorded")]
            for name, value in record.variables.items()
        ]
    return _table(shown, "environment", "Environment", columns, rows)


def _flat(facts: Mapping[str, Json], before: str, depth: int = 1) -> Iterable[tuple[str, str]]:
    for name, value in facts.items():
        if isinstance(value, dict) and depth < _DEEPEST:
            yield from _flat(value, f"{before}{name}.", depth + 1)
        else:
            texts = value if isinstance(value, list) else [value]
            yield f"{before}{name}", ", ".join("" if one is None else str(one) for one in texts)


#: Last part of an address to what makes the table there.
TABLES = {
    "steps": steps_table,
    "attempts": attempts_table,
    "phases": phases_table,
    "outputs": outputs_table,
    "resources": resources_table,
    "preflight": preflight_table,
    "environment": environment_table,
}


def tables_on_page(shown: ShownRun, most: int) -> dict[str, DataTable]:
    """Return the tables for the page of their run, with so many rows at most."""
    return {name: on_page(make(shown), most) for name, make in TABLES.items()}


def on_page(table: DataTable, most: int) -> DataTable:
    """Return the first rows of a table, and the columns that tell anything."""
    return table.hiding_unknown().first(most, " rows are in the whole table: CSV or JSON.")
