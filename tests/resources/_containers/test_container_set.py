"""Containers that are ended together, at an engine that hangs."""

import threading
from pathlib import Path
from typing import Any

import pytest

from resources._containers import container_set
from resources._containers.container_set import ContainerSet


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
