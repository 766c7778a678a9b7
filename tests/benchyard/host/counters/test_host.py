"""The host's own counters: the real ones, and those of machines that tell less or more."""

import os
from pathlib import Path

import psutil
import pytest

from benchyard.host.counters import host
from benchyard.host.counters.host import ENERGY, HostFiles, HostReading, krown_columns, real_disks
from benchyard.results.metrics_csv import COUNTERS

SECOND = 1.0


def write(root: Path, **files: str) -> None:
    for name, content in files.items():
        write_at(root / "proc" / name, content)


def write_at(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def both(root: Path) -> tuple[HostFiles, HostReading]:
    machine = HostFiles(root)
    return machine, machine.read()


def test_the_names_are_those_that_krown_columns_are_made_of() -> None:
    machine, reading = both(Path("/"))
    used, _ = machine.used(reading, reading, SECOND)
    machine.close()
    assert {name for names, _ in COUNTERS.values() for name in names} <= used.keys()


def test_null_always_has_a_reason_and_a_value_none() -> None:
    machine, before = both(Path("/"))
    used, reasons = machine.used(before, machine.read(), SECOND)
    machine.close()
    assert {name for name, value in used.items() if value is None} == reasons.keys()


def test_what_the_host_did_is_what_psutil_says() -> None:
    machine, before = both(Path("/"))
    outer = psutil.cpu_times()
    end = sum(outer[:3]) + 0.05
    while sum(psutil.cpu_times()[:3]) < end:
        sum(range(1000))
    earlier = used_bytes()
    used, _ = machine.used(before, machine.read(), SECOND)
    later = used_bytes()
    machine.close()
    assert sum(used[f"host_cpu_{kind}_s"] or 0 for kind in ("user", "nice", "system")) > 0.03
    switches, memory = used["host_context_switch_count"], used["host_memory_used_bytes"]
    assert switches is not None
    assert switches >= 0
    assert memory is not None
    assert min(earlier, later) - 2**28 < memory < max(earlier, later) + 2**28


def used_bytes() -> int:
    memory = psutil.virtual_memory()
    return memory.total - memory.available


def test_krown_columns_are_those_of_psutil() -> None:
    machine, reading = both(Path("/"))
    machine.close()
    columns = krown_columns(reading)
    assert len(columns) == 21
    cpu, net = psutil.cpu_times(), psutil.net_io_counters(nowrap=False)
    assert columns[0] == pytest.approx(cpu.user, abs=1)
    assert columns[2] == pytest.approx(cpu.idle, abs=1)
    assert columns[13:15] == pytest.approx((net.packets_recv, net.packets_sent), rel=0.1)


def test_a_machine_without_anything_tells_nothing_and_says_why(tmp_path: Path) -> None:
    machine, reading = both(tmp_path)
    used, reasons = machine.used(reading, machine.read(), SECOND)
    machine.close()
    assert set(used.values()) == {None}
    assert reasons.keys() == used.keys()
    assert reasons["host_cpu_user_s"] == f"{tmp_path}/proc/stat: No such file or directory"
    assert "no disk" in reasons["host_disk_read_bytes"]
    assert set(krown_columns(reading)) == {None}
    assert ENERGY not in used


def test_the_whole_host_has_no_full_stall_of_its_processors(tmp_path: Path) -> None:
    write_at(tmp_path / "proc/pressure/cpu", "some avg10=0 total=5\nfull avg10=0 total=0\n")
    machine, reading = both(tmp_path)
    used, reasons = machine.used(reading, reading, SECOND)
    machine.close()
    assert used["host_psi_cpu_some_s"] == 0
    assert used["host_psi_cpu_full_s"] is None
    assert "not define" in reasons["host_psi_cpu_full_s"]


def test_a_counter_that_goes_backwards_is_not_known(tmp_path: Path) -> None:
    write(tmp_path, stat="cpu 5 0 5 5 5 0 0 0\nctxt 9\n")
    machine, before = both(tmp_path)
    write(tmp_path, stat="cpu 7 0 5 5 4 0 0 0\nctxt 9\n")
    used, reasons = machine.used(before, machine.read(), SECOND)
    machine.close()
    assert used["host_cpu_user_s"] == pytest.approx(0.02)
    assert used["host_cpu_iowait_s"] is None
    assert "backwards" in reasons["host_cpu_iowait_s"]


def test_an_interface_that_vanished_took_its_counters_along(tmp_path: Path) -> None:
    line = " {}: {} 1 0 0 0 0 0 0 {} 1 0 0 0 0 0 0\n"
    write_at(
        tmp_path / "proc/self/net/dev", line.format("eth0", 10, 10) + line.format("veth", 5, 5)
    )
    machine, before = both(tmp_path)
    write_at(tmp_path / "proc/self/net/dev", line.format("eth0", 99, 99))
    used, reasons = machine.used(before, machine.read(), SECOND)
    machine.close()
    assert used["host_network_received_bytes"] is None
    assert reasons["host_network_sent_bytes"] == "an interface vanished meanwhile"


def test_times_of_disks_are_seconds_and_for_krown_milliseconds(tmp_path: Path) -> None:
    for disk in ("sda", "sdb"):
        (tmp_path / "sys/block" / disk / "device").mkdir(parents=True)
        write_at(tmp_path / "sys/block" / disk / "stat", "0 " * 11)
        write_at(tmp_path / "sys/block" / disk / "dev", f"8:{16 * (disk == 'sdb')}\n")
    (tmp_path / "sys/block/loop0").mkdir()
    machine, before = both(tmp_path)
    write_at(tmp_path / "sys/block/sda/stat", "1 0 2 3 4 0 5 6 0 7 0")
    after = machine.read()
    used, _ = machine.used(before, after, SECOND)
    machine.close()
    assert real_disks(tmp_path / "sys/block") == ["sda", "sdb"]
    assert host.disk_numbers(tmp_path / "sys/block") == {"8:0", "8:16"}
    assert used["host_disk_read_bytes"] == 1024
    assert used["host_disk_write_time_s"] == 0.006
    assert krown_columns(after)[6:13] == (1, 4, 1024, 2560, 3, 6, 7)


def test_hidden_paths_to_a_disk_are_no_disks_of_their_own(tmp_path: Path) -> None:
    for name, hidden in (("nvme0n1", "0\n"), ("nvme0c0n1", "1\n"), ("nvme0c1n1", "1\n")):
        (tmp_path / name / "device").mkdir(parents=True)
        write_at(tmp_path / name / "hidden", hidden)
    assert real_disks(tmp_path) == ["nvme0n1"]


def test_niceness_and_interrupts_have_times_of_their_own(tmp_path: Path) -> None:
    write(tmp_path, stat="cpu 0 0 0 0 0 0 0 0 0 0\n")
    machine, before = both(tmp_path)
    write(tmp_path, stat="cpu 100 200 300 400 500 600 700 800 50 60\n")
    after = machine.read()
    used, _ = machine.used(before, after, SECOND)
    machine.close()
    told = {"user": 1, "nice": 2, "system": 3, "idle": 4, "iowait": 5, "irq": 13, "steal": 8}
    found = {name: used[f"host_cpu_{name}_s"] for name in told}
    scale = 100 / os.sysconf("SC_CLK_TCK")
    assert found == pytest.approx({name: value * scale for name, value in told.items()})
    assert krown_columns(after)[:4] == pytest.approx([n * scale for n in (1, 3, 4, 5)])


def test_siblings_count_the_same_throttling_once(tmp_path: Path) -> None:
    for cpu in range(4):
        folder = tmp_path / f"sys/devices/system/cpu/cpu{cpu}"
        write_at(folder / "topology/core_cpus_list", f"{cpu % 2},{cpu % 2 + 2}\n")
        write_at(folder / "topology/package_cpus_list", "0-3\n")
        write_at(folder / "thermal_throttle/core_throttle_count", "10\n")
        write_at(folder / "thermal_throttle/package_throttle_count", "100\n")
    machine, before = both(tmp_path)
    for cpu in (0, 2):
        folder = tmp_path / f"sys/devices/system/cpu/cpu{cpu}/thermal_throttle"
        write_at(folder / "core_throttle_count", "13\n")
    used, _ = machine.used(before, machine.read(), SECOND)
    machine.close()
    assert used["host_thermal_throttle_count"] == 3


def rapl(root: Path, joules: float) -> None:
    zone = root / "sys/class/powercap/intel-rapl:0"
    write_at(zone / "name", "package-0\n")
    write_at(zone / "max_energy_range_uj", "262143328850\n")
    write_at(zone / "energy_uj", f"{joules * 1e6:.0f}\n")
    write_at(root / "sys/class/powercap/intel-rapl:0:0/name", "core\n")
    write_at(root / "sys/class/powercap/intel-rapl:0:0/energy_uj", "5\n")


def test_energy_runs_round_at_its_range(tmp_path: Path) -> None:
    rapl(tmp_path, 262143.0)
    machine, before = both(tmp_path)
    rapl(tmp_path, 10.0)
    after = machine.read()
    used, _ = machine.used(before, after, SECOND)
    assert used[ENERGY] == pytest.approx(10.32885)
    used, reasons = machine.used(before, after, 3600.0)
    machine.close()
    assert used[ENERGY] is None
    assert "round" in reasons[ENERGY]


def test_the_labs_own_quota_is_that_of_all_groups_above_it(tmp_path: Path) -> None:
    mount = tmp_path / "cgroup"
    cpu_stat = "usage_usec 1\nnr_periods 2\nnr_throttled {}\nthrottled_usec {}\n"
    write_at(tmp_path / "proc" / "self" / "cgroup", "0::/lab.slice/lab.service\n")
    write_at(
        tmp_path / "proc/self/mountinfo",
        f"31 23 0:28 / {mount} rw - cgroup2 cgroup2 rw,nsdelegate\n",
    )
    write_at(mount / "cpu.stat", "usage_usec 1\n")
    for group in ("lab.slice", "lab.slice/lab.service"):
        write_at(mount / group / "cpu.stat", cpu_stat.format(0, 0))
    machine, before = both(tmp_path)
    write_at(mount / "lab.slice/cpu.stat", cpu_stat.format(2, 500_000))
    write_at(mount / "lab.slice/lab.service/cpu.stat", cpu_stat.format(1, 250_000))
    used, _ = machine.used(before, machine.read(), SECOND)
    machine.close()
    assert used["lab_throttled_count"] == 3
    assert used["lab_throttled_s"] == 0.75
