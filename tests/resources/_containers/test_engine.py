"""The engine: its errors, images that are not to be had, and an engine that hangs."""

import threading
from pathlib import Path
from typing import Any

import docker.errors
import pytest
import requests

from resources._containers import container_set
from resources._containers.container_set import ContainerSet
from resources._containers.engine import EngineError, NotThereError, ensure_image, telling


class Api:
    """An engine that has nothing, and pulls as it is told."""

    def __init__(self, *events: dict[str, Any]) -> None:
        self.events = events

    def inspect_image(self, name: str) -> Any:
        raise docker.errors.ImageNotFound(f"no such image: {name}")

    def pull(self, _: str, **__: Any) -> Any:
        return iter(self.events)


def client(api: Any) -> Any:
    return type("Client", (), {"api": api})


def test_progress_is_told_in_a_few_lines() -> None:
    total = 100_000_000
    events = [
        {"status": "Downloading", "id": layer, "progressDetail": {"current": at, "total": total}}
        for at in range(0, total + 1, total // 100)
        for layer in ("a", "b")
    ]
    said: list[str] = []
    ensure_image(client(Api(*events)), "x", said.append)
    assert said[0] == "image x: pulling"
    assert said[-1] == "image x: pulled"
    assert 4 <= len(said) <= 7
    assert any("50 % of 200 MB" in line for line in said)


def test_an_error_in_the_middle_of_a_pull_is_told_with_the_way_out() -> None:
    api = Api({"status": "Pulling"}, {"error": "no space left on device"})
    with pytest.raises(EngineError, match=r"'x:1' is not here.*no space left.*docker pull x:1"):
        ensure_image(client(api), "x:1", lambda _: None)


def test_errors_of_the_library_become_sentences() -> None:
    cases: list[tuple[Exception, type[EngineError], str]] = [
        (docker.errors.NotFound("x", explanation="no such x."), NotThereError, "doing: no such x"),
        (docker.errors.APIError("x", explanation="port taken"), EngineError, "doing: port taken"),
        (requests.ReadTimeout("slow"), EngineError, "does not answer"),
        (ConnectionResetError("reset"), EngineError, "does not answer"),
    ]
    for error, kind, words in cases:
        with pytest.raises(kind, match=words), telling("doing"):
            raise error


# -- one that hangs


def test_nobody_waits_for_a_hanging_engine_once_more_for_each_container(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    all_are_killed = threading.Barrier(3, timeout=30)

    class Live:
        def __init__(self, *_: object) -> None:
            self.kill = all_are_killed.wait

    monkeypatch.setattr(container_set, "LiveContainer", Live)
    monkeypatch.setattr(container_set, "connect", lambda: None)
    containers = ContainerSet("x", "no-such-label", {}, lambda: None)
    spec: Any = None
    for _ in range(all_are_killed.parties):
        containers.create(spec, Path("out"), Path("err"))
    containers.abort()
    assert not all_are_killed.broken


def test_an_engine_that_did_not_answer_is_not_waited_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = [True, False, True]
    monkeypatch.setattr(container_set, "connect", lambda: type("Client", (), {"api": 0}))

    def answer(_: object) -> bool:
        return said.pop(0)

    monkeypatch.setattr(container_set, "answers", answer)
    containers = ContainerSet("x", "no-such-label", {}, lambda: None)
    assert [containers.engine_answers() for _ in range(3)] == [True, False, False]
