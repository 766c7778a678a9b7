"""Networks and engines, without one."""

from typing import Any

import pytest

from resources._containers import engine, networks
from resources._containers.engine import EngineError, NotThereError, telling


class Api:
    """Keeps networks by name."""

    def __init__(self) -> None:
        self.there: list[str] = []

    def networks(self, names: list[str]) -> Any:
        # The engine finds parts of names, too.
        return [{"Id": n, "Name": n} for n in self.there if names[0] in n]

    def create_network(self, name: str, **_: Any) -> None:
        self.there.append(name)

    def remove_network(self, name: str) -> None:
        self.there.remove(name)


LABELS = {"benchyard.run": "1", "benchyard.owner": "x"}


def test_the_last_one_removes_the_network_of_a_run() -> None:
    api = Api()
    client: Any = type("Client", (), {"api": api})
    name = networks.ensure_network(client, LABELS)
    api.there.append(f"{name}-of-somebody-else")
    assert networks.ensure_network(client, LABELS) == name
    networks.leave_network(LABELS, client)
    assert name in api.there
    networks.leave_network(LABELS, client)
    assert api.there == [f"{name}-of-somebody-else"]


def test_names_of_networks_differ_between_runs() -> None:
    assert networks.network_name(LABELS) != networks.network_name({**LABELS, "benchyard.run": "2"})
    assert networks.network_name(LABELS) == networks.network_name(dict(reversed(LABELS.items())))


def test_errors_of_the_library_become_sentences() -> None:
    import docker.errors  # noqa: PLC0415
    import requests  # noqa: PLC0415

    cases: list[tuple[Exception, type[EngineError], str]] = [
        (docker.errors.NotFound("x", explanation="no such x."), NotThereError, "doing: no such x"),
        (docker.errors.APIError("x", explanation="port taken"), EngineError, "doing: port taken"),
        (requests.ReadTimeout("slow"), EngineError, "does not answer"),
        (ConnectionResetError("reset"), EngineError, "does not answer"),
    ]
    for error, kind, words in cases:
        with pytest.raises(kind, match=words), telling("doing"):
            raise error


def test_an_engine_that_is_not_there_leaves_no_socket(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    api: Any = type("Api", (), {"api_version": "1.41"})
    assert not engine.answers(api)
    with pytest.raises(EngineError, match="does not answer"):
        engine.connect()
