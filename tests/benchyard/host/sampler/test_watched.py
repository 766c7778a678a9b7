"""What is recorded, and under which names."""

from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.host.sampler.watched import (
    NVML_VARIABLE,
    cgroup_files,
    gpu_command,
    host_files,
    tree_command,
    words,
)
from benchyard.process.cgroups import Cgroup

MEMINFO = "MemTotal: 10 kB\nMemFree: 1 kB\nMemAvailable: 4 kB\nSwapFree:   0 kB\nDirty: 0 kB\n"


def host(folder: Path) -> Path:
    for name, content in {
        "proc/stat": "cpu  1 2 3 4\ncpu0 1 2 3 4\n",
        "proc/meminfo": MEMINFO,
        "sys/block/sda/device/model": "",
        "sys/block/sda/stat": "1 2 3",
        "sys/block/loop0/stat": "1 2 3",
        "sys/class/powercap/intel-rapl:0/name": "package-0\n",
        "sys/class/powercap/intel-rapl:0/energy_uj": "5\n",
        "sys/class/powercap/intel-rapl:1/name": "psys\n",
        "sys/class/powercap/intel-rapl:1/energy_uj": "5\n",
        "sys/class/powercap/intel-rapl:0/max_energy_range_uj": "999\n",
        "sys/class/powercap/intel-rapl:0:0/energy_uj": "5\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


def test_the_files_of_a_host(tmp_path: Path) -> None:
    files = {(one.what, one.name): one for one in host_files(host(tmp_path))}
    assert list(files) == [
        ("columns", "stat"),
        ("columns", "meminfo"),
        ("columns", "network"),
        ("columns", "disk/sda"),
        ("energy:intel-rapl:0", "999"),
    ]
    assert {one.owner for one in files.values()} == {"host"}
    assert len("cpu  1 2 3 4") <= files["columns", "stat"].size < 40
    read = MEMINFO[: files["columns", "meminfo"].size]
    assert "SwapFree:   0 kB" in read


def test_defect_25_a_host_without_any_of_it(tmp_path: Path) -> None:
    files = list(host_files(tmp_path))
    assert [one.name for one in files] == ["stat", "meminfo", "network"]


def test_this_host() -> None:
    for one in host_files():
        content = one.path.read_bytes()
        assert one.size == 0 or one.size >= len(content) or one.name in ("stat", "meminfo")


def group(folder: Path, *files: str) -> Path:
    folder.mkdir(parents=True)
    for name in files:
        (folder / name).write_text("0\n")
    return folder


def test_the_files_of_a_version_2_group(tmp_path: Path) -> None:
    folder = group(tmp_path / "g", "cpu.stat", "memory.current", "io.stat", "pids.current")
    found = list(cgroup_files("db", Cgroup("/g", {"": folder})))
    assert [one.name for one in found] == ["cpu.stat", "memory.current", "io.stat", "pids.current"]
    assert {(one.owner, one.what) for one in found} == {("db", "cgroup:/g")}


def test_the_files_of_a_hybrid_group(tmp_path: Path) -> None:
    folders = {
        "": group(tmp_path / "unified", "cpu.stat"),
        "cpuacct": group(tmp_path / "cpuacct", "cpuacct.usage", "cpuacct.stat"),
        "memory": group(tmp_path / "memory", "memory.usage_in_bytes"),
        "blkio": group(tmp_path / "blkio", "blkio.throttle.io_service_bytes"),
    }
    found = [one.path for one in cgroup_files("db", Cgroup("/g", folders))]
    assert found == [
        tmp_path / "cpuacct" / "cpuacct.usage",
        tmp_path / "cpuacct" / "cpuacct.stat",
        tmp_path / "memory" / "memory.usage_in_bytes",
        tmp_path / "blkio" / "blkio.throttle.io_service_bytes",
    ]


def test_a_group_that_vanished_has_no_files(tmp_path: Path) -> None:
    assert list(cgroup_files("db", Cgroup("/g", {"": tmp_path / "none"}))) == []


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1))
def test_words_hold_no_blanks_and_read_back(texts: list[str]) -> None:
    made = words(*texts)
    assert made.isascii()
    assert [unquote(word) for word in made.split(" ")] == texts
    assert len(made.splitlines()) == 1


def test_commands() -> None:
    assert tree_command("a b", 7) == b"tree a%20b tree:7 7\n"


def test_gpus_are_asked_for_only_where_there_may_be_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(NVML_VARIABLE, raising=False)
    assert gpu_command(tmp_path) == b""
    (tmp_path / "driver" / "nvidia").mkdir(parents=True)
    assert gpu_command(tmp_path) == b"gpus host gpu libnvidia-ml.so.1\n"
    monkeypatch.setenv(NVML_VARIABLE, "/lib/other.so")
    assert gpu_command(tmp_path / "none") == b"gpus host gpu /lib/other.so\n"
