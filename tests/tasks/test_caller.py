"""What a command knows of the end of its flow runs, and what the next one tells of it."""

import json
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from prefect.states import Completed

from benchyard.core import places
from tasks import caller
from tasks.caller import Caller


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(places.HOME, str(tmp_path))
    folder = tmp_path / "flow-runs"
    folder.mkdir()
    return folder


def notes(folder: Path) -> list[dict[str, str]]:
    return [json.loads(file.read_text()) for file in folder.glob("*.json")]


def test_a_note_says_whose_it_is_and_how_it_ended(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow_run = str(uuid4())
    monkeypatch.setattr(caller, "flow_run_id", lambda: flow_run)
    command = Caller()
    command.begin()
    (first,) = notes(own_home)
    end = Completed(message="3 runs done")
    command.untold(end)
    (last,) = notes(own_home)
    end.state_details.flow_run_id = UUID(flow_run)
    command.told(end)

    assert set(first) == {"server", "owner"}
    assert (last["type"], last["message"]) == ("COMPLETED", "3 runs done")
    assert notes(own_home) == []


@pytest.mark.parametrize("text", ["", "[]", "{", "\x00", '{"server": 1}'])
def test_what_is_no_note_of_this_server_is_left_alone(
    text: str, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caller, "our_client", pytest.fail)
    (own_home / f"{uuid4()}.json").write_text(text)
    monkeypatch.setattr(caller, "flow_run_id", lambda: str(uuid4()))
    Caller().begin()  # its process lives
    Caller(lambda: False).begin()  # another server

    Caller()

    assert text in [file.read_text() for file in own_home.iterdir()]
    assert len(list(own_home.iterdir())) == 3
