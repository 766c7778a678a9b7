"""The flow that publishes, through a real Prefect server."""

from pathlib import Path
from typing import Any, cast

import pytest
from prefect import State

from benchyard.core.places import spool_of
from benchyard.publish.spool import put
from flows.publish import publish
from tests.benchyard.publish.conftest import names, write
from tests.conftest import RECORDED, eventually
from tests.flows.conftest import ask, flow_run_of

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("prefect_server")]

DOCUMENT = '{"name": "t", "startTime": "1700000000", "entries": {"entry": []}}'


def run(**parameters: Any) -> State[Any]:
    return cast("State[Any]", publish(**parameters, return_state=True))


def test_what_waits_is_published(home: Path) -> None:
    put(spool_of("local"), "a.json", DOCUMENT.encode())
    state = run()
    assert state.is_completed()
    assert state.message == "local: 1 published"
    assert names(home / "archive" / "local") == ["a.json"]
    assert eventually(lambda: "publish/local" in task_runs(state), RECORDED)


def task_runs(state: State[Any]) -> list[str]:
    chosen = {"flow_runs": {"id": {"any_": [flow_run_of(state)]}}}
    return [run["name"] for run in ask("/task_runs/filter", chosen)]


def test_what_was_rejected_fails_the_flow_run(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    write(folder / "a.json", '{"entries"')
    state = run(datadir=str(folder), archivedir="memory://flow", compress="gz", retries=0)
    assert state.is_failed()
    assert state.message == "local: 1 rejected"


def test_what_was_rejected_is_offered_again(home: Path) -> None:
    rejected = spool_of("local") / "rejected"
    rejected.mkdir(parents=True)
    write(rejected / "a.json", DOCUMENT)
    assert run().message == "local: nothing waits"
    assert run(again=True).message == "local: 1 published"
    assert names(home / "archive" / "local") == ["a.json"]


def test_the_form_in_the_ui_offers_what_there_is() -> None:
    schema = publish.parameters.model_dump()
    assert [*schema["properties"]] == [
        *("sinks", "datadir", "archivedir", "compress", "retries", "again")
    ]
    assert schema["properties"]["compress"]["enum"] == ["none", "gz", "zst"]
    assert schema["properties"]["sinks"]["items"] == {"type": "string"}
    assert all(one["title"] for one in schema["properties"].values())
    assert "description" in schema["properties"]["archivedir"]
