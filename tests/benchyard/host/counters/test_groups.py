"""Control groups: real ones of version 1, recorded ones of version 2, kernels that tell less."""

import errno
import time
from collections.abc import Callable, Generator
from pathlib import Path
from shutil import rmtree
from unittest.mock import Mock

import pytest

from benchyard.host.counters import kernel
from benchyard.host.counters.account import MetricBook
from benchyard.host.counters.group_usage import used_by_group
from benchyard.host.counters.groups import ControlGroup
from benchyard.host.counters.processes import boot_ticks
from benchyard.process.cgroups import Cgroup
from tests.benchyard.host.counters.conftest import MIB, Worker, joining, whole
from tests.conftest import open_below

V2 = {
    "cpu.stat": "usage_usec 2000000\nuser_usec 1500000\nsystem_usec 500000\n"
    "nr_periods 9\nnr_throttled 4\nthrottled_usec 250000\n",
    "memory.current": "4096000\n",
    "memory.peak": "9999360\n",
    "memory.stat": "anon 4096\nfile 8192\npgfault 900\npgmajfault 7\n",
    "memory.events": "low 0\nhigh 0\nmax 0\noom 1\noom_kill 1\noom_group_kill 0\n",
    "io.stat": "254:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\n",
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


@pytest.fixture
def resettable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let files on a disk take the reset of a peak as the kernel does since Linux 6.12."""
    monkeypatch.setattr(kernel, "set_back", bool)


class Window:
    """A window on a group: read once at its start, then at each question."""

    def __init__(self, cgroup: Cgroup) -> None:
        self.group = ControlGroup(cgroup)
        self.start = self.group.read()

    def used(self) -> MetricBook:
        return whole(used_by_group(self.start, self.group.read(), 0))


@pytest.fixture
def watch() -> Generator[Callable[[Cgroup], Window]]:
    """Begin windows, and close their groups."""
    windows: list[Window] = []

    def begin(cgroup: Cgroup) -> Window:
        windows.append(Window(cgroup))
        return windows[-1]

    yield begin
    for one in windows:
        one.group.close()


Watch = Callable[[Cgroup], Window]

# -- version 2


@pytest.mark.usefixtures("resettable")
def test_version_2_tells_all(tmp_path: Path) -> None:
    group = ControlGroup(write(tmp_path / "demo"))
    start = group.read()
    write(
        tmp_path / "demo",
        cpu_stat="usage_usec 2500000\nuser_usec 1900000\nsystem_usec 600000\n"
        "nr_throttled 5\nthrottled_usec 350000\n",
        memory_stat="anon 5000\nfile 16384\npgfault 1000\npgmajfault 8\n",
        memory_events="oom_kill 3\n",
        io_stat="254:0 rbytes=8192 wbytes=209719296 rios=2 wios=216 dbytes=0 dios=0\n"
        "253:0 rbytes=8192 wbytes=9 rios=2 wios=216 dbytes=0 dios=0\n",
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
        "resource_memory_anonymous_bytes": 5000,
        "resource_memory_file_bytes": 16384,
        "resource_memory_file_start_bytes": 8192,
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
        **{
            f"resource_psi_{of}_{how}_s": 0.0 for of in ("memory", "io") for how in ("some", "full")
        },
    }
    assert group.peak_bytes == 9999360


def test_an_old_kernel_tells_a_peak_only_if_it_is_a_new_one(
    tmp_path: Path, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse = Mock(side_effect=OSError(errno.EINVAL, "Invalid argument"))
    monkeypatch.setattr(kernel, "set_back", refuse)
    window = watch(write(tmp_path / "demo"))
    account = window.used()
    assert "begin anew" in account.reasons["resource_memory_peak_bytes"]
    write(tmp_path / "demo", memory_peak="10000000\n")
    assert window.used().values["resource_memory_peak_bytes"] == 10000000


@pytest.mark.usefixtures("resettable")
def test_a_kernel_that_lacks_a_file(tmp_path: Path, watch: Watch) -> None:
    for lacks, content, metric in (
        ("memory_peak", "-", "memory_peak_bytes"),
        ("memory_current", "-", "memory_bytes"),
        ("cpu_pressure", "-", "psi_cpu_some_s"),
        ("memory_stat", "-", "page_fault_minor_count"),
        ("memory_events", "-", "oom_kill_count"),
        # Without the controller of CPUs there is no throttling.
        ("cpu_stat", V2["cpu.stat"].partition("nr_")[0], "throttled_count"),
    ):
        values = watch(write(tmp_path / lacks, **{lacks: content})).used().values
        assert (values[f"resource_{metric}"], values["resource_cpu_s"]) == (None, 0)


@pytest.mark.usefixtures("resettable")
def test_a_group_that_is_gone_is_not_known_and_its_peak_stays(tmp_path: Path, watch: Watch) -> None:
    window = watch(write(tmp_path / "demo"))
    window.group.close()
    rmtree(tmp_path / "demo")
    account = window.used()
    assert set(account.values.values()) == {None}
    assert account.reasons["resource_cpu_s"] == "its control group: it is gone"
    assert window.group.peak_bytes == 9999360
    root = watch(Cgroup("/")).used()
    assert set(root.values.values()) == {None}
    assert "everybody" in root.reasons["resource_cpu_s"]


# -- version 1, real


def test_version_1_counts_what_its_processes_do(
    cgroup: Cgroup, inside: Worker, watch: Watch
) -> None:
    window = watch(cgroup)
    inside.burn(0.1)
    inside.burn(0.1, "child")
    values = window.used().values
    assert 0.2 <= (values["resource_cpu_s"] or 0) < 1.0
    assert (values["resource_page_fault_minor_count"] or 0) > 200
    counts = [values[f"resource_{name}_count"] for name in ("process", "oom_kill", "throttled")]
    assert counts == [1, 0, 0]


def test_version_1_begins_peaks_anew(cgroup: Cgroup, inside: Worker) -> None:
    inside.touch(64 * MIB)
    group = ControlGroup(cgroup)
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


def test_what_a_group_of_version_1_has_no_file_for_has_a_reason(
    cgroup: Cgroup, inside: Worker, tmp_path: Path, watch: Watch
) -> None:
    window = watch(cgroup)
    inside.write(tmp_path / "own", 2 * MIB)
    account = window.used()
    for metric in ("read_bytes", "write_bytes", "read_count", "write_count"):
        assert "version 1 does not tell it" in account.reasons[f"resource_disk_{metric}"]
    folders = {name: path for name, path in cgroup.folders.items() if name in {"cpu", "cpuacct"}}
    account = watch(Cgroup(cgroup.name, folders)).used()
    for metric in ("memory_bytes", "memory_peak_bytes", "psi_io_some_s", "oom_kill_count"):
        reason = account.reasons[f"resource_{metric}"]
        assert not {"directory", "higher"} & set(reason.split())


def test_groups_leave_no_descriptors_open(tmp_path: Path) -> None:
    gone = Cgroup("/gone", {"": tmp_path / "gone"})
    kept = ControlGroup(gone)
    before = open_below(tmp_path, Path("/proc"))
    for _ in range(50):
        kept.read()
        for one in (write(tmp_path / "demo"), gone, Cgroup("/gone", {"cpu": tmp_path})):
            group = ControlGroup(one)
            group.read()
            group.close()
    assert open_below(tmp_path, Path("/proc")) == before
    kept.close()


def test_a_group_that_came_again_began_anew_and_a_peak_stays_where_it_was_noted(
    cgroup: Cgroup, inside: Worker, watch: Watch
) -> None:
    window = watch(cgroup)
    inside.touch(16 * MIB)
    end = window.group.read()
    inside.kill()
    for folder in cgroup.folders.values():
        folder.rmdir()
    assert window.group.read().is_gone
    account = whole(used_by_group(window.start, end, 0))
    assert (account.values["resource_memory_peak_bytes"] or 0) > 16 * MIB
    assert window.used().values["resource_cpu_s"] is None
    for folder in cgroup.folders.values():
        folder.mkdir()
    assert "made again" in window.used().reasons["resource_cpu_s"]
    window.start = window.group.read()
    assert window.used().values["resource_cpu_s"] == 0


def test_a_group_made_inside_counts_from_its_birth(cgroup: Cgroup, watch: Watch) -> None:
    began = boot_ticks(time.monotonic_ns())
    worker = Worker(joining(cgroup))
    worker.burn(0.05)
    reading = watch(cgroup).start
    worker.kill()
    account = whole(used_by_group(None, reading, began))
    assert (account.values["resource_cpu_s"] or 0) > 0.05
    assert (account.values["resource_memory_peak_bytes"] or 0) > MIB
    later = whole(used_by_group(None, reading, began + 10**6))
    assert "middle of the interval" in later.reasons["resource_cpu_s"]


def test_processes_of_groups_below_belong_to_it(
    cgroup: Cgroup, worker: Worker, watch: Watch
) -> None:
    below = cgroup.folders["cpuacct"] / "below"
    below.mkdir()
    (below / "cgroup.procs").write_text(str(worker.pid))
    assert watch(cgroup).start.pids == {worker.pid}
    worker.kill()
    below.rmdir()


def test_user_and_system_of_version_1_add_up_to_the_whole(tmp_path: Path, watch: Watch) -> None:
    """They are counted in ticks, and the whole in nanoseconds."""

    def spend(total_ns: int, user_ns: int, system_ns: int) -> Cgroup:
        (tmp_path / "cgroup.procs").write_text("")
        for name, ns in (("", total_ns), ("_user", user_ns), ("_sys", system_ns)):
            (tmp_path / f"cpuacct.usage{name}").write_text(f"{ns}\n")
        return Cgroup("/demo", {"cpuacct": tmp_path})

    names = [f"resource_cpu_{name}" for name in ("s", "user_s", "system_s")]
    window = watch(spend(10**9, 10**9, 0))
    spend(3 * 10**9, 10**9 + 1_650_000_000, 550_000_000)
    values = window.used().values
    assert [values[name] for name in names] == pytest.approx([2, 1.5, 0.5])
    spend(1_000_500_000, 10**9, 0)
    short = window.used()
    assert short.values["resource_cpu_s"] == pytest.approx(0.0005)
    assert "no tick" in short.reasons["resource_cpu_user_s"]
