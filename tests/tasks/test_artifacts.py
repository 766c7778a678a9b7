"""Artifacts on a real server: kept, read back, updated; and a server that is of no help."""

import logging
import socket
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import httpx
import pytest
from prefect import flow
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterId
from prefect.client.schemas.objects import Artifact
from prefect.exceptions import PrefectHTTPStatusError
from prefect.settings import PREFECT_API_URL, temporary_settings

import tasks.artifacts
import tasks.prefect_internals
from tasks.artifacts import Showcase

Act = Callable[[Showcase], Any]


@pytest.fixture
def in_flow(prefect_server: str) -> Callable[[Act], Any]:
    """Show something from inside of a flow run; return what that returns."""
    del prefect_server

    def execute(act: Act) -> Any:
        answers: list[Any] = []

        @flow(name="showing", persist_result=False)
        def showing() -> str:
            answers.append(act(Showcase()))
            return "done"

        assert showing() == "done"
        return answers[0]

    return execute


def artifact(identifier: UUID) -> Artifact:
    chosen = ArtifactFilter(id=ArtifactFilterId(any_=[identifier]))
    with get_client(sync_client=True) as client:
        (found,) = client.read_artifacts(artifact_filter=chosen)
    return found


@pytest.fixture
def silent() -> Iterator[str]:
    """Listen where nobody ever answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/api"


@pytest.mark.slow
def test_page_and_table_are_kept_with_their_flow_run(in_flow: Callable[[Act], Any]) -> None:
    def act(showcase: Showcase) -> list[Any]:
        showcase.markdown("result-kept", "# words", "3 runs done")
        showcase.table("retry-table-kept", [{"Step": "load"}], "failures", {"a": "1 2"})
        return [showcase.latest([key]) for key in ("result-kept", "retry-table-kept")]

    ((page,), (table,)) = in_flow(act)

    assert (page.type, page.data, page.description) == ("markdown", "# words", "3 runs done")
    assert table.type == "table"
    assert table.metadata_ == {"a": "1 2"}
    assert page.flow_run_id is not None
    assert page.flow_run_id == table.flow_run_id


@pytest.mark.slow
def test_key_keeps_a_history_and_the_newest_is_the_latest(in_flow: Callable[[Act], Any]) -> None:
    def act(showcase: Showcase) -> list[Any]:
        for text in ("first", "second"):
            showcase.markdown("result-history", text, "")
        return showcase.latest(like="result-histor%")

    (latest,) = in_flow(act)
    assert latest.data == "second"


@pytest.mark.slow
def test_progress_is_updated_in_place(in_flow: Callable[[Act], Any]) -> None:
    def act(showcase: Showcase) -> UUID | None:
        made = showcase.progress("progress-words", 0.0, "run 1")
        assert made is not None
        showcase.update_progress(made, 33.333333, "run 2, <b>")
        return made

    shown = artifact(in_flow(act))
    assert (shown.data, shown.description) == (33.3, "run 2, \\<b\\>")


@pytest.mark.slow
def test_more_than_a_page_of_artifacts_is_found(
    in_flow: Callable[[Act], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks.prefect_internals, "PAGE", 2)

    def act(showcase: Showcase) -> set[str]:
        for number in range(5):
            showcase.table(f"paged-{number}", [], "")
        return {one.key for one in showcase.latest(like="paged-%")}

    assert in_flow(act) == {f"paged-{number}" for number in range(5)}


@pytest.mark.slow
@pytest.mark.parametrize("which", ["dead", "silent"])
def test_server_that_does_not_answer_is_asked_once_and_told_of_once(
    in_flow: Callable[[Act], Any],
    silent: str,
    which: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(tasks.artifacts, "SECONDS", 0.2)
    asked: list[Any] = []
    question = asked.append
    url = silent if which == "silent" else "http://127.0.0.1:9/api"

    def act(showcase: Showcase) -> UUID | None:
        with temporary_settings({PREFECT_API_URL: url}):
            made = showcase.progress("progress-never", 0.0, "")
            showcase.ask(question)
            showcase.ask(question)
            showcase.reopen()
            assert showcase.latest(["x"]) == []
            showcase.ask(question)
        return made

    with caplog.at_level(logging.WARNING, "tasks"):
        assert in_flow(act) is None
    assert asked == [], "after trouble nothing is asked"
    assert caplog.text.count("not shown in the UI") == 1


@pytest.mark.slow
def test_what_the_server_refuses_is_told_and_ends_nothing(
    in_flow: Callable[[Act], Any], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "tasks"):
        assert in_flow(lambda showcase: showcase.progress("No Such Key!", 1.0, "")) is None
    assert "not shown in the UI" in caplog.text


@pytest.mark.slow
def test_a_server_without_room_is_asked_again_soon(in_flow: Callable[[Act], Any]) -> None:
    """SQLite refuses what meets another writer."""
    asked: list[int] = []

    def question(_: SyncPrefectClient) -> str:
        asked.append(len(asked))
        if len(asked) < 3:
            request = httpx.Request("POST", "http://server/api/artifacts/")
            answer = httpx.Response(503, request=request)
            raise PrefectHTTPStatusError("busy", request=request, response=answer)
        return "shown"

    assert in_flow(lambda showcase: showcase.ask(question)) == "shown"
    assert len(asked) == 3


def test_outside_of_a_flow_run_nothing_is_shown() -> None:
    showcase = Showcase()
    assert showcase.progress("progress-x", 1.0, "") is None
    assert showcase.latest(["x"]) == []
