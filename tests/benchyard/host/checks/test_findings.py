"""What each check finds on recorded hosts; folders, the engine and neighbours have more beside."""

from pathlib import Path

import pytest

from benchyard.host.checks import make
from benchyard.host.checks.check_context import Status
from benchyard.host.facts.system import ClockState
from tests.benchyard.host.checks import hosts
from tests.benchyard.host.checks.hosts import CONTAINER, CPU, GUEST, LAPTOP, SERVER, Expected, finds

FAIL, WARN, OK, UNKNOWN = Status.FAIL, Status.WARN, Status.OK, Status.UNKNOWN
POLICY, CAPACITY = f"{CPU}/cpufreq/policy0", f"{CPU}/cpu{{}}/cpu_capacity"
HEAT = f"{CPU}/cpu1/thermal_throttle/core_throttle_count"
ASLR, THP = "proc/sys/kernel/randomize_va_space", "sys/kernel/mm/transparent_hugepage"
SWAPS = "Filename\tType\tSize\tUsed\tPriority\n"
AC, BATTERY = "sys/class/power_supply/AC", "sys/class/power_supply/BAT0"
TAINT, RELEASE = "proc/sys/kernel/tainted", "proc/sys/kernel/osrelease"
PERF, STATUS = "proc/sys/kernel/perf_event_paranoid", "proc/self/status"
RAPL, LIMITS = "sys/class/powercap/intel-rapl:0/energy_uj", "proc/self/limits"
SOURCE = "sys/devices/system/clocksource/clocksource0/current_clocksource"
SLUB = {"proc/cmdline": "ro slub_debug=FZP quiet\n"}
ALONE = {path: text for path, text in CONTAINER.items() if ".scope" not in path}

PROCESSOR = [
    finds("governor", LAPTOP, WARN, "powersave on 4 CPUs", "frequency-set -g performance"),
    finds("governor", SERVER, OK, "performance on 8 CPUs"),
    finds("governor", LAPTOP | {f"{POLICY}/scaling_governor": "performance"}, WARN, "powersave on"),
    finds("governor", GUEST, UNKNOWN, "no frequency driver"),
    finds("energy preference", LAPTOP, WARN, "balance_power", "cpupower set --epp performance"),
    finds("turbo", LAPTOP, WARN, "on:", f"echo 1 > /{CPU}/intel_pstate/no_turbo"),
    finds("turbo", SERVER, WARN, "on:", f"echo 0 > /{CPU}/cpufreq/boost"),
    finds("turbo", {f"{CPU}/cpufreq/boost": "0"}, OK, "off"),
    finds("turbo", {f"{CPU}/intel_pstate/no_turbo": "?"}, UNKNOWN, "does not tell"),
    finds("frequency limits", LAPTOP, WARN, "held to 3.00 of 4.20 GHz", "-u 4.20GHz"),
    finds("frequency limits", SERVER, OK, "may reach 3.74 GHz"),
    finds("SMT", LAPTOP, WARN, "on: 2 cores, 4 threads", "echo off > "),
    finds("SMT", GUEST, OK, "off: 2 cores, 2 threads"),
    finds("SMT", hosts.threads(2, {0: "0-1", 1: "0-1"}), WARN, "on: 1 core, 2 threads"),
    finds("thermal throttling", LAPTOP, WARN, "45 times since boot", "cool"),
    finds("thermal throttling", {HEAT: "0"}, OK, "never"),
    finds("NUMA", SERVER, WARN, "2 nodes", "numactl --cpunodebind=0"),
    finds("NUMA", LAPTOP, OK, "1 node"),
    finds("CPU isolation", SERVER, OK, "of 0-7; 2-3 isolated"),
    finds("CPU isolation", LAPTOP, OK, "none isolated"),
    finds("kinds of cores", {"sys/devices/cpu_atom/cpus": "8-15"}, WARN, "CPUs 8-15 are slower"),
    finds(
        "kinds of cores",
        {f"{CPU}/online": "0-2"}
        | {CAPACITY.format(cpu): str(much) for cpu, much in enumerate((446, 446, 1024))},
        *(WARN, "CPUs 0-1 are slower", "taskset"),
    ),
    finds("clocksource", LAPTOP, OK, ""),
    finds("clocksource", GUEST, OK, ""),
    finds("clocksource", SERVER, WARN, "", f"echo tsc > /{SOURCE}"),
    finds("clocksource", {SOURCE: "hpet"}, WARN, "", "dmesg | grep -i tsc"),
    finds("clock synchronization", LAPTOP, OK, "systemd-timesyncd"),
    finds("clock synchronization", SERVER, UNKNOWN, "does not tell"),
]
MEMORY = [
    finds("swap", LAPTOP, WARN, "397.9 MB of 8.59 GB used, in memory (zram)", "swapoff -a"),
    finds("swap", SERVER, OK, "none"),
    finds("swap", {"proc/swaps": SWAPS + "/swap\\040x file 1000 0 -2\n"}, WARN, "0 B of"),
    finds("swap", {"proc/swaps": SWAPS + "/x file 1000\n/y file a b c\n"}, OK, "none"),
    finds("free memory", LAPTOP, OK, "9.216 GB of 16.61 GB available"),
    finds("free memory", SERVER, WARN, "20.48 GB of 540.6 GB", "ps -eo rss,comm"),
    finds("free memory", {"proc/meminfo": "MemTotal: 5 kB"}, UNKNOWN, "cannot be understood"),
    finds("huge pages", LAPTOP, OK, "madvise: only for programs that ask"),
    finds("huge pages", SERVER, WARN, "always", f"echo madvise > /{THP}/enabled"),
    finds(
        *("huge pages", LAPTOP | {f"{THP}/defrag": "[always] never"}, WARN),
        *("defrag always", f"echo madvise > /{THP}/defrag"),
    ),
    finds("huge pages", {f"{THP}/enabled": "always madvise [never]"}, OK, "never"),
    finds("huge pages", GUEST, UNKNOWN, ""),
    finds("ASLR", LAPTOP, OK, "full"),
    finds("ASLR", {ASLR: "1"}, WARN, "partial (1)", "sysctl -w kernel.randomize_va_space=2"),
    finds("ASLR", {ASLR: "0"}, WARN, "off: all runs share a layout"),
    finds("ASLR", {ASLR: "on"}, UNKNOWN, "does not tell"),
]
CONFINEMENT = [
    finds("power supply", LAPTOP, FAIL, "battery, 57 % left", "plug the host in"),
    finds("power supply", LAPTOP | {f"{AC}/online": "1"}, OK, "mains"),
    finds("power supply", {f"{BATTERY}/type": "Battery"}, OK, "no battery"),
    finds("power supply", {f"{BATTERY}/type": "Battery", f"{BATTERY}/status": "Full"}, OK, "mains"),
    finds("power supply", SERVER, OK, "no battery"),
    finds("power profile", LAPTOP, WARN, "balanced", "powerprofilesctl set performance"),
    finds("power profile", {"sys/firmware/acpi/platform_profile": "performance"}, OK, "perf"),
    finds("virtualization", LAPTOP, OK, "bare metal"),
    finds("virtualization", GUEST, WARN, "virtual machine (QEMU)", "bare metal"),
    finds("virtualization", CONTAINER, OK, "bare metal, in a container (docker)"),
    finds("cgroups", LAPTOP, WARN, "version 2: the peak", "Linux 6.12"),
    finds("cgroups", SERVER, OK, "version 2: peaks of memory are reset"),
    finds("cgroups", GUEST, OK, "version 1: peaks"),
    finds("cgroups", LAPTOP | {RELEASE: "6.12.1-custom"}, OK, "version 2: peaks"),
    finds("cgroups", LAPTOP | {RELEASE: "six"}, WARN, "not for each"),
    finds("cgroups", {}, WARN, "none are mounted", "mount -t cgroup2"),
    finds("limits of the lab", LAPTOP, OK, "none"),
    finds(
        *("limits of the lab", CONTAINER, WARN),
        *("2 of 8 cores, reached 41 times so far and 536.9 MB of memory", "quota"),
    ),
    finds("limits of the lab", GUEST, WARN, "1.5 of 2 cores and 268.4 MB of memory"),
    finds("kernel", LAPTOP, WARN, "since boot: warning (taint 4608)", "dmesg"),
    finds("kernel", {TAINT: "4097"}, OK, "nothing went wrong since boot (taint 4097)"),
    finds("kernel", {TAINT: "-1"}, UNKNOWN, "does not tell"),
    finds("kernel", SERVER | SLUB, WARN, "slub_debug=FZP", "boot without that"),
    finds("process counters", LAPTOP, OK, "can be had"),
    finds("process counters", {"proc/self/io": "x"}, WARN, "peaks of memory of processes cannot"),
    finds("process counters", {}, WARN, "bytes of disks and peaks of memory"),
    finds("perf events", LAPTOP, OK, "in own programs, outside of the kernel"),
    finds("perf events", LAPTOP | {PERF: "-1"}, OK, "the kernel's too (perf_event_paranoid -1)"),
    finds("perf events", LAPTOP | {PERF: "4"}, WARN, "this user may count nothing"),
    finds("perf events", {PERF: "4", STATUS: "CapEff:\t01ffffffffff\n"}, OK, "the kernel's too"),
    finds("perf events", {PERF: "4", STATUS: "CapEff:\tno\n"}, WARN, "nothing"),
    finds("energy counters", SERVER, OK, "1 counter (RAPL) can be read"),
    finds("energy counters", LAPTOP, UNKNOWN, "has none"),
    finds("energy counters", {RAPL: "no number"}, WARN, "1 counter, which only root may read"),
    finds("open files", LAPTOP, OK, "1024 at once, 524288 if asked for"),
    finds("open files", {LIMITS: "Max open files 256 4096 files"}, WARN, "256 at once", "ulimit"),
    finds("open files", {LIMITS: "Max open files unlimited"}, UNKNOWN, "cannot be understood"),
]
NEIGHBOURS = [
    finds("load average", LAPTOP, OK, "0.05 0.10 0.08 over 1, 5 and 15 minutes, on 4 cores"),
    finds("load average", SERVER, WARN, "7.90 8.10 8.00"),
    finds("load average", {"proc/loadavg": "99 99 99 1/2 3"}, WARN, "99 99 99"),
    finds("load average", {"proc/loadavg": "very much load"}, UNKNOWN, "cannot be understood"),
    finds("pressure", LAPTOP, OK, "cpu 0.00%, memory 0.00%, io 0.00%"),
    finds("pressure", SERVER, WARN, "cpu 12.50%"),
    finds("pressure", {"proc/pressure/io": "some avg10=1.01 total=5"}, WARN, "waited: io 1.01%"),
    finds("pressure", {"proc/pressure/cpu": "full avg10=9.00"}, UNKNOWN, "does not measure"),
    finds("steal", GUEST, WARN, "5.18 % of all CPU time since boot"),
    finds("steal", {"proc/stat": "cpu 1 2 3"}, UNKNOWN, "does not tell"),
    finds("other containers", LAPTOP, OK, "none run"),
    finds("other containers", SERVER, WARN, f"2 containers: docker {'a' * 12}, cri-containerd bb"),
    finds("other containers", GUEST, UNKNOWN, "without cgroups of version 2 others cannot"),
    finds("other containers", ALONE, UNKNOWN, "from inside a container (docker) others cannot"),
]


@pytest.mark.parametrize(
    "expected", [*PROCESSOR, *MEMORY, *CONFINEMENT, *NEIGHBOURS], ids=hosts.named
)
def test_what_is_found(tmp_path: Path, expected: Expected) -> None:
    check, files, *_ = expected
    hosts.expect(expected, hosts.made(check, hosts.scene_of(tmp_path, files, user=0)))


def test_what_a_host_has_not_got_needs_no_line(tmp_path: Path) -> None:
    lacking = dict.fromkeys(("energy preference", "frequency limits", "kinds of cores"), GUEST)
    lacking |= dict.fromkeys(("steal", "busy processes", "other labs"), LAPTOP)
    for check, files in {**lacking, "power profile": SERVER}.items():
        assert make(check, hosts.scene_of(tmp_path / check, files)) is None, check


IN = {"proc/vmstat": "pswpin 9\npswpout 0\n"}
STEAL = [{"proc/stat": hosts.STAT.format(user=9000, idle=900_000, steal=n)} for n in (100, 110)]


@pytest.mark.parametrize(
    ("expected", "after"),
    [
        (finds("swap", LAPTOP, FAIL, "moved in 0.5 s just now"), IN),
        (finds("thermal throttling", LAPTOP, FAIL, "3 times in 0.5 s just now"), {HEAT: "13"}),
        (finds("load average", SERVER, FAIL, "8.00"), {"proc/loadavg": "8.00 1 1 1/1 1"}),
        (finds("steal", GUEST | STEAL[0], WARN, "0.10 s in 0.5 s just now; 0.0121 %"), STEAL[1]),
        (finds("steal", GUEST | STEAL[0], OK, "0.00 s in"), {}),
    ],
)
def test_what_happens_while_it_is_looked_at(
    tmp_path: Path, expected: Expected, after: dict[str, str]
) -> None:
    check, before, *_ = expected
    hosts.expect(expected, hosts.made(check, hosts.looked(tmp_path, before, {**before, **after})))


CLOCK = "clock synchronization"


@pytest.mark.parametrize(
    ("clock", "expected"),
    [
        (ClockState(True, 0.00012, 0.025), finds(CLOCK, {}, OK, "off by 0.12 ms, at most by 25")),
        (ClockState(False, 0, 16), finds(CLOCK, {}, WARN, "not synchronized", " ")),
        (ClockState(False, 0, 16), finds(CLOCK, LAPTOP, OK, "systemd-timesyncd")),
    ],
)
def test_the_kernels_clock_is_told(tmp_path: Path, clock: ClockState, expected: Expected) -> None:
    hosts.expect(expected, hosts.made(CLOCK, hosts.scene_of(tmp_path, expected[1], clock=clock)))


@pytest.mark.parametrize(("user", "files"), [(1000, GUEST), (0, SERVER | {RELEASE: "6.12.0"})])
def test_only_root_and_a_file_that_may_be_written_to_reset_the_peaks_of_containers(
    tmp_path: Path, user: int, files: dict[str, str]
) -> None:
    context = hosts.scene_of(tmp_path, files, user=user)
    for peak in context.host.root.rglob("memory.peak"):
        peak.chmod(0o444)
    assert hosts.made("cgroups", context).status is WARN
