"""The host's own counters: the real ones, and those of machines that tell less or more."""

import os
from collections.abc import Mapping
from pathlib import Path

import psutil
import pytest

from benchyard.host.counters import host
from benchyard.host.counters.host import ENERGY, HostFiles, krown_columns


def write(root: Path, files: Mapping[str, str]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def between(
    root: Path, before: Mapping[str, str], after: Mapping[str, str], seconds: float = 1.0
) -> tuple[host.Values, host.Reasons, host.HostReading]:
    """Return what a host used between two states of its files, and the second reading."""
    write(root, before)
    machine = HostFiles(root)
    first = machine.read()
    write(root, after)
    last = machine.read()
    used, reasons = machine.used(first, last, seconds)
    machine.close()
    assert {name for name, value in used.items() if value is None} == reasons.keys()
    return used, reasons, last


def test_what_the_host_did_is_what_psutil_says() -> None:
    machine = HostFiles()
    before, outer = machine.read(), psutil.cpu_times()
    end = sum(outer[:3]) + 0.05
    while sum(psutil.cpu_times()[:3]) < end:
        sum(range(1000))
    earlier = used_bytes()
    used, _ = machine.used(before, machine.read(), 1.0)
    later = used_bytes()
    machine.close()
    assert sum(used[f"host_cpu_{kind}_s"] or 0 for kind in ("user", "nice", "system")) > 0.03
    assert (used["host_context_switch_count"] or 0) > 0
    memory = used["host_memory_used_bytes"] or 0
    assert min(earlier, later) - 2**28 < memory < max(earlier, later) + 2**28


def used_bytes() -> int:
    memory = psutil.virtual_memory()
    return memory.total - memory.available


def test_krown_columns_are_those_of_psutil() -> None:
    columns = krown_columns(between(Path("/"), {}, {})[2])
    assert len(columns) == 21
    cpu, net = psutil.cpu_times(), psutil.net_io_counters(nowrap=False)
    assert (columns[0], columns[2]) == pytest.approx((cpu.user, cpu.idle), abs=1)
    assert columns[13:15] == pytest.approx((net.packets_recv, net.packets_sent), rel=0.1)


def test_a_machine_without_anything_tells_nothing_and_says_why(tmp_path: Path) -> None:
    used, reasons, reading = between(tmp_path, {}, {})
    assert set(used.values()) == {None}
    assert reasons["host_cpu_user_s"] == f"{tmp_path}/proc/stat: No such file or directory"
    assert "no disk" in reasons["host_disk_read_bytes"]
    assert set(krown_columns(reading)) == {None}
    assert ENERGY not in used


PRESSURE = "some avg10=0 total=5\nfull avg10=0 total=0\n"
STAT = "cpu {user} 0 5 5 {iowait}\nctxt 9\n"
NET = " {}: {} 1 0 0 0 0 0 0 {} 1 0 0 0 0 0 0\n"


@pytest.mark.parametrize(
    ("file", "before", "after", "known", "unknown", "why"),
    [
        ("proc/pressure/cpu", PRESSURE, PRESSURE, "psi_cpu_some_s", "psi_cpu_full_s", "not define"),
        (
            *("proc/stat", STAT.format(user=5, iowait=5), STAT.format(user=7, iowait=4)),
            *("cpu_user_s", "cpu_iowait_s", "backwards"),
        ),
        (
            *("proc/self/net/dev", NET.format("eth0", 10, 10) + NET.format("veth", 5, 5)),
            *(NET.format("eth0", 99, 99), "", "network_sent_bytes", "an interface vanished"),
        ),
    ],
)
def test_what_is_not_known_says_why(
    tmp_path: Path, file: str, before: str, after: str, known: str, unknown: str, why: str
) -> None:
    used, reasons, _ = between(tmp_path, {file: before}, {file: after})
    assert not known or used[f"host_{known}"] == pytest.approx(0.02 if "stat" in file else 0)
    assert why in reasons[f"host_{unknown}"]


def test_times_of_disks_are_seconds_and_for_krown_milliseconds(tmp_path: Path) -> None:
    block, idle = "sys/block", "0 " * 11
    disks = {"sda": "8:0\n", "sdb": "8:16\n"}
    before = {f"{block}/{disk}/device/model": "" for disk in disks} | {f"{block}/loop0/stat": idle}
    before |= {f"{block}/{disk}/stat": idle for disk in disks}
    before |= {f"{block}/{disk}/dev": number for disk, number in disks.items()}
    # Hidden paths to a disk are no disks of their own.
    before |= {f"{block}/nvme0c0n1/device/model": "", f"{block}/nvme0c0n1/hidden": "1\n"}
    before |= {f"{block}/sda/hidden": "0\n"}
    used, _, after = between(tmp_path, before, {f"{block}/sda/stat": "1 0 2 3 4 0 5 6 0 7 0"})
    assert host.real_disks(tmp_path / block) == ["sda", "sdb"]
    assert host.disk_numbers(tmp_path / block) == {"8:0", "8:16"}
    assert used["host_disk_read_bytes"] == 1024
    assert used["host_disk_write_time_s"] == 0.006
    assert krown_columns(after)[6:13] == (1, 4, 1024, 2560, 3, 6, 7)


def test_niceness_and_interrupts_have_times_of_their_own(tmp_path: Path) -> None:
    before = {"proc/stat": "cpu 0 0 0 0 0 0 0 0 0 0\n"}
    after = {"proc/stat": "cpu 100 200 300 400 500 600 700 800 50 60\n"}
    used, _, reading = between(tmp_path, before, after)
    told = {"user": 1, "nice": 2, "system": 3, "idle": 4, "iowait": 5, "irq": 13, "steal": 8}
    found = {name: used[f"host_cpu_{name}_s"] for name in told}
    scale = 100 / os.sysconf("SC_CLK_TCK")
    assert found == pytest.approx({name: value * scale for name, value in told.items()})
    assert krown_columns(reading)[:4] == pytest.approx([n * scale for n in (1, 3, 4, 5)])


def test_siblings_count_the_same_throttling_once(tmp_path: Path) -> None:
    before: dict[str, str] = {}
    for cpu in range(4):
        folder = f"sys/devices/system/cpu/cpu{cpu}"
        before[f"{folder}/topology/core_cpus_list"] = f"{cpu % 2},{cpu % 2 + 2}\n"
        before[f"{folder}/topology/package_cpus_list"] = "0-3\n"
        before[f"{folder}/thermal_throttle/core_throttle_count"] = "10\n"
        before[f"{folder}/thermal_throttle/package_throttle_count"] = "100\n"
    siblings = [name for name in before if "cpu0/" in name or "cpu2/" in name]
    after = dict.fromkeys((name for name in siblings if "core_throttle" in name), "13\n")
    assert between(tmp_path, before, after)[0]["host_thermal_throttle_count"] == 3


def test_energy_runs_round_at_its_range(tmp_path: Path) -> None:
    zone = "sys/class/powercap/intel-rapl:0"
    before = {f"{zone}/name": "package-0\n", f"{zone}/max_energy_range_uj": "262143328850\n"}
    before |= {f"{zone}:0/name": "core\n", f"{zone}:0/energy_uj": "5\n"}
    before |= {f"{zone}/energy_uj": "262143000000\n"}
    after = {f"{zone}/energy_uj": "10000000\n"}
    assert between(tmp_path, before, after)[0][ENERGY] == pytest.approx(10.32885)
    _, reasons, _ = between(tmp_path, before, after, 3600.0)
    assert "round" in reasons[ENERGY]


def test_the_labs_own_quota_is_that_of_all_groups_above_it(tmp_path: Path) -> None:
    cpu_stat = "usage_usec 1\nnr_periods 2\nnr_throttled {}\nthrottled_usec {}\n"
    above, own = "cgroup/lab.slice/cpu.stat", "cgroup/lab.slice/lab.service/cpu.stat"
    before = {
        "proc/self/cgroup": "0::/lab.slice/lab.service\n",
        "proc/self/mountinfo": f"31 23 0:28 / {tmp_path}/cgroup rw - cgroup2 cgroup2 rw\n",
        "cgroup/cpu.stat": "usage_usec 1\n",
        **dict.fromkeys((above, own), cpu_stat.format(0, 0)),
    }
    after = {above: cpu_stat.format(2, 500_000), own: cpu_stat.format(1, 250_000)}
    used, _, _ = between(tmp_path, before, after)
    assert (used["lab_throttled_count"], used["lab_throttled_s"]) == (3, 0.75)
