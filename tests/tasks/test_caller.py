"""What a command knows of the end of its flow runs, and what the next one tells of it."""

import json
from pathlib import Path
from uuid import uuid4

import pytest
from prefect.states import Completed

from benchyard.core import places
from tasks import orphans
from tasks.orphans import OrphanNote, close_orphans, folder


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(places.HOME, str(tmp_path))


def notes() -> list[dict[str, str]]:
    return [json.loads(file.read_text()) for file in folder().glob("*.json")]


def test_a_note_says_whose_it_is_and_how_it_ended() -> None:
    note = OrphanNote(str(uuid4()), "server")
    (first,) = notes()
    note.keep(Completed(message="3 runs done"))
    (last,) = notes()
    note.remove()

    assert set(first) == {"server", "owner"}
    assert (last["type"], last["message"]) == ("COMPLETED", "3 runs done")
    assert notes() == []


@pytest.mark.parametrize("text", ["", "[]", "{", "\x00", '{"server": 1}'])
def test_what_is_no_note_of_this_server_is_left_alone(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_client() -> None:
        raise AssertionError

    monkeypatch.setattr(orphans, "our_client", no_client)
    folder().mkdir(parents=True)
    file = folder() / f"{uuid4()}.json"
    file.write_text(text)
    OrphanNote(str(uuid4()), "another server")
    OrphanNote(str(uuid4()), "this server")  # its process lives

    close_orphans("this server")

    assert file.read_text() == text
    assert len(list(folder().iterdir())) == 3
