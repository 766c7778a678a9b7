"""Control groups: real ones of version 1, recorded ones of version 2, kernels that tell less."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchyard.cgroups import Cgroup
from benchyard.counters import peaks
from benchyard.counters.account import Account
from benchyard.counters.group_usage import used_by_group
from benchyard.counters.groups import Group, GroupReading
from benchyard.counters.processes import boot_ticks
from tests.benchyard.counters.conftest import MIB, Worker

V2 = {
    "cpu.stat": "usage_usec 2000000\nuser_usec 1500000\nsystem_usec 500000\n"
    "nr_periods 9\nnr_throttled 4\nthrottled_usec 250000\n",
    "memory.current": "4096000\n",
    "memory.peak": "9999360\n",
    "memory.stat": "anon 4096\nfile 8192\npgfault 900\npgmajfault 7\n",
    "memory.events": "low 0\nhigh 0\nmax 0\noom 1\noom_kill 1\noom_group_kill 0\n",
    "io.stat": "254:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\n"
    "253:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\n",
    "pids.current": "12\n",
    "cgroup.procs": "",
    "cpu.pressure": "some avg10=0.00 total=1000000\nfull avg10=0.00 total=500000\n",
    "memory.pressure": "some avg10=0.00 total=2\nfull avg10=0.00 total=1\n",
    "io.pressure": "some avg10=0.00 total=4\nfull avg10=0.00 total=3\n",
}


def write(folder: Path, **changes: str) -> Cgroup:
    """Write a group of version 2; what is "-" lacks."""
    folder.mkdir(exist_ok=True)
    for name, content in (V2 | {n.replace("_", "."): text for n, text in changes.items()}).items():
        if content == "-":
            (folder / name).unlink(missing_ok=True)
        else:
            (folder / name).write_text(content)
    return Cgroup("/demo", {"": folder})


def answer(monkeypatch: pytest.MonkeyPatch, *, taken: bool) -> None:
    def set_back(_: int) -> bool:
        return taken

    monkeypatch.setattr(peaks, "set_back", set_back)


@pytest.fixture
def resettable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let files on a disk take the reset of a peak as the kernel does since Linux 6.12."""
    answer(monkeypatch, taken=True)


@pytest.fixture
def old_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    answer(monkeypatch, taken=False)


def whole(account: Account) -> Account:
    """Check what holds for every account."""
    nulls = {metric for metric, value in account.values.items() if value is None}
    assert nulls == account.reasons.keys()
    assert all(account.reasons.values())
    return account


# -- version 2


@pytest.mark.usefixtures("resettable")
def test_version_2_tells_all(tmp_path: Path) -> None:
    group = Group(write(tmp_path / "demo"))
    start = group.read()
    write(
        tmp_path / "demo",
        cpu_stat="usage_usec 2500000\nuser_usec 1900000\nsystem_usec 600000\n"
        "nr_throttled 5\nthrottled_usec 350000\n",
        memory_stat="pgfault 1000\npgmajfault 8\n",
        memory_events="oom_kill 3\n",
        io_stat="254:0 rbytes=8192 wbytes=209719296 rios=2 wios=216 dbytes=0 dios=0\n"
        "253:0 rbytes=8192 wbytes=209719296 rios=2 wios=216 dbytes=0 dios=0\n",
        cpu_pressure="some avg10=0.00 total=1500000\nfull avg10=0.00 total=500000\n",
        memory_peak="5000000\n",
    )
    account = whole(used_by_group(start, group.read(), 0, {"254:0"}))
    group.close()
    assert account.values == {
        "resource_cpu_s": pytest.approx(0.5),
        "resource_cpu_user_s": pytest.approx(0.4),
        "resource_cpu_system_s": pytest.approx(0.1),
        "resource_memory_bytes": 4096000,
        "resource_memory_peak_bytes": 5000000,
        "resource_disk_read_bytes": 4096,
        "resource_disk_write_bytes": 209711104,
        "resource_disk_read_count": 1,
        "resource_disk_write_count": 214,
        "resource_page_fault_minor_count": 99,
        "resource_page_fault_major_count": 1,
        "resource_network_received_bytes": None,
        "resource_network_sent_bytes": None,
        "resource_process_count": 0,
        "resource_oom_kill_count": 2,
        "resource_throttled_count": 1,
        "resource_throttled_s": pytest.approx(0.1),
        "resource_psi_cpu_some_s": 0.5,
        "resource_psi_cpu_full_s": 0.0,
        "resource_psi_memory_some_s": 0.0,
        "resource_psi_memory_full_s": 0.0,
        "resource_psi_io_some_s": 0.0,
        "resource_psi_io_full_s": 0.0,
    }
    assert group.peak_bytes == 9999360


@pytest.mark.usefixtures("old_kernel")
def test_an_old_kernel_tells_a_peak_only_if_it_is_a_new_one(tmp_path: Path) -> None:
    group = Group(write(tmp_path / "demo"))
    first = group.read()
    second = group.read()
    account = whole(used_by_group(first, second, 0))
    assert account.values["resource_memory_peak_bytes"] is None
    assert "begin anew" in account.reasons["resource_memory_peak_bytes"]
    write(tmp_path / "demo", memory_peak="10000000\n")
    values = used_by_group(second, group.read(), 0).values
    assert values["resource_memory_peak_bytes"] == 10000000
    group.close()


@pytest.mark.parametrize(
    ("lacks", "metric"),
    [
        ("memory_peak", "resource_memory_peak_bytes"),
        ("memory_current", "resource_memory_bytes"),
        ("cpu_pressure", "resource_psi_cpu_some_s"),
        ("memory_stat", "resource_page_fault_minor_count"),
        ("memory_events", "resource_oom_kill_count"),
    ],
)
@pytest.mark.usefixtures("resettable")
def test_a_kernel_that_lacks_a_file(tmp_path: Path, lacks: str, metric: str) -> None:
    group = Group(write(tmp_path / "demo", **{lacks: "-"}))
    account = whole(used_by_group(group.read(), group.read(), 0))
    group.close()
    assert account.values[metric] is None
    assert account.values["resource_cpu_s"] == 0


def test_without_the_cpu_controller_there_is_no_throttling(tmp_path: Path) -> None:
    stat = "usage_usec 2000000\nuser_usec 1500000\nsystem_usec 500000\n"
    group = Group(write(tmp_path / "demo", cpu_stat=stat))
    account = whole(used_by_group(group.read(), group.read(), 0))
    group.close()
    assert account.values["resource_cpu_s"] == 0
    assert account.values["resource_throttled_count"] is None


@pytest.mark.usefixtures("resettable")
def test_a_group_that_is_gone_is_not_known_and_its_peak_stays(tmp_path: Path) -> None:
    group = Group(write(tmp_path / "demo"))
    start = group.read()
    group.close()
    for name in V2:
        (tmp_path / "demo" / name).unlink()
    (tmp_path / "demo").rmdir()
    account = whole(used_by_group(start, group.read(), 0))
    assert set(account.values.values()) == {None}
    assert account.reasons["resource_cpu_s"] == "its control group: it is gone"
    assert group.peak_bytes == 9999360


def test_the_root_is_nobodys_own() -> None:
    group = Group(Cgroup("/"))
    account = whole(used_by_group(group.read(), group.read(), 0))
    assert set(account.values.values()) == {None}
    assert "everybody" in account.reasons["resource_cpu_s"]


# -- version 1, real


def used(group: Group, start: GroupReading, began: int = 0) -> Account:
    return whole(used_by_group(start, group.read(), began))


def test_version_1_counts_what_its_processes_do(
    cgroup: Cgroup, inside: Worker, tmp_path: Path
) -> None:
    group = Group(cgroup)
    start = group.read()
    inside.burn(0.1)
    inside.burn(0.1, "child")
    inside.write(tmp_path / "own", 2 * MIB)
    inside.write(tmp_path / "childs", 4 * MIB, "child")
    account = used(group, start)
    group.close()
    values = account.values
    assert 0.2 <= (values["resource_cpu_s"] or 0) < 1.0
    assert (values["resource_page_fault_minor_count"] or 0) > 200
    assert values["resource_process_count"] == 1
    assert values["resource_oom_kill_count"] == 0
    assert values["resource_throttled_count"] == 0
    written = values["resource_disk_write_bytes"]
    assert written == 0 or written == pytest.approx(6 * MIB, rel=0.01), account.reasons


def test_version_1_begins_peaks_anew(cgroup: Cgroup, inside: Worker) -> None:
    inside.touch(64 * MIB)
    group = Group(cgroup)
    first = group.read()
    inside.touch(32 * MIB)
    second = group.read()
    inside.touch(1 * MIB)
    third = group.read()
    group.close()
    peaks_of = [
        used_by_group(a, b, 0).values["resource_memory_peak_bytes"] or 0
        for a, b in ((first, second), (second, third), (first, third))
    ]
    assert 32 * MIB < peaks_of[0] < 56 * MIB
    assert peaks_of[1] < 28 * MIB
    assert peaks_of[2] == peaks_of[0]
    assert (group.peak_bytes or 0) > 64 * MIB


def test_a_process_that_came_from_outside_and_ended_hides_its_disk_bytes(
    cgroup: Cgroup, inside: Worker
) -> None:
    folders = list(cgroup.folders.values())
    join = "import os; [open(f + '/cgroup.procs', 'w').write(str(os.getpid())) for f in folders]"
    burn = "import time; end = time.process_time() + 0.1\nwhile time.process_time() < end: pass"
    group = Group(cgroup)
    start = group.read()
    code = f"folders = {list(map(str, folders))}\n{join}\n{burn}"
    subprocess.run([sys.executable, "-S", "-c", code], check=True)
    account = used(group, start)
    group.close()
    assert (account.values["resource_cpu_s"] or 0) > 0.09
    assert account.values["resource_disk_write_bytes"] is None
    assert "waited for" in account.reasons["resource_disk_write_bytes"]
    assert inside.process.poll() is None


def test_a_group_that_vanished_and_came_again_began_anew(cgroup: Cgroup) -> None:
    group = Group(cgroup)
    start = group.read()
    for folder in cgroup.folders.values():
        folder.rmdir()
    gone = group.read()
    assert gone.is_gone
    assert used_by_group(start, gone, 0).values["resource_cpu_s"] is None
    for folder in cgroup.folders.values():
        folder.mkdir()
    account = used(group, start)
    assert "made again" in account.reasons["resource_cpu_s"]
    again = group.read()
    assert used(group, again).values["resource_cpu_s"] == 0
    group.close()


def test_a_group_made_inside_counts_from_its_birth(cgroup: Cgroup) -> None:
    began = boot_ticks(time.monotonic_ns())

    def join() -> None:
        for folder in cgroup.folders.values():
            (folder / "cgroup.procs").write_text(str(os.getpid()))

    worker = Worker(join)
    worker.burn(0.05)
    group = Group(cgroup)
    reading = group.read()
    group.close()
    worker.kill()
    account = whole(used_by_group(None, reading, began))
    assert (account.values["resource_cpu_s"] or 0) > 0.05
    assert (account.values["resource_memory_peak_bytes"] or 0) > MIB
    later = whole(used_by_group(None, reading, began + 10**6))
    assert later.values["resource_cpu_s"] is None
    assert "middle of the interval" in later.reasons["resource_cpu_s"]


def test_processes_of_groups_below_belong_to_it(cgroup: Cgroup) -> None:
    below = cgroup.folders["cpuacct"] / "below"
    below.mkdir()

    def join() -> None:
        (below / "cgroup.procs").write_text(str(os.getpid()))

    worker = Worker(join)
    group = Group(cgroup)
    assert group.read().pids == {worker.pid}
    group.close()
    worker.kill()
    below.rmdir()


def test_operations_count_where_the_kernel_counts_them(tmp_path: Path) -> None:
    (tmp_path / "cpuacct.usage").write_text("5\n")
    (tmp_path / "cgroup.procs").write_text("")
    blkio = tmp_path / "blkio.throttle.io_serviced"
    blkio.write_text("Total 0\n")
    group = Group(Cgroup("/demo", {"blkio": tmp_path, "cpuacct": tmp_path}))
    start = group.read()
    quiet = whole(used_by_group(start, group.read(), 0))
    assert quiet.values["resource_disk_read_count"] is None
    blkio.write_text("254:0 Read 3\n254:0 Write 4\nTotal 7\n")
    account = whole(used_by_group(start, group.read(), 0))
    group.close()
    assert account.values["resource_disk_read_count"] == 3
    assert account.values["resource_disk_write_count"] == 4
