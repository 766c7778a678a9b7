"""The stages as data: their names, and what comes after a case."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchyard.core.places import archive_of, spool_of
from benchyard.run.stages import Publication
from tests.benchyard.publish.conftest import names
from tests.benchyard.run.conftest import Lab, step


def test_what_is_done_is_uploaded_and_then_archived(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "home"))
    case = lab.case(step("a"))
    lab.execute(case, (1,))

    publication = Publication(replace(lab.setting(case), sinks=("local",)))

    publication.upload()
    assert len(names(spool_of("local"))) == 1
    publication.archive()
    assert names(spool_of("local")) == []
    assert len(names(archive_of("local"))) == 1
    publication.tell()
    assert not any("local" in str(event) for event in lab.events)


def test_without_a_sink_nothing_is_published(lab: Lab) -> None:
    case = lab.case(step("a"))
    lab.execute(case, (1,))

    assert not Publication(lab.setting(case)).runs
