"""The facts of a record that do not depend on how the run went, and writing it down."""

from collections.abc import Mapping
from pathlib import Path

from benchyard.environment import case_info
from benchyard.files import write_atomically
from benchyard.model import Case, Json
from benchyard.record import RunRecord, write_record

CASE_INFO = "case-info.txt"


def case_facts(case: Case, case_hash: str) -> dict[str, Json]:
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


def resource_facts(case: Case, versions: Mapping[str, Json]) -> dict[str, Json]:
    """Return version and settings of each resource; secrets stand there as references."""
    return {
        name: {"version": version, "settings": dict(case.settings.get(name, {}))}
        for name, version in versions.items()
    }


def write_down(folder: Path, case: Case, record: RunRecord) -> None:
    """Write ``run.json`` and KROWN's ``case-info.txt``."""
    write_record(folder, record)
    environment = dict(record.environment)
    steps = len(case.steps)
    info = case_info(case.title, case.folder, record.run, steps, environment, record.started_at)
    write_atomically(folder / CASE_INFO, info)
