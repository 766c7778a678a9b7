"""Where a run was measured: the testbed, and the state of the case's repository.

Nothing here fails: what a host does not tell is null. Sizes are bytes, frequencies hertz.
"""

import copy
import os
import platform
import subprocess
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TypeAlias, cast

import psutil

from benchyard import __version__
from benchyard.model import Json, JsonObject

_CPU = Path("/sys/devices/system/cpu")
#: Seconds for one question to git: a repository on a dead network drive must not hold a run.
GIT_TIMEOUT = 5.0
UNKNOWN = "UNKNOWN"
_MISSING = (
    OSError,
    LookupError,
    AttributeError,
    TypeError,
    ValueError,
    RuntimeError,
    Warning,
    psutil.Error,
)
_Facts: TypeAlias = Mapping[str, Callable[[], Json]]


def environment() -> JsonObject:
    """Return what is known of the testbed; looked up once per process."""
    return copy.deepcopy(_environment())


@cache
def _environment() -> JsonObject:
    facts: _Facts = {
        "host": platform.node,
        "kernel": platform.platform,
        "os": _os,
        "architecture": platform.machine,
        "cpu": _cpu,
        "memory_bytes": lambda: psutil.virtual_memory().total,
        "swap_bytes": _swap,
        "disks": _disks,
        "network": _network,
        "python": lambda: f"{platform.python_implementation()} {platform.python_version()}",
    }
    return _known(facts) | {"benchyard": __version__}


def _known(facts: _Facts) -> JsonObject:
    return {name: _or_null(fact) for name, fact in facts.items()}


def _or_null(fact: Callable[[], Json]) -> Json:
    try:
        value = fact()
    except _MISSING:
        return None
    return None if value == "" else value


def _os() -> Json:
    release = platform.freedesktop_os_release()
    return {"name": release.get("NAME"), "version": release.get("VERSION")}


def _cpu() -> Json:
    facts: _Facts = {
        "model": _cpu_model,
        "logical_cores": psutil.cpu_count,
        "physical_cores": lambda: psutil.cpu_count(logical=False),
        "frequency_min_hz": lambda: _frequency_hz("min"),
        "frequency_max_hz": lambda: _frequency_hz("max"),
        "governor": _governor,
        "turbo": _turbo,
    }
    return _known(facts)


def _cpu_model() -> Json:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return None


def _frequency_hz(which: str) -> Json:
    """Return a frequency; psutil counts in MHz, and says 0 or None for unknown."""
    mhz = getattr(psutil.cpu_freq(), which)
    return round(mhz * 1_000_000) if mhz else None


def _governor() -> Json:
    """Return the frequency governor; several, if the cores differ, in one text."""
    files = sorted((_CPU / "cpufreq").glob("policy*/scaling_governor"))
    return ", ".join(sorted({file.read_text().strip() for file in files})) or None


def _turbo() -> Json:
    """Return whether the CPU may exceed its base frequency.

    Source: Linux, Documentation/admin-guide/pm: intel_pstate.rst (no_turbo), cpufreq.rst (boost).
    """
    intel, generic = _CPU / "intel_pstate" / "no_turbo", _CPU / "cpufreq" / "boost"
    if intel.exists():
        return intel.read_text().strip() == "0"
    return generic.read_text().strip() == "1"


def _swap() -> Json:
    # psutil warns where a container hides the paging counters, which are not asked for here.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return psutil.swap_memory().total


def _disks() -> Json:
    """Return the mounted file systems that lie on a disk."""
    found: list[Json] = []
    for disk in psutil.disk_partitions(all=False):
        if not _is_real(disk.device, disk.fstype, Path(disk.mountpoint)):
            continue
        found.append(
            {
                "mountpoint": disk.mountpoint,
                "device": disk.device,
                "fstype": disk.fstype,
                "total_bytes": _or_null(lambda at=disk.mountpoint: psutil.disk_usage(at).total),
            }
        )
    return found


def _is_real(device: str, fstype: str, mountpoint: Path) -> bool:
    """Tell a disk from images, layers, network drives and single files bound into a container."""
    if not device.startswith("/dev/") or device.startswith(("/dev/loop", "/dev/fuse")):
        return False
    return fstype not in ("", "squashfs", "overlay") and mountpoint.is_dir()


def _network() -> Json:
    """Return the interfaces; psutil counts speed in Mbit/s, and says 0 for unknown."""
    return [
        {"name": name, "speed_bits_per_s": state.speed * 1_000_000 if state.speed else None}
        for name, state in psutil.net_if_stats().items()
    ]


def git_state(folder: Path) -> JsonObject:
    """Return the commit of a folder's repository, and whether its tracked files differ from that.

    Untracked files do not count, since every result of a run is one. Both are null outside of a
    repository, without git, and where git may not look.
    """
    commit = _git(folder, "rev-parse", "--verify", "HEAD")
    if commit is None:
        return {"commit": None, "dirty": None}
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return {"commit": commit, "dirty": None if changes is None else bool(changes)}


def _git(folder: Path, *arguments: str) -> str | None:
    # A case's repository is somebody else's: its settings must not start a program here, nor may
    # looking lock its index; and git's own variables would point to another repository.
    safe = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        answer = subprocess.run(
            ["git", *safe, "-C", str(folder), *arguments],  # noqa: S607 - git is where PATH says
            env=clean | {"GIT_OPTIONAL_LOCKS": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_TIMEOUT,
            check=True,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return answer.stdout.decode(errors="replace").strip()


def case_info(
    case_title: str,
    folder: Path,
    run: int,
    steps: int,
    environment: Mapping[str, Json],
    started_at: str,
) -> str:
    """Write ``case-info.txt`` in KROWN's layout.

    Args:
        folder: The case's folder.
        steps: How many steps the case has.
        environment: What ``environment`` returned; under ``docker`` it may have ``version``,
            ``root``, ``storage`` and ``cgroup``.
        started_at: ISO 8601.
    """
    lines = [
        "===> CASE <===",
        f"Name: {case_title}",
        f"Timestamp: {started_at}",
        f"Directory: {folder}",
        f"Run: {run}",
        f"Number of steps: {steps}",
        "",
        "===> HARDWARE <===",
        *_hardware(environment),
        "",
        "===> DOCKER <===",
        *_docker(_part(environment, "docker")),
    ]
    return "\n".join(lines) + "\n"


def _hardware(environment: Mapping[str, Json]) -> list[str]:
    system, cpu = _part(environment, "os"), _part(environment, "cpu")
    return [
        "System",
        f"\tHostname: {_text(environment.get('host'))}",
        f"\tOS name: {_text(system.get('name'))}",
        f"\tOS version: {_text(system.get('version'))}",
        f"\tKernel: {_text(environment.get('kernel'))}",
        f"\tArchitecture: {_text(environment.get('architecture'))}",
        "CPU",
        f"\tName: {_text(cpu.get('model'))}",
        f"\tCores: {_text(cpu.get('logical_cores'))}",
        f"\tMinimum frequency: {_scaled(cpu.get('frequency_min_hz'), 10**6, 'MHz')}",
        f"\tMaximum frequency: {_scaled(cpu.get('frequency_max_hz'), 10**6, 'MHz')}",
        "Memory",
        f"\tRAM memory: {_scaled(environment.get('memory_bytes'), 10**6, 'MB')}",
        f"\tSWAP memory: {_scaled(environment.get('swap_bytes'), 10**6, 'MB')}",
        "Storage",
        *(
            f'\tDisk "{disk.get("mountpoint")}": {_scaled(disk.get("total_bytes"), 10**9, "GB", 2)}'
            for disk in _parts(environment, "disks")
        ),
        "Network",
        *(_interface(interface) for interface in _parts(environment, "network")),
    ]


def _interface(interface: JsonObject) -> str:
    line = f'\tInterface "{interface.get("name")}"'
    speed = interface.get("speed_bits_per_s")
    return line if speed is None else f"{line}: {_scaled(speed, 10**6, 'mbps')}"


def _docker(docker: JsonObject) -> list[str]:
    return [
        f"Version: {_text(docker.get('version'))}",
        f"Root directory: {_text(docker.get('root'))}",
        "Drivers:",
        f"\tStorage: {_text(docker.get('storage'))}",
        f"\tCgroupFS: {_text(docker.get('cgroup'))}",
    ]


def _text(value: Json) -> str:
    return UNKNOWN if value is None else str(value)


def _scaled(value: Json, unit: int, name: str, digits: int = 0) -> str:
    """Write a number in a larger unit, cut off like KROWN does without digits."""
    if not isinstance(value, int | float):
        return UNKNOWN
    return f"{round(value / unit, digits) if digits else int(value / unit)} {name}"


def _part(facts: Mapping[str, Json], name: str) -> JsonObject:
    value = facts.get(name)
    return value if isinstance(value, dict) else {}


def _parts(facts: Mapping[str, Json], name: str) -> list[JsonObject]:
    value = facts.get(name)
    return cast("list[JsonObject]", value) if isinstance(value, list) else []
