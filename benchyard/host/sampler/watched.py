"""What the sampling process is told to keep open, and under which names it comes back."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from benchyard.host.counters.host import packages, real_disks
from benchyard.host.counters.kernel import read_once
from benchyard.process.cgroups import UNIFIED, Cgroup

#: Owner of what belongs to no resource.
HOST = "host"
#: Kinds of what is drawn; the word ``what`` is such a kind, a colon, and a name.
COLUMNS, ENERGY, GPU, CGROUP, TREE = "columns", "energy", "gpu", "cgroup", "tree"
#: Set to the path of an NVML library, it is loaded wherever the driver's own sign is missing.
NVML_VARIABLE = "BENCHYARD_NVML"
_NVML_LIBRARY = "libnvidia-ml.so.1"
#: Bytes that the first lines of a file may grow by while a run lasts: a digit in each field.
_GROWTH = 24

#: Bytes that a file of one or two numbers, of a disk, and of a few lines never exceeds.
_NUMBER, _DISK, _LINES = 64, 512, 2048
#: Controller, file and size; of each line the first that is there is recorded.
_CGROUP_FILES: tuple[tuple[tuple[str, str, int], ...], ...] = (
    (("cpuacct", "cpuacct.usage", _NUMBER), (UNIFIED, "cpu.stat", _LINES)),
    (("cpuacct", "cpuacct.stat", _NUMBER),),
    (("memory", "memory.usage_in_bytes", _NUMBER), (UNIFIED, "memory.current", _NUMBER)),
    (
        (UNIFIED, "io.stat", 0),
        ("blkio", "blkio.throttle.io_service_bytes_recursive", 0),
        ("blkio", "blkio.throttle.io_service_bytes", 0),
    ),
    (("pids", "pids.current", _NUMBER), (UNIFIED, "pids.current", _NUMBER)),
)


#: What tells little, but costs as much as the rest: user and system time in ticks, processes.
_SELDOM = ("cpuacct.stat", "pids.current")


class Watched(NamedTuple):
    """One file to record.

    Args:
        what: Kind and name.
        name: Tells the decoder what is in it.
        size: How many of its bytes are recorded; 0 for all.
        seldom: Whether once a second is enough.
    """

    owner: str
    what: str
    name: str
    size: int
    path: Path
    seldom: bool = False

    def command(self) -> bytes:
        """Return what the sampling process is told."""
        word = "seldom" if self.seldom else "open"
        head = f"{word} {words(self.owner, self.what, self.name)} {self.size} ".encode()
        return head + os.fsencode(self.path) + b"\n"


def words(*texts: str) -> str:
    """Write texts as words that hold no blanks; ``urllib.parse.unquote`` reads one back."""
    return " ".join(quote(text, safe="/:=@", errors="surrogateescape") for text in texts)


def host_files(root: Path = Path("/")) -> Iterator[Watched]:
    """Yield the files of KROWN's columns and, where readable, the counters of energy.

    Args:
        root: Where ``proc`` and ``sys`` are; tests set it.
    """
    for name, path, size in _columns(root):
        yield Watched(HOST, COLUMNS, name, size, path)
    for zone in packages(root / "sys/class/powercap"):
        wraps_at = (read_once(str(zone / "max_energy_range_uj")) or b"").strip().decode()
        yield Watched(HOST, f"{ENERGY}:{zone.name}", wraps_at, 32, zone / "energy_uj")


def _columns(root: Path) -> Iterator[tuple[str, Path, int]]:
    proc = root / "proc"
    stat = read_once(str(proc / "stat")) or b""
    yield "stat", proc / "stat", len(stat.partition(b"\n")[0]) + _GROWTH
    yield "meminfo", proc / "meminfo", _up_to(read_once(str(proc / "meminfo")) or b"", b"SwapFree:")
    yield "network", proc / "self/net/dev", 0
    block = root / "sys/block"
    for disk in real_disks(block):
        yield f"disk/{disk}", block / disk / "stat", _DISK


def _up_to(content: bytes, line: bytes) -> int:
    """Return how many bytes are to be read so that ``line`` is among them; 0 for all."""
    start = content.find(line)
    return content.find(b"\n", start) + _GROWTH if start >= 0 else 0


def cgroup_files(owner: str, cgroup: Cgroup) -> Iterator[Watched]:
    """Yield what draws a control group: CPU time, memory now, disk bytes, processes."""
    for places in _CGROUP_FILES:
        for controller, name, size in places:
            folder = cgroup.folders.get(controller)
            if folder is not None and (folder / name).exists():
                what, path = f"{CGROUP}:{cgroup.name}", folder / name
                yield Watched(owner, what, name, size, path, seldom=name in _SELDOM)
                break


def tree_command(owner: str, pid: int) -> bytes:
    """Return what makes the sampling process watch a process tree."""
    return f"tree {words(owner, f'{TREE}:{pid}')} {pid}\n".encode()


def gpu_command(proc: Path = Path("/proc")) -> bytes:
    """Return what makes the sampling process read GPUs; nothing where no driver shows."""
    library = os.environ.get(NVML_VARIABLE)
    if library is None and (proc / "driver/nvidia").exists():
        library = _NVML_LIBRARY
    return f"gpus {HOST} {GPU} {library}\n".encode() if library else b""
