"""The head of a run's page: what it was, where, of what, and where more is."""

from collections.abc import Iterator
from urllib.parse import quote as quoted

from benchyard.analysis.failure_tables import retry_command
from benchyard.core.model import Json, Outcome
from benchyard.core.quantity import day_and_time, duration
from benchyard.results.record import RunRecord
from benchyard.results.subject import about
from benchyard.web.explorer import Explorer
from benchyard.web.runs import ShownRun

#: A term, what is said of it, and where that leads.
Fact = tuple[str, str, str | None]
#: Most suspect steps that the head names.
_MOST_SUSPECT = 10


def facts(explorer: Explorer, shown: ShownRun) -> list[Fact]:
    """Return what the head tells, without what is not known."""
    return [fact for fact in (*_when_and_where(shown), *_of_what(explorer, shown)) if fact[1]]


def _when_and_where(shown: ShownRun) -> Iterator[Fact]:
    entry, record = shown.entry, shown.record
    host = str(record.environment.get("host") or "") if record else entry.host
    length = record.duration_s if record else entry.duration_s
    yield "Began (UTC)", day_and_time(entry.started_s) if entry.started_s else "", None
    yield "Took", duration(length) if length else "", None
    yield "Host", host, f"/testbed/{_quoted(host)}"
    yield "Host quality", entry.host_quality, None
    yield "Folder", entry.path, None


def _of_what(explorer: Explorer, shown: ShownRun) -> Iterator[Fact]:
    record = shown.record
    if record is None:
        return
    yield "Commit", _commit(record), None
    yield "Versions", ", ".join(_versions(record)), None
    yield "Measured", about(record.subject) if record.subject else "", None
    yield "Tags", _tags(record.case.get("tags")), None
    name, identity = record.flow_run.get("name"), record.flow_run.get("id")
    if name or identity:
        yield "Flow run", str(name or identity), _flow_run(explorer, identity)
    if record.outcome not in (Outcome.COMPLETED, Outcome.TOLERATED):
        yield "Go on with", retry_command(record.flow_run), None
    if record.tries:
        yield "Tried before", str(len(record.tries)), None
    yield "Benchyard", record.benchyard_version, None


def _commit(record: RunRecord) -> str:
    found = record.commit
    if found is None:
        return ""
    return found[0] + (", with changes that were not committed" if found[1] else "")


def _versions(record: RunRecord) -> Iterator[str]:
    for name, told in record.resources.items():
        version = told.get("version") if isinstance(told, dict) else None
        if version:
            yield f"{name} {version}"


def _tags(tags: Json) -> str:
    return ", ".join(map(str, tags)) if isinstance(tags, list) else ""


def _flow_run(explorer: Explorer, identity: Json) -> str | None:
    if not (explorer.prefect_ui and identity):
        return None
    return f"{explorer.prefect_ui.rstrip('/')}/runs/flow-run/{_quoted(str(identity))}"


def _quoted(text: str) -> str:
    # What is no Unicode is in the catalogue as escapes.
    return quoted(text, safe="", errors="backslashreplace")


def suspicions(record: RunRecord) -> list[str]:
    """Return which steps are suspect, and why."""
    said = [
        f"{step.index} {step.name}: {'; '.join(step.suspect)}"
        for step in record.steps
        if step.suspect
    ]
    more = [f"and {len(said) - _MOST_SUSPECT} more steps"] if len(said) > _MOST_SUSPECT else []
    return said[:_MOST_SUSPECT] + more
