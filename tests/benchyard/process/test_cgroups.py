"""Which control group a process is in, on all kinds of systems."""

import os
from pathlib import Path

import pytest

from benchyard.core.errors import MeasurementError
from benchyard.process.cgroups import Cgroup, cgroup_of, own_levels

V1 = ("cpu,cpuacct", "memory", "pids")
DOCKER = "/docker/1f0c"


class System:
    """A system with control groups, written into a folder."""

    def __init__(self, folder: Path) -> None:
        self.proc = folder / "proc"
        self.top = folder / "sys fs"
        self.mounts = [f"22 1 8:1 / {folder} rw shared:1 - ext4 /dev/vda1 rw,errors=remount-ro"]

    def mount(self, place: str, kind: str, options: str, root: str = "/") -> None:
        (self.top / place).mkdir(parents=True)
        shown = str(self.top / place).replace(" ", "\\040")
        self.mounts.append(
            f"31 23 0:28 {root} {shown} rw,nosuid shared:9 master:1 - {kind} cgroup rw,{options}"
        )

    def process(self, *lines: str, pid: int = 42) -> None:
        for number in (str(pid), "self"):
            (self.proc / number).mkdir(parents=True, exist_ok=True)
            (self.proc / number / "cgroup").write_text("".join(f"{line}\n" for line in lines))
        (self.proc / "self" / "mountinfo").write_text("\n".join(self.mounts))

    def group(self, place: str, name: str) -> Path:
        folder = self.top / place / name.strip("/")
        folder.mkdir(parents=True)
        return folder


@pytest.fixture
def system(tmp_path: Path) -> System:
    return System(tmp_path)


def test_version_1_has_a_folder_for_each_controller(system: System) -> None:
    for controllers in V1:
        system.mount(controllers, "cgroup", controllers)
    system.mount("systemd", "cgroup", "xattr,name=systemd")
    cpu, memory, pids = (system.group(controllers, DOCKER) for controllers in V1)
    lines = (f"{number}:{name}:{DOCKER}" for number, name in enumerate(V1, 2))
    system.process("12:name=systemd:/docker/1f0c", *lines)
    found = cgroup_of(42, proc=system.proc)
    assert found == Cgroup(DOCKER, {"cpu": cpu, "cpuacct": cpu, "memory": memory, "pids": pids})


def test_a_hybrid_system_has_both_and_a_root_is_nobodys_own(system: System) -> None:
    system.mount("memory", "cgroup", "memory")
    system.mount("unified", "cgroup2", "rw")
    memory, unified = system.group("memory", DOCKER), system.group("unified", "/user.slice")
    mine = f"4:memory:{DOCKER}"
    for lines, found in (
        ((mine, "0::/user.slice"), Cgroup(DOCKER, {"memory": memory, "": unified})),
        ((mine, "3:cpu,cpuacct:/", "0::/"), Cgroup(DOCKER, {"memory": memory})),
        (("4:memory:/", "0::/"), Cgroup("/")),
        (("0::/old (deleted)",), Cgroup("/")),
    ):
        system.process(*lines)
        assert cgroup_of(42, proc=system.proc) == found
    with pytest.raises(MeasurementError, match="control group of process 43 is not known"):
        cgroup_of(43, proc=system.proc)


def test_a_container_sees_its_own_group_mounted(system: System) -> None:
    system.mount("memory", "cgroup", "memory", root=DOCKER)
    inner = system.group("memory", "inner")
    system.process(f"4:memory:{DOCKER}/inner")
    found = cgroup_of(42, proc=system.proc)
    assert found == Cgroup(f"{DOCKER}/inner", {"memory": inner})


@pytest.mark.parametrize("path", ["/../other", "/elsewhere", "/docker/gone"])
def test_what_no_mount_shows_has_no_folder(system: System, path: str) -> None:
    system.mount("memory", "cgroup", "memory", root=DOCKER)
    system.process(f"4:memory:{path}", pid=42)
    assert cgroup_of(42, proc=system.proc).folders == {}


def test_a_nested_group_keeps_its_path_and_has_levels(system: System) -> None:
    system.mount("cpu", "cgroup", "cpu,cpuacct")
    system.mount("unified", "cgroup2", "rw")
    names = ["/a.slice/pod1.slice/x.scope", "/a.slice/pod1.slice", "/a.slice", "/"]
    folder = system.group("unified", names[0])
    system.process(f"0::{names[0]}")
    assert cgroup_of(42, proc=system.proc) == Cgroup(names[0], {"": folder})
    top = system.top / "unified"
    assert own_levels("cpu", proc=system.proc) == tuple(top / name[1:] for name in names)
    # They are those of the controller.
    folder = system.group("cpu", "/lab")
    system.process("1:cpu,cpuacct:/lab", "0::/other")
    assert own_levels("cpu", proc=system.proc) == (folder, system.top / "cpu")
    assert own_levels("cpu", proc=system.proc / "none") == ()


@pytest.mark.parametrize(
    "junk", ["", "nonsense", "0", "0::", "a:b:c:d", "31 23 0:28 / /x - cgroup"]
)
def test_what_cannot_be_read_is_left_out(system: System, junk: str) -> None:
    system.mounts = [junk]
    system.process(junk)
    assert cgroup_of(42, proc=system.proc) == Cgroup("/")


def test_this_process() -> None:
    found = cgroup_of(os.getpid())
    for folder in found.folders.values():
        assert str(os.getpid()) in (folder / "cgroup.procs").read_text().split()
