"""The flow that publishes, through a real Prefect server."""

from pathlib import Path
from typing import Any, cast

import pytest
from prefect import State
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId

from benchyard.core.places import spool_of
from benchyard.publish.spool import put
from flows.publish import publish
from tests.benchyard.publish.conftest import names, write
from tests.conftest import RECORDED, eventually

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("prefect_server")]

DOCUMENT = '{"name": "t", "startTime": "1700000000", "entries": {"entry": []}}'


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


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
    flow_run = state.state_details.flow_run_id
    assert flow_run is not None
    one = FlowRunFilter(id=FlowRunFilterId(any_=[flow_run]))
    with get_client(sync_client=True) as client:
        return [run.name for run in client.read_task_runs(flow_run_filter=one)]


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
