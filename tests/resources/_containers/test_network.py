"""The network of a run, and the accounts of its containers."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchyard.case.resource import Workspace
from benchyard.core.errors import CommandFailedError
from benchyard.process.cgroups import Cgroup
from resources._containers import expected_place, network, oom_kills, own_group
from resources._containers.engine import EngineError
from resources._containers.settings import ContainerSettings
from resources.stores import Oxigraph
from tests.resources.containers import asking, brought_up


@pytest.mark.parametrize("content", ["oom_kill 3\n", "low 0\noom_kill 3\n", "a b c\n", ""])
def test_kills_for_want_of_memory(tmp_path: Path, content: str) -> None:
    (tmp_path / "memory.events").write_text(content)
    assert oom_kills(Cgroup("/x", {"": tmp_path})) == (3 if "oom_kill" in content else 0)
    assert oom_kills(Cgroup("/x", {})) == 0


def test_a_group_is_expected_where_the_driver_makes_it() -> None:
    for driver, name in (("cgroupfs", "docker/abc"), ("systemd", "system.slice/docker-abc.scope")):
        place = expected_place("abc", driver)
        # Where no hierarchy of this system shows its root, no place is known.
        assert place is None or str(place).endswith(f"/{name}")
    assert expected_place("abc", "none") is None


def test_an_engine_elsewhere_is_never_taken_for_a_process_of_this_host() -> None:
    """The number of its process means another one here: this test's own, for instance."""
    for pid in (os.getpid(), None):
        assert own_group("f" * 64, pid) is None


def test_without_an_engine_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def connect() -> Any:
        raise EngineError("cannot use containers")

    monkeypatch.setattr(network, "connect", connect)
    assert network.addresses({"benchyard.run": "1"}) == {}


@pytest.mark.requires("docker", "image:oxigraph")
@pytest.mark.slow
def test_a_case_may_name_a_port_of_this_host(workspace: Workspace) -> None:
    place = replace(workspace, ports=frozenset({7878}))
    store = Oxigraph(ContainerSettings(image="benchyard-test/oxigraph"), place)
    with brought_up(store), asking(place) as query:
        for host in ("localhost", "Oxigraph", "127.0.0.1"):
            asked = query.execute_and_save("ASK {}", f"http://{host}:7878/query", "a.json")
            assert asked.verified().values["boolean"] is True
        with pytest.raises(CommandFailedError, match="does not answer"):
            query.execute_and_save("ASK {}", "http://Fuseki:7878/query", "a.json")
