"""Control groups of our own: where they can be, where not, and what becomes of those left."""

import os
from pathlib import Path
from typing import Any

import pytest

from benchyard.cgroups import Cgroup, cgroup_of
from benchyard.labels import this_owner
from resources._containers import owngroup
from resources._containers.ground import Ground
from resources._containers.owngroup import PREFIX, OwnGroup, oom_kills, own_group, remove_left


def roots(monkeypatch: pytest.MonkeyPatch, *folders: Path) -> None:
    """Let there be hierarchies of these folders, and no others."""
    lines = [f"1 1 0:1 / {folder} rw - cgroup cgroup rw,memory" for folder in folders]
    file = folders[0].parent / "mountinfo"
    file.write_text("\n".join([*lines, "2 1 0:1 / /x rw - ext4 /dev/x rw", "garbage"]))
    monkeypatch.setattr(owngroup, "_MOUNTS", file)


def test_systemd_makes_its_groups_itself() -> None:
    assert own_group("1:2:3", "word", "systemd") is None


def test_without_the_right_to_make_groups_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.mkdir()
    roots(monkeypatch, first, second)  # the second is not there: making a group in it fails
    assert own_group("1:2:3", "word", "cgroupfs") is None
    assert list(first.iterdir()) == [], "half of a group was left"


def test_without_hierarchies_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owngroup, "_MOUNTS", tmp_path / "none")
    assert own_group("1:2:3", "word", "cgroupfs") is None
    assert remove_left() == []


def test_groups_of_dead_labs_are_removed_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "memory"
    dead, foreign = f"{PREFIX}1-2-3-word", f"{PREFIX}mine"
    alive = f"{PREFIX}{this_owner().replace(':', '-')}-word"
    for name in (f"{dead}/below/deeper", alive, foreign, "docker", "x-" + dead):
        (root / name).mkdir(parents=True)
    roots(monkeypatch, root)
    assert remove_left(lambda owner: owner != "1:2:3") == [f"control group {dead}"]
    assert {path.name for path in root.iterdir()} == {alive, foreign, "docker", "x-" + dead}


def test_a_group_elsewhere_is_not_ours(tmp_path: Path) -> None:
    made: Any = object.__new__(OwnGroup)
    made.cgroup = Cgroup("/ours", {"memory": tmp_path / "m/ours", "cpu": tmp_path / "c/ours"})
    inside = Cgroup("/ours/x", {"memory": tmp_path / "m/ours/x"})
    outside = Cgroup("/x", {"memory": tmp_path / "m/ours/x", "cpu": tmp_path / "c/x"})
    assert made.holds(inside)
    assert not made.holds(outside)


@pytest.mark.parametrize("content", ["oom_kill 3\n", "low 0\noom_kill 3\n", "a b c\n", ""])
def test_kills_for_want_of_memory(tmp_path: Path, content: str) -> None:
    (tmp_path / "memory.events").write_text(content)
    assert oom_kills(Cgroup("/x", {"": tmp_path})) == (3 if "oom_kill" in content else 0)
    assert oom_kills(Cgroup("/x", {})) == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes control groups")
def test_a_real_group_is_made_and_removed() -> None:
    made = own_group(this_owner(), "test", "cgroupfs")
    if made is None:
        pytest.skip("no control groups can be made here")
    assert made.cgroup.name == made.parent
    assert not made.was_used()
    assert not made.holds(cgroup_of(os.getpid()))
    made.remove()
    assert not any(folder.exists() for folder in made.cgroup.folders.values())
    made.remove()


class Alike:
    """A container as far as its account is concerned."""

    def __init__(self, pid: int | None) -> None:
        self.id = "f" * 64
        self._pid = pid

    def pid(self) -> int | None:
        return self._pid


def ground_with(own: Any) -> Any:
    ground: Any = Ground({}, "word")
    ground._own = own
    return ground


class Own:
    """A group of ours that may have been used."""

    cgroup = Cgroup("/ours", {})
    parent = "/ours"

    def __init__(self, *, used: bool) -> None:
        self._used = used
        self.removed = False

    def was_used(self) -> bool:
        return self._used

    def remove(self) -> None:
        self.removed = True


def test_an_engine_elsewhere_is_never_taken_for_a_process_of_this_host() -> None:
    """The number of its process means another one here: this test's own, for instance."""
    own = Own(used=False)
    ground = ground_with(own)
    container: Any = Alike(os.getpid())
    ground.account_for(container)
    assert own.removed
    assert ground.groups([container]) == []
    assert ground.cgroup_parent is None


@pytest.mark.parametrize("used", [True, False])
def test_a_container_that_ended_at_once_is_told_by_what_it_used(*, used: bool) -> None:
    own = Own(used=used)
    ground = ground_with(own)
    ground.account_for(Alike(None))
    assert ground.groups([]) == ((own.cgroup,) if used else [])
    assert own.removed is not used
