"""Where the account of a container is, and what it says of kills for want of memory."""

import os
from pathlib import Path
from typing import Any

import pytest

from benchyard.process.cgroups import Cgroup
from resources._containers.container_environment import (
    ContainerEnvironment,
    expected_place,
    oom_kills,
)


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


class Alike:
    """A container as far as its account is concerned."""

    def __init__(self, pid: int | None) -> None:
        self.id = "f" * 64
        self._pid = pid

    def pid(self) -> int | None:
        return self._pid


def test_an_engine_elsewhere_is_never_taken_for_a_process_of_this_host() -> None:
    """The number of its process means another one here: this test's own, for instance."""
    for pid in (os.getpid(), None):
        environment = ContainerEnvironment({})
        container: Any = Alike(pid)
        assert environment.account_for(container) is None
        assert environment.groups([container]) == []
