"""CPUs, memory, power, network, disks: what there is, and what decides how fast it is."""

import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from benchyard.core.model import Json, JsonObject
from benchyard.host.facts.reading import Host, as_list, chosen, integer, or_null, pairs
from benchyard.process.cgroups import MountPoint, read_mounts

CPU = "sys/devices/system/cpu"
NODE = "sys/devices/system/node"
#: Bytes of /proc/cpuinfo that hold the first CPU; the kernel asks every further one for its speed.
_FIRST_CPU = 4096


def processor(host: Host) -> JsonObject:
    """Return what is known of the CPUs; frequencies in Hz.

    Source: Linux, Documentation/ABI/testing/sysfs-devices-system-cpu; admin-guide/pm/cpufreq.rst.
    """
    topology = cores(host)
    return {
        "model": model(host),
        "logical_cores": len(online(host)),
        "physical_cores": len(topology) or None,
        "sockets": _sockets(host),
        "threads_per_core": max(map(len, topology), default=None),
        "smt": smt(host),
        "frequency_min_hz": min(frequencies(host, "cpuinfo_min_freq"), default=None),
        "frequency_max_hz": max(frequencies(host, "cpuinfo_max_freq"), default=None),
        "frequency_limit_hz": max(frequencies(host, "scaling_max_freq"), default=None),
        "cache_bytes": _caches(host),
        "governor": ", ".join(policies(host, "scaling_governor")) or None,
        "frequency_driver": ", ".join(policies(host, "scaling_driver")) or None,
        "energy_preference": ", ".join(policies(host, "energy_performance_preference")) or None,
        "turbo": turbo(host),
        "microcode": dict(first_cpu(host)).get("microcode"),
        "affinity": or_null(lambda: as_list(os.sched_getaffinity(0))),
        "isolated": isolated(host),
        "numa_nodes": len(host.cpus(f"{NODE}/online") or ()) or None,
        "vulnerabilities": _vulnerabilities(host),
    }


def first_cpu(host: Host) -> list[tuple[str, str]]:
    """Return what /proc/cpuinfo says of the first CPU."""
    return list(pairs((host.text("proc/cpuinfo", _FIRST_CPU) or "").partition("\n\n")[0]))


def model(host: Host) -> str | None:
    """Return the CPU's name; the board's where the CPU has none, as on many ARM systems."""
    name = dict(first_cpu(host)).get("model name")
    board = host.text("sys/firmware/devicetree/base/model")
    return name or (board.strip("\0") if board else None)


def online(host: Host) -> set[int]:
    """Return the CPUs that run."""
    return host.cpus(f"{CPU}/online") or set(range(os.cpu_count() or 1))


def cores(host: Host) -> set[frozenset[int]]:
    """Return the physical cores, each as its threads; empty if that is not told."""
    told = (host.cpus(f"{CPU}/cpu{cpu}/topology/core_cpus_list") for cpu in online(host))
    return {frozenset(threads) for threads in told if threads}


def _sockets(host: Host) -> Json:
    told = {host.text(f"{CPU}/cpu{cpu}/topology/physical_package_id") for cpu in online(host)}
    return len(told - {None, "-1"}) or None


def smt(host: Host) -> bool | None:
    """Return whether cores run several threads at once."""
    return host.flag(f"{CPU}/smt/active")


def policies(host: Host, name: str) -> list[str]:
    """Return the different values that a setting of the CPUs' frequency has."""
    folders = (n for n in host.names(f"{CPU}/cpufreq") if n.startswith("policy"))
    told = {host.text(f"{CPU}/cpufreq/{folder}/{name}") for folder in folders}
    return sorted(value for value in told if value)


def frequencies(host: Host, name: str) -> list[int]:
    """Return the different frequencies of a kind; in Hz, where the kernel counts in kHz."""
    return [n * 1000 for n in map(integer, policies(host, name)) if n is not None and n >= 0]


def turbo(host: Host) -> bool | None:
    """Return whether the CPU may exceed its base frequency.

    Source: Linux, Documentation/admin-guide/pm: intel_pstate.rst (no_turbo), cpufreq.rst (boost).
    """
    path = f"{CPU}/intel_pstate/no_turbo"
    if host.has(path):
        forbidden = host.flag(path)
        return None if forbidden is None else not forbidden
    return host.flag(f"{CPU}/cpufreq/boost")


def isolated(host: Host) -> str | None:
    """Return the CPUs that the scheduler leaves alone, or ``none``.

    Source: Linux, Documentation/admin-guide/kernel-parameters.txt, isolcpus.
    """
    path = f"{CPU}/isolated"
    return host.text(path) or ("none" if host.has(path) else None)


def _vulnerabilities(host: Host) -> Json:
    folder = f"{CPU}/vulnerabilities"
    return {name: host.text(f"{folder}/{name}") for name in host.names(folder)} or None


def hypervisor(host: Host) -> bool | None:
    """Return whether a hypervisor is below this kernel, as the CPU tells it.

    Source: Linux, arch/x86: X86_FEATURE_HYPERVISOR. Other architectures do not tell.
    """
    flags = dict(first_cpu(host)).get("flags")
    return None if flags is None else "hypervisor" in flags.split()


def _caches(host: Host) -> Json:
    """Return the size of one cache of each kind that the first CPU has: ``L1d``, ``L2``.

    Source: Linux, Documentation/ABI/testing/sysfs-devices-system-cpu, cacheinfo: sizes end in K.
    """
    found: JsonObject = {}
    for name in host.names(f"{CPU}/cpu0/cache"):
        folder = f"{CPU}/cpu0/cache/{name}"
        level, kind = host.number(f"{folder}/level"), host.text(f"{folder}/type") or ""
        size = integer((host.text(f"{folder}/size") or "").removesuffix("K"))
        if level and size is not None:
            letter = kind[0].lower() if kind in ("Data", "Instruction") else ""
            found[f"L{level}{letter}"] = size * 1024
    return found or None


_PAGES = "sys/kernel/mm/transparent_hugepage"


@dataclass(frozen=True, slots=True)
class SwapDevice:
    """One line of /proc/swaps.

    Args:
        kind: ``partition`` or ``file``.
    """

    name: str
    kind: str
    size_bytes: int
    used_bytes: int
    priority: int


def meminfo(host: Host) -> dict[str, int]:
    """Return /proc/meminfo in bytes."""
    told = {n: integer(v.removesuffix("kB").strip()) for n, v in pairs(host.text("proc/meminfo"))}
    return {name: kilobytes * 1024 for name, kilobytes in told.items() if kilobytes is not None}


def swap_devices(host: Host) -> list[SwapDevice] | None:
    """Return what is swapped to; None if the kernel does not tell."""
    text = host.text("proc/swaps")
    if text is None:
        return None
    rows = (line.split() for line in text.splitlines()[1:])
    return [device for row in rows if (device := _swap_device(row))]


def _swap_device(row: list[str]) -> SwapDevice | None:
    """Read one line; names of files have no blanks there but their octal codes."""
    if len(row) != 5:
        return None
    numbers = [integer(cell) for cell in row[2:]]
    size, used, priority = numbers
    if size is None or used is None or priority is None:
        return None
    return SwapDevice(row[0], row[1], size * 1024, used * 1024, priority)


def swap(host: Host) -> JsonObject:
    """Return the swap devices and how readily they are used (vm.swappiness)."""
    devices = swap_devices(host)
    listed: Json = None if devices is None else [asdict(device) for device in devices]
    return {"devices": listed, "swappiness": host.number("proc/sys/vm/swappiness")}


def huge_pages(host: Host) -> JsonObject:
    """Return when memory comes in huge pages, and when a process waits for one.

    Source: Linux, Documentation/admin-guide/mm/transhuge.rst.
    """
    return {name: chosen(host.text(f"{_PAGES}/{name}")) for name in ("enabled", "defrag")}


def randomization(host: Host) -> int | None:
    """Return how addresses are randomized: 0 not, 1 without the heap, 2 fully.

    Source: Linux, Documentation/admin-guide/sysctl/kernel.rst, randomize_va_space.
    """
    return host.number("proc/sys/kernel/randomize_va_space")


_SUPPLIES = "sys/class/power_supply"


def power(host: Host) -> JsonObject:
    """Return whether the host runs on mains, and the charge of its batteries, 0 to 100.

    Source: Linux, Documentation/ABI/testing/sysfs-class-power.
    """
    return {"supply": supply(host), "charge_percent": charge(host)}


def _supplies(host: Host, kind: str) -> list[str]:
    folders = [f"{_SUPPLIES}/{name}" for name in host.names(_SUPPLIES)]
    # The battery of a mouse feeds the mouse.
    own = [folder for folder in folders if host.text(f"{folder}/scope") != "Device"]
    return [folder for folder in own if host.text(f"{folder}/type") == kind]


def supply(host: Host) -> str | None:
    """Return ``mains`` or ``battery``; None if the kernel knows of neither."""
    online = [host.text(f"{f}/online") for k in ("Mains", "USB") for f in _supplies(host, k)]
    if "1" in online:
        return "mains"
    states = [host.text(f"{folder}/status") for folder in _supplies(host, "Battery")]
    if "Discharging" in states or (states and "0" in online):
        return "battery"
    return "mains" if states and all(states) else None


def charge(host: Host) -> int | None:
    """Return the charge of the emptiest battery in percent."""
    told = [host.number(f"{folder}/capacity") for folder in _supplies(host, "Battery")]
    return min((percent for percent in told if percent is not None), default=None)


def network(host: Host) -> list[Json]:
    """Return the interfaces; the kernel counts speed in Mbit/s, and says -1 for unknown."""
    return [
        {"name": name, "speed_bits_per_s": _speed(host, name)}
        for name in host.names("sys/class/net")
        if host.at(f"sys/class/net/{name}").is_dir()
    ]


def _speed(host: Host, name: str) -> int | None:
    megabits = host.number(f"sys/class/net/{name}/speed")
    return megabits * 1_000_000 if megabits and megabits > 0 else None


def mounts(host: Host) -> tuple[MountPoint, ...]:
    """Return every mount that this process sees, in the order of mounting."""
    return read_mounts(host.text("proc/self/mountinfo") or "")


def mount_of(host: Host, path: str) -> MountPoint | None:
    """Return the mount that ``path``, absolute and without links, lies on."""
    above = [mount for mount in mounts(host) if Path(path).is_relative_to(mount.point)]
    # Of two at one place the later one covers the earlier.
    return max(reversed(above), key=lambda mount: len(mount.point), default=None)


def disks(host: Host) -> list[Json]:
    """Return the mounted file systems that lie on a disk."""
    return [_disk(host, mount) for mount in mounts(host) if _is_real(host, mount)]


def _is_real(host: Host, mount: MountPoint) -> bool:
    """Tell a disk from images, layers, network drives and single files bound into a container."""
    on_device = mount.source.startswith("/dev/") and mount.fstype not in ("squashfs", "overlay")
    if mount.source.startswith(("/dev/loop", "/dev/fuse")):
        return False
    return (on_device or mount.fstype == "zfs") and host.at(mount.point).is_dir()


def _disk(host: Host, mount: MountPoint) -> JsonObject:
    return {
        "mountpoint": mount.point,
        "device": mount.source,
        "fstype": mount.fstype,
        "options": ",".join(mount.options),
        "total_bytes": or_null(lambda: shutil.disk_usage(host.at(mount.point)).total),
        **block_device(host, mount),
    }


def block_device(host: Host, mount: MountPoint) -> JsonObject:
    """Return what is known of the disk below a mount.

    Source: Linux, Documentation/ABI/stable/sysfs-block.
    """
    folder = _whole(_folder(host, mount))
    return {
        "model": _model(host, folder),
        "rotational": {"1": True, "0": False}.get(_text(host, folder, "queue/rotational") or ""),
        "scheduler": chosen(_text(host, folder, "queue/scheduler")),
        "write_cache": _text(host, folder, "queue/write_cache"),
    }


def _folder(host: Host, mount: MountPoint) -> Path:
    """Return a device's folder in /sys; file systems like btrfs have no number of a device."""
    numbered = host.at(f"sys/dev/block/{mount.device}")
    if numbered.exists():
        return numbered
    device = Path(os.path.realpath(host.at(mount.source)))
    return host.at(f"sys/class/block/{device.name}")


def _whole(folder: Path) -> Path:
    """Return the disk of a partition."""
    real = Path(os.path.realpath(folder))
    return real.parent if (real / "partition").exists() else real


def _model(host: Host, folder: Path) -> str | None:
    """Return a disk's model; of an encrypted or logical one that of the first disk below."""
    for _ in range(8):
        below = sorted((folder / "slaves").glob("*"))
        if not below:
            break
        folder = _whole(below[0])
    return _text(host, folder, "device/model")


def _text(host: Host, folder: Path, name: str) -> str | None:
    return host.text(os.path.relpath(folder / name, host.root))
