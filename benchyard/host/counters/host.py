"""The host's own counters: read as raw bytes at a boundary, decoded afterwards.

A boundary costs a read of a few open files. What they mean is worked out when nothing is measured.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from benchyard.host.counters import parsing
from benchyard.host.counters.account import difference
from benchyard.host.counters.groups import amount
from benchyard.host.counters.kernel import KernelFile, read_once
from benchyard.host.counters.parsing import CpuTimes, Disk, MemoryEvents, Network, sum_of
from benchyard.process.cgroups import own_levels

Values: TypeAlias = dict[str, float | None]
Told: TypeAlias = float | None
Reasons: TypeAlias = dict[str, str]

#: Metric to the field of Disk that it is made of; its order is that of KROWN's columns.
_DISK = (
    "host_disk_read_count",
    "host_disk_write_count",
    "host_disk_read_bytes",
    "host_disk_write_bytes",
    "host_disk_read_time_s",
    "host_disk_write_time_s",
    "host_disk_busy_time_s",
)
_NETWORK = tuple(f"host_network_{name}" for name in Network._fields)
_MEMORY = ("host_memory_used_bytes", "host_swap_used_bytes")
_EVENTS = tuple(f"host_{field}" for field in MemoryEvents._fields)
#: In the order of CpuTimes; user and system are psutil's and KROWN's, without nice and interrupts.
_CPU = tuple(f"host_cpu_{field}" for field in CpuTimes._fields)
_PRESSED = ("cpu", "memory", "io")
ENERGY = "host_energy_package_j"
#: No processor package draws more watts: the largest of 2025 are specified at 600.
_MOST_WATTS = 1000


#: Kind of file to the raw content of each; None where the kernel gave none.
HostReading: TypeAlias = Mapping[str, Sequence[bytes | None]]


class HostFiles:
    """The host's files, kept open.

    Args:
        root: Where ``proc`` and ``sys`` are; tests set it.
    """

    def __init__(self, root: Path = Path("/")) -> None:
        proc, devices = root / "proc", root / "sys" / "devices" / "system" / "cpu"
        block = root / "sys" / "block"
        levels = own_levels("cpu", proc=proc)
        thermal = map(KernelFile, thermal_counters(devices))
        zones = list(packages(root / "sys" / "class" / "powercap"))
        self._files = {
            "stat": [KernelFile(proc / "stat")],
            "meminfo": [KernelFile(proc / "meminfo")],
            "vmstat": [KernelFile(proc / "vmstat", records=True)],
            "network": [KernelFile(proc / "self" / "net" / "dev", records=True)],
            "pressure": [KernelFile(proc / "pressure" / kind) for kind in _PRESSED],
            "disk": [KernelFile(block / name / "stat") for name in real_disks(block)],
            "lab": _that_throttle(KernelFile(level / "cpu.stat") for level in levels),
            "thermal": [file for file in thermal if file.is_open],
            "energy": [KernelFile(zone / "energy_uj") for zone in zones],
        }
        self._ranges = [_number_in(zone / "max_energy_range_uj") for zone in zones]

    def read(self) -> HostReading:
        """Read all; this is what a boundary waits for."""
        return {kind: [file.read() for file in files] for kind, files in self._files.items()}

    def used(self, start: HostReading, end: HostReading, seconds: float) -> tuple[Values, Reasons]:
        """Return what changed between two readings, and levels at the end.

        Args:
            seconds: How long the interval was; a counter of energy that may have run round more
                than once in it tells nothing.

        Returns:
            Metric to amount, and metric to why it is None.
        """
        before, after = counters(start), counters(end)
        used: Values = {name: difference(before[name], after[name]) for name in after}
        reasons = {name: self._reason(name, after[name]) for name in used if used[name] is None}
        lost = _interfaces(start) - _interfaces(end)
        if lost:
            used |= dict.fromkeys(_NETWORK)
            reasons |= dict.fromkeys(_NETWORK, "an interface vanished meanwhile")
        if end["energy"] and end["energy"][0] is not None:
            used[ENERGY] = _joules(start["energy"], end["energy"], self._ranges, seconds)
            reasons |= {} if used[ENERGY] is not None else {ENERGY: "the counter ran round"}
        memory = parsing.memory(_content(end, "meminfo"))
        used |= (levels := dict(zip(_MEMORY, memory, strict=True)))
        reasons |= {name: self._reason(name, None) for name in levels if levels[name] is None}
        return used, reasons

    def close(self) -> None:
        """Close all files."""
        for file in chain.from_iterable(self._files.values()):
            file.close()

    def _reason(self, metric: str, at_end: Told) -> str:
        if at_end is not None:
            return "the counter went backwards, or was not told at the start"
        if metric == "host_psi_cpu_full_s":
            return "the kernel does not define it for the whole host"
        file, without = self._source(metric)
        return f"{file.path}: {file.problem}" if file and file.problem else without

    def _source(self, metric: str) -> tuple[KernelFile | None, str]:
        """Return the file that a metric comes from, and why it may lack although there is one."""
        without = "this kernel does not tell it"
        if metric in _DISK:
            failed = [disk for disk in self._files["disk"] if disk.problem]
            return (failed or [None])[0], "this host has no disk that Linux shows as hardware"
        if metric.startswith("host_psi_"):
            return self._files["pressure"][_PRESSED.index(metric.split("_")[2])], without
        if metric.startswith("lab_"):
            return None, "no control group of the lab counts it"
        if metric == "host_thermal_throttle_count":
            return None, "the processor's driver counts no thermal throttling"
        kinds = {"network": "network", "memory": "meminfo", "swap": "meminfo"}
        kind = "vmstat" if metric in _EVENTS else kinds.get(metric.split("_")[1], "stat")
        return self._files[kind][0], without


def counters(reading: HostReading) -> Values:
    """Decode what only grows: metric to amount since boot, unrounded, in SI units."""
    disk, stat = _disk(reading), _content(reading, "stat")
    values: Values = {
        **dict(zip(_CPU, parsing.cpu_times(stat), strict=True)),
        "host_context_switch_count": parsing.number_after(stat, b"ctxt "),
        **dict(zip(_DISK, (*disk[:4], *(parsing.per(ms, 1000) for ms in disk[4:])), strict=True)),
        **dict(zip(_NETWORK, parsing.network(_content(reading, "network")), strict=True)),
        **dict(zip(_EVENTS, parsing.memory_events(_content(reading, "vmstat")), strict=True)),
    }
    for kind, content in zip(_PRESSED, reading["pressure"], strict=True):
        some, full = parsing.pressure(content or b"")
        values[f"host_psi_{kind}_some_s"] = some
        # The kernel writes a line of zeros for what it does not define on the whole host.
        values[f"host_psi_{kind}_full_s"] = None if kind == "cpu" else full
    values["host_thermal_throttle_count"] = sum_of(map(_number, reading["thermal"]))
    for metric in ("throttled_count", "throttled_s"):
        levels = (
            amount({"throttling": content}, f"resource_{metric}") for content in reading["lab"]
        )
        values[f"lab_{metric}"] = sum_of(levels)
    return values


def krown_columns(reading: HostReading) -> tuple[Told, ...]:
    """Return what KROWN's columns hold, in its order and units (disk times ms), since boot."""
    cpu = parsing.cpu_times(_content(reading, "stat"))
    memory = parsing.memory(_content(reading, "meminfo"))
    network = parsing.network(_content(reading, "network"))
    return (*cpu[:4], *memory, *_disk(reading), *network)


def real_disks(block: Path = Path("/sys/block")) -> list[str]:
    """Return the block devices with hardware behind them.

    Partitions, loops, RAM disks and volumes of the device mapper are left out: their traffic
    reaches a real disk, where it would be counted a second time, or none at all. So are the hidden
    paths behind a disk that has several: what goes through one is counted at the disk.
    Source: Documentation/ABI/stable/sysfs-block, ``hidden``.
    """
    found = (path.parent for path in block.glob("*/device"))
    return sorted(path.name for path in found if not _number_in(path / "hidden"))


def disk_numbers(block: Path = Path("/sys/block")) -> frozenset[str]:
    """Return ``major:minor`` of the block devices with hardware behind them."""
    found = (read_once(str(block / name / "dev")) for name in real_disks(block))
    return frozenset(text.decode().strip() for text in found if text)


def _content(reading: HostReading, kind: str) -> bytes:
    """Return what the only file of a kind held."""
    return reading[kind][0] or b""


def _disk(reading: HostReading) -> Disk:
    return parsing.sum_of_disks(parsing.disk(content or b"") for content in reading["disk"])


def _number(content: bytes | None) -> int | None:
    return parsing.number(content or b"")


def _number_in(path: Path) -> int | None:
    return _number(read_once(str(path)))


def _that_throttle(files: Iterable[KernelFile]) -> list[KernelFile]:
    """Keep the files of groups that can be given a quota; the others say nothing of it."""
    kept: list[KernelFile] = []
    for file in files:
        if b"nr_throttled " in (file.read() or b""):
            kept.append(file)
        else:
            file.close()
    return kept


def thermal_counters(cpus: Path) -> Iterator[Path]:
    """Yield one counter for each core and one for each package: siblings count the same events.

    Source: Documentation/admin-guide/abi-stable, ``thermal_throttle``.
    """
    seen: set[tuple[str, bytes | None]] = set()
    for folder in sorted(cpus.glob("cpu[0-9]*/thermal_throttle")):
        for kind, siblings in (("core", "core_cpus_list"), ("package", "package_cpus_list")):
            listed = read_once(str(folder.parent / "topology" / siblings))
            group = (kind, listed or folder.parent.name.encode())
            if group not in seen:
                seen.add(group)
                yield folder / f"{kind}_throttle_count"


def packages(powercap: Path) -> Iterator[Path]:
    """Yield the zones of whole packages that may be read; what is inside one is part of it."""
    for zone in sorted(powercap.glob("intel-rapl:*")):
        name, energy = (read_once(str(zone / file)) for file in ("name", "energy_uj"))
        if (name or b"").startswith(b"package-") and energy is not None:
            yield zone


def _joules(
    start: Sequence[bytes | None],
    end: Sequence[bytes | None],
    ranges: Sequence[int | None],
    seconds: float,
) -> float | None:
    """Add up the packages' energy; unknown where a counter may have run round twice."""
    joules = 0.0
    for before, after, most in zip(map(_number, start), map(_number, end), ranges, strict=True):
        if before is None or after is None or most is None or seconds * _MOST_WATTS * 1e6 >= most:
            return None
        joules += microjoules(before, after, most) / 1e6
    return joules


def microjoules(before: int, after: int, most: int) -> int:
    """Return the energy between two readings of a counter that runs round at ``most`` (µJ).

    Source: Documentation/power/powercap of Linux, ``max_energy_range_uj``.
    """
    return after - before if after >= before else after - before + most


def _interfaces(reading: HostReading) -> set[str]:
    lines = _content(reading, "network").splitlines()
    return {line.rpartition(b":")[0].strip().decode(errors="replace") for line in lines} - {""}
