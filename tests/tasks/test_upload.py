"""The two tasks after a case."""

from pathlib import Path

import pytest

from benchyard.core.places import archive_of, spool_of
from tasks.archive import archive
from tasks.upload import upload
from tests.benchyard.publish.conftest import names
from tests.benchyard.publish.runs import finished_run


def test_uploaded_and_then_archived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "home"))
    run = finished_run(tmp_path / "results")
    uploaded = upload.fn([run], ["local"])
    assert len(names(spool_of("local"))) == 1
    (outcome,) = archive.fn(uploaded)
    assert outcome.is_clean
    assert names(spool_of("local")) == []
    assert len(names(archive_of("local"))) == 1


@pytest.mark.parametrize("task", [upload, archive])
def test_they_are_never_answered_from_a_cache(task: object) -> None:
    assert getattr(task, "persist_result", None) is False
