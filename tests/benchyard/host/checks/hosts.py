"""Hosts as their kernels' files show them, for checks and provenance."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from benchyard.host.checks import make
from benchyard.host.checks.check_context import CheckContext, Finding, Load, Status, glance
from benchyard.host.facts.reading import Host
from benchyard.host.facts.system import Contact, EngineFacts

CPU = "sys/devices/system/cpu"
MIB = 1024 * 1024

STAT = "cpu  {user} 0 500 {idle} 60 0 10 {steal} 0 0\nctxt 12345\nbtime 1795265995\n"
#: What a kernel writes in a cgroup v1 where there is no limit.
NO_LIMIT_V1 = "9223372036854771712"


def threads(count: int, siblings: Mapping[int, str], package: int = 0) -> dict[str, str]:
    """Return the topology of so many CPUs."""
    made: dict[str, str] = {f"{CPU}/online": f"0-{count - 1}" if count > 1 else "0"}
    for cpu in range(count):
        made[f"{CPU}/cpu{cpu}/topology/core_cpus_list"] = siblings[cpu]
        made[f"{CPU}/cpu{cpu}/topology/package_cpus_list"] = f"0-{count - 1}"
        made[f"{CPU}/cpu{cpu}/topology/physical_package_id"] = str(package)
    return made


def cpuinfo(model: str, *flags: str) -> str:
    one = f"model name\t: {model}\nmicrocode\t: 0xf4\nflags\t\t: fpu tsc {' '.join(flags)}\n"
    return f"processor\t: 0\n{one}\nprocessor\t: 1\n{one}"


def supply(name: str, **files: str) -> dict[str, str]:
    return {f"sys/class/power_supply/{name}/{file}": f"{text}\n" for file, text in files.items()}


THP = {"sys/kernel/mm/transparent_hugepage/defrag": "always defer defer+madvise [madvise] never\n"}
COMMON: dict[str, str] = {
    "proc/sys/kernel/randomize_va_space": "2\n",
    "proc/sys/kernel/tainted": "0\n",
    "proc/sys/kernel/osrelease": "6.1.0-18-amd64\n",
    "proc/sys/kernel/perf_event_paranoid": "2\n",
    "proc/sys/vm/swappiness": "60\n",
    "proc/self/status": "Name:\tpython\nCapEff:\t0000000000000000\n",
    "proc/self/io": "rchar: 5\n",
    "proc/self/clear_refs": "",
    "proc/self/limits": "Limit  Soft Limit  Hard Limit  Units\n"
    "Max open files            1024                 524288               files     \n",
    "proc/self/cgroup": "0::/user.slice/user-1000.slice/session-2.scope\n",
    "proc/self/mountinfo": "22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw\n"
    "30 22 0:27 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
    "proc/loadavg": "0.05 0.10 0.08 1/500 4242\n",
    "proc/pressure/cpu": "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n",
    "proc/pressure/io": "some avg10=0.00 avg60=0.10 avg300=0.00 total=1\nfull avg10=0.00 total=0\n",
    "proc/pressure/memory": "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n",
    "proc/stat": STAT.format(user=1000, idle=90000, steal=0),
    "proc/vmstat": "pswpin 0\npswpout 0\npgmajfault 5\noom_kill 0\n",
    "proc/cmdline": "BOOT_IMAGE=/vmlinuz root=/dev/nvme0n1p2 ro quiet\n",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
    "sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc hpet acpi_pm \n",
    "sys/devices/system/node/online": "0\n",
    f"{CPU}/isolated": "\n",
}

#: A notebook of 2017 with Fedora, on its battery.
LAPTOP: dict[str, str] = {
    **COMMON,
    **threads(4, {0: "0,2", 1: "1,3", 2: "0,2", 3: "1,3"}),
    "proc/cpuinfo": cpuinfo("Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz", "vmx"),
    "proc/meminfo": "MemTotal:       16223612 kB\nMemAvailable:    9000000 kB\n"
    "SwapTotal:       8388604 kB\nSwapFree:        8000000 kB\n",
    "proc/swaps": "Filename\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
    "/dev/zram0                              partition\t8388604\t\t388604\t\t100\n",
    "proc/sys/kernel/tainted": "4608\n",
    f"{CPU}/smt/active": "1\n",
    f"{CPU}/intel_pstate/no_turbo": "0\n",
    **{
        f"{CPU}/cpufreq/policy{cpu}/{name}": value
        for cpu in range(4)
        for name, value in {
            "scaling_governor": "powersave\n",
            "scaling_driver": "intel_pstate\n",
            "energy_performance_preference": "balance_power\n",
            "cpuinfo_min_freq": "400000\n",
            "cpuinfo_max_freq": "4200000\n",
            "scaling_max_freq": "3000000\n",
        }.items()
    },
    **{f"{CPU}/cpu{cpu}/thermal_throttle/core_throttle_count": "10" for cpu in range(4)},
    **{f"{CPU}/cpu{cpu}/thermal_throttle/package_throttle_count": "25" for cpu in range(4)},
    **THP,
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
    **supply("AC", type="Mains", online="0"),
    **supply("BAT0", type="Battery", status="Discharging", capacity="57"),
    **supply("hidpp_battery_0", type="Battery", scope="Device", status="Discharging", capacity="3"),
    "sys/firmware/acpi/platform_profile": "balanced\n",
    "run/systemd/timesync/synchronized": "",
    "sys/class/dmi/id/sys_vendor": "Dell Inc.\n",
    "sys/class/dmi/id/product_name": "Latitude 7490\n",
    "sys/class/net/lo/operstate": "unknown\n",
    "sys/class/net/enp0s31f6/speed": "1000\n",
    "sys/class/net/wlp2s0/speed": "-1\n",
}

#: A server with two sockets, version 2 cgroups and containers of Docker and Kubernetes.
_DOCKER_ID, _POD_ID = "a" * 64, "b" * 64
_SLICE, _POD = "sys/fs/cgroup/system.slice", "sys/fs/cgroup/kubepods.slice/pod1"
SERVER: dict[str, str] = {
    **COMMON,
    **threads(8, {cpu: f"{cpu % 4},{cpu % 4 + 4}" for cpu in range(8)}),
    "proc/cpuinfo": cpuinfo("AMD EPYC 7543 32-Core Processor"),
    "proc/meminfo": "MemTotal:  527951232 kB\nMemAvailable: 20000000 kB\nSwapTotal: 0 kB\n",
    "proc/swaps": "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n",
    "proc/loadavg": "7.90 8.10 8.00 9/2000 99\n",
    "proc/pressure/cpu": "some avg10=12.50 avg60=9.00 avg300=1.00 total=99\n",
    f"{CPU}/smt/active": "1\n",
    f"{CPU}/cpufreq/boost": "1\n",
    f"{CPU}/cpufreq/policy0/scaling_governor": "performance\n",
    f"{CPU}/cpufreq/policy0/cpuinfo_max_freq": "3737000\n",
    f"{CPU}/cpufreq/policy0/scaling_max_freq": "3737000\n",
    f"{CPU}/isolated": "2-3\n",
    "sys/devices/system/node/online": "0-1\n",
    **THP,
    "sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
    "sys/class/powercap/intel-rapl:0/energy_uj": "123456789\n",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet\n",
    f"{_SLICE}/docker-{_DOCKER_ID}.scope/cgroup.events": "populated 1\nfrozen 0\n",
    f"{_SLICE}/docker-{'c' * 64}.scope/cgroup.events": "populated 0\nfrozen 0\n",
    f"{_POD}/cri-containerd-{_POD_ID}.scope/cgroup.events": "populated 1\nfrozen 0\n",
    "sys/fs/cgroup/user.slice/user-1000.slice/session-2.scope/memory.peak": "5\n",
}

#: A container of Docker on a kernel with version 2 cgroups alone, with limits.
CONTAINER: dict[str, str] = {
    **SERVER,
    ".dockerenv": "",
    "proc/self/ns/pid": "-> pid:[4026532201]",
    "proc/self/ns/uts": "-> uts:[4026532198]",
    "proc/self/ns/ipc": "-> ipc:[4026532199]",
    "proc/self/cgroup": "0::/\n",
    "proc/self/mountinfo": "700 600 0:52 / / rw,relatime - overlay overlay rw,lowerdir=/a\\040b\n"
    "710 700 0:27 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw,nsdelegate\n"
    "711 700 259:2 /var/x /etc/hosts rw - ext4 /dev/nvme0n1p2 rw\n",
    "sys/fs/cgroup/cpu.max": "200000 100000\n",
    "sys/fs/cgroup/cpu.stat": "usage_usec 5\nnr_periods 900\nnr_throttled 41\nthrottled_usec 7\n",
    "sys/fs/cgroup/memory.max": str(512 * MIB) + "\n",
}

#: A virtual machine with version 1 cgroups and its CPU time stolen.
GUEST: dict[str, str] = {
    **COMMON,
    **threads(2, {0: "0", 1: "1"}),
    "proc/cpuinfo": cpuinfo("Intel Xeon Processor (Skylake)", "hypervisor"),
    "proc/meminfo": "MemTotal: 4000000 kB\nMemAvailable: 3900000 kB\nSwapTotal: 0 kB\n",
    "proc/swaps": "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n",
    "proc/stat": STAT.format(user=1000, idle=90000, steal=5000),
    "proc/self/mountinfo": "22 1 253:1 / / rw - ext4 /dev/vda1 rw\n"
    "31 22 0:28 / /sys/fs/cgroup ro - tmpfs tmpfs ro\n"
    "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "36 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
    "proc/self/cgroup": "3:cpu,cpuacct:/lab\n4:memory:/lab/inner\n",
    "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
    "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
    "sys/fs/cgroup/cpu,cpuacct/lab/cpu.cfs_quota_us": "150000\n",
    "sys/fs/cgroup/cpu,cpuacct/lab/cpu.cfs_period_us": "100000\n",
    "sys/fs/cgroup/memory/memory.limit_in_bytes": NO_LIMIT_V1 + "\n",
    "sys/fs/cgroup/memory/lab/memory.limit_in_bytes": str(256 * MIB) + "\n",
    "sys/fs/cgroup/memory/lab/inner/memory.limit_in_bytes": NO_LIMIT_V1 + "\n",
    f"{CPU}/smt/active": "0\n",
    "sys/class/dmi/id/sys_vendor": "QEMU\n",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "kvm-clock\n",
}
HOSTS: dict[str, dict[str, str]] = {
    "laptop": LAPTOP,
    "server": SERVER,
    "container": CONTAINER,
    "guest": GUEST,
    "nothing told": {},
}


def write_host(folder: Path, files: Mapping[str, str | None]) -> Host:
    """Write a host's files below a folder; ``-> x`` makes a link, None a file that is refused."""
    for path, content in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            place.symlink_to(place.name)  # a loop: reading it is an error for root, too
        elif content.startswith("-> "):
            place.symlink_to(content[3:])
        else:
            place.write_text(content)
    return Host(folder)


def scene_of(folder: Path, files: Mapping[str, str | None], **more: Any) -> CheckContext:
    """Return what checks look at, of a host written below a folder."""
    host = write_host(folder / "host", files)
    given: dict[str, Any] = {"results": folder, "temporary": folder, "user": 1000}
    given |= {"engine": EngineFacts(Contact.ABSENT), **more}
    return CheckContext(host, **given)


def looked(folder: Path, before: Mapping[str, str], after: Mapping[str, str]) -> CheckContext:
    """Return a context with a look of half a second between two states of a host."""
    first = glance(scene_of(folder / "before", before).host, 0.0)
    second = glance(scene_of(folder / "after", after).host, 0.5)
    return scene_of(folder / "now", after, look=Load(first, second))


def made(check: str, context: CheckContext) -> Finding:
    """Make a check that applies to the host."""
    found = make(check, context)
    assert found is not None
    assert found.check == check
    return found


Expected: TypeAlias = tuple[str, Mapping[str, str], Status, str, str]


def finds(
    check: str, files: Mapping[str, str], status: Status, words: str, advice: str = ""
) -> Expected:
    """Return a row: what a check says of a host; ``words`` and ``advice`` are parts of it."""
    return check, files, status, words, advice


def named(expected: Expected) -> str:
    """Return the id of a test with such a row."""
    return f"{expected[0]}: {expected[3]}"


def expect(expected: Expected, found: Finding) -> None:
    """Compare a finding with a row."""
    _, _, status, words, advice = expected
    assert found.status is status
    assert words in found.finding
    assert advice in found.advice
