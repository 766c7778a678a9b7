"""The parent's end of the sampling process."""

# pyright: reportPrivateUsage=false

import os
import signal
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.host import sampler
from benchyard.host.sampler import NVML_VARIABLE, Sampler, cgroup_files, gpu_command, host_files
from benchyard.host.sampler.raw import Gone, Opened, Tick, read_raw
from benchyard.process.cgroups import Cgroup
from benchyard.process.usage import Owned
from tests.children import speaking
from tests.conftest import eventually, is_gone

ME = Owned(pids=(os.getpid(),))


def started(folder: Path, interval: float = 0.02) -> Sampler:
    return sampler.start_sampler(folder / "raw", interval, host_files())


def opened(folder: Path) -> list[str]:
    """Return what was opened for resources, in order."""
    records = read_raw(folder / "raw")
    return [r.what for r in records if isinstance(r, Opened) and r.owner != "host"]


def test_watching_opens_and_closes_the_difference(tmp_path: Path) -> None:
    folder = tmp_path / "group"
    folder.mkdir()
    (folder / "memory.current").write_text("5\n")
    one = started(tmp_path, 10)
    both = Owned(ME.pids, (Cgroup("/my group", {"": folder}),))
    for owned in (ME, both, both):
        one.watch("db", owned)
    for name in ("other", "db"):
        one.watch(name, Owned())
    one.end()
    found = opened(tmp_path)
    assert found.count("cgroup:/my%20group") == 1
    assert set(found) <= {f"tree:{os.getpid()}", "cgroup:/my%20group"}
    gone = [r for r in read_raw(tmp_path / "raw") if isinstance(r, Gone)]
    assert len(gone) == len(found)


def test_watching_never_raises_nor_waits(tmp_path: Path) -> None:
    one = started(tmp_path)
    os.kill(one.pid, signal.SIGSTOP)
    for pid in range(100_000, 110_000):
        one.watch(f"resource {pid}", Owned(pids=(pid,)))
    one._child.kill()
    one.watch("db", ME)
    account = one.end()
    one.watch("db", ME)
    assert account.error == "killed by SIGKILL; it said nothing"
    assert account.peak_rss_bytes is None


def test_what_a_full_pipe_cut_off_spoils_nothing_after(tmp_path: Path) -> None:
    one = started(tmp_path, 10)
    os.kill(one.pid, signal.SIGSTOP)
    for pid in range(100_000, 104_000):
        one.watch(f"r{pid}", Owned(pids=(pid,)))
    os.kill(one.pid, signal.SIGCONT)
    assert eventually(lambda: _hears(one))
    assert one.end().error is None
    assert f"tree:{os.getpid()}" in opened(tmp_path)


def _hears(one: Sampler) -> bool:
    one.watch("db", ME)
    return "db" in one._watched


def test_sigkill_of_the_parent_leaves_samples_and_no_sampler(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path\n"
        "from benchyard.host.sampler import start_sampler\n"
        "one = start_sampler(Path(sys.argv[1]), 0.01, [])\n"
        "print(one.pid, flush=True); time.sleep(60)\n"
    )
    with speaking(code, str(tmp_path / "raw")) as (parent, pid):
        parent.kill()
    assert eventually(lambda: is_gone(int(pid)))
    assert any(isinstance(r, Tick) for r in read_raw(tmp_path / "raw"))


MEMINFO = "MemTotal: 10 kB\nMemFree: 1 kB\nMemAvailable: 4 kB\nSwapFree:   0 kB\nDirty: 0 kB\n"


def host(folder: Path) -> Path:
    block, zone = "sys/block", "sys/class/powercap/intel-rapl"
    files = {"proc/stat": "cpu  1 2 3 4\ncpu0 1 2 3 4\n", "proc/meminfo": MEMINFO}
    files |= {f"{block}/sda/device/model": "", f"{block}/sda/stat": "1 2 3"}
    files |= {f"{block}/loop0/stat": "1 2 3", f"{zone}:0/max_energy_range_uj": "999\n"}
    files |= {f"{zone}:0/name": "package-0\n", f"{zone}:1/name": "psys\n"}
    files |= {f"{zone}:{number}/energy_uj": "5\n" for number in ("0", "1", "0:0")}
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


def test_defect_25_the_files_of_a_host(tmp_path: Path) -> None:
    always = [("columns", name) for name in ("stat", "meminfo", "network")]
    # Defect 25: a host without any of it.
    assert [(one.what, one.name) for one in host_files(tmp_path)] == always
    files = {(one.what, one.name): one for one in host_files(host(tmp_path))}
    assert list(files) == [*always, ("columns", "disk/sda"), ("energy:intel-rapl:0", "999")]
    assert {one.owner for one in files.values()} == {"host"}
    assert len("cpu  1 2 3 4") <= files["columns", "stat"].size < 40
    read = MEMINFO[: files["columns", "meminfo"].size]
    assert "SwapFree:   0 kB" in read


def test_this_host() -> None:
    for one in host_files():
        content = one.path.read_bytes()
        assert one.size == 0 or one.size >= len(content) or one.name in ("stat", "meminfo")


def group(folder: Path, *files: str) -> Path:
    folder.mkdir()
    for name in files:
        (folder / name).write_text("0\n")
    return folder


def test_the_files_of_a_group(tmp_path: Path) -> None:
    folder = group(tmp_path / "g", "cpu.stat", "memory.current", "io.stat", "pids.current")
    found = list(cgroup_files("db", Cgroup("/g", {"": folder})))
    assert [one.name for one in found] == ["cpu", "memory", "io", "pids"]
    assert {(one.owner, one.what) for one in found} == {("db", "cgroup:/g")}
    cpu = group(tmp_path / "cpuacct", "cpuacct.usage", "cpuacct.usage_user")
    memory = group(tmp_path / "memory", "memory.usage_in_bytes")
    hybrid = {"": group(tmp_path / "unified", "cpu.stat"), "cpuacct": cpu, "memory": memory}
    found = [one.path.name for one in cgroup_files("db", Cgroup("/g", hybrid))]
    assert found == ["cpuacct.usage", "cpuacct.usage_user", "memory.usage_in_bytes"]
    assert list(cgroup_files("db", Cgroup("/g", {"": tmp_path / "none"}))) == []


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1))
def test_words_hold_no_blanks_and_read_back(texts: list[str]) -> None:
    made = sampler.words(*texts)
    assert made.isascii()
    assert [unquote(word) for word in made.split(" ")] == texts
    assert len(made.splitlines()) == 1


def test_gpus_are_asked_for_only_where_there_may_be_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(NVML_VARIABLE, raising=False)
    assert gpu_command(tmp_path) == b""
    (tmp_path / "driver" / "nvidia").mkdir(parents=True)
    assert gpu_command(tmp_path) == b"gpus host gpu libnvidia-ml.so.1\n"
    monkeypatch.setenv(NVML_VARIABLE, "/lib/other.so")
    assert gpu_command(tmp_path / "none") == b"gpus host gpu /lib/other.so\n"
