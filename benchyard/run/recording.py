"""The facts of a record that do not depend on how the run went, and writing it down."""

from collections.abc import Callable, Mapping
from pathlib import Path

from benchyard.core.files import write_atomically
from benchyard.core.model import Case, Json
from benchyard.host.facts import case_info
from benchyard.process.child_environment import told
from benchyard.results.events.lines import dump
from benchyard.results.events.making import events_of
from benchyard.results.folders import RunFolder
from benchyard.results.record import RunRecord, write_record


def case_facts(case: Case, case_hash: Json) -> dict[str, Json]:
    """Return what identifies a case in a record."""
    return {
        "name": case.name,
        "title": case.title,
        "id": case.id,
        "description": case.description,
        "tags": list(case.tags),
        "point": dict(case.point),
        "hash": case_hash,
        "folder": str(case.folder),
    }


def resource_facts(case: Case, told: Mapping[str, Mapping[str, Json]]) -> dict[str, Json]:
    """Return what each resource told, and its settings; secrets stand there as references.

    One that has a name of its own says its class.
    """
    own = {name: {"class": found} for name, found in case.classes.items()}
    return {
        name: {**own.get(name, {}), **facts, "settings": dict(case.settings.get(name, {}))}
        for name, facts in told.items()
    }


def variable_facts(redact: Callable[[str], str]) -> dict[str, Json]:
    """Return the variables that the run's programs inherit, as a record tells of them."""
    return {name: value and redact(value) for name, value in told().items()}


def write_down(folder: Path, case: Case, record: RunRecord) -> None:
    """Write ``run.json``, the same as events, and KROWN's ``case-info.txt``."""
    write_record(folder, record)
    write_atomically(RunFolder(folder).events, dump(events_of(record)))
    environment = dict(record.environment)
    steps = len(case.steps)
    info = case_info(case.title, case.folder, record.run, steps, environment, record.started_at)
    write_atomically(RunFolder(folder).case_info, info)
