"""The control case: that it is copied, executed, and found."""

import json
import os
from pathlib import Path

import pytest

from benchyard.cli.executing import execute_plainly
from benchyard.core.errors import InputError
from benchyard.results.campaigns import earlier_campaigns, read_campaign
from benchyard.results.folders import Results
from benchyard.run.control import control_request, is_controlled
from tasks.parameters import open_case


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.mark.slow
def test_it_is_executed_in_the_labs_folder_alone(home: Path, tmp_path: Path) -> None:
    asked = control_request()
    executed = execute_plainly(open_case(asked), asked)
    assert (executed.done, executed.failed) == ((1, 2, 3, 4, 5, 6), ())
    results = home / "control" / os.uname().nodename
    record = read_campaign(results).records[1]
    assert [one.name for one in record.steps] == ["cpu", "memory", "disk"]
    assert {one.name for one in tmp_path.iterdir()} == {"home"}
    assert not is_controlled("another suite")
    again = control_request()
    execute_plainly(open_case(again), again)
    assert len(earlier_campaigns(results)) == 1
    assert [*Results(results).done()] == [1, 2, 3, 4, 5, 6]


def test_another_version_of_the_case_is_replaced(home: Path) -> None:
    case = Path(control_request().case)
    files = [case / "metadata.json", case / "data" / "shared" / "work.py"]
    shipped = [one.read_bytes() for one in files]
    assert json.loads(shipped[0])["name"] == "control"
    for one in files:
        one.write_text("old")
    unchanged = home / "control" / "mine"
    unchanged.touch()
    control_request()
    assert [one.read_bytes() for one in files] == shipped
    assert unchanged.exists()


def test_a_home_that_cannot_be_written_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "file"))
    with pytest.raises(OSError, match="file"):
        control_request()
    monkeypatch.setenv("BENCHYARD_HOME", "https://example.org")
    with pytest.raises(InputError):
        control_request()
