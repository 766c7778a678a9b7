"""Rows of ``resources.csv``: what belongs to a resource, sample by sample.

One row for each control group, process tree, GPU and energy counter that was read at that instant.
Columns, in SI units; what is not known, or makes no sense for that kind of thing, is empty:

run, step, timestamp (s since the run's start), resource (``host`` for what belongs to none), what
(``cgroup``, ``tree``, ``gpu``, ``energy``), name.
cpu_s, cpu_user_s, cpu_system_s, disk_read_bytes, disk_write_bytes: totals since the group or the
processes began. Of a tree they are the sum over living processes and over the children that those
waited for, and never fall: what nobody waited for keeps its last place.
memory_bytes: now; of a tree the sum of resident sets, in which shared pages count several times.
process_count: processes now; of a control group threads.
energy_j: since the first sample. utilisation_ratio, power_w: what a GPU's driver tells.
"""

import csv
import io
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple
from urllib.parse import unquote

from benchyard.host.counters import parsing
from benchyard.host.counters.group_usage import CPU
from benchyard.host.counters.groups import amount, disk_use
from benchyard.host.counters.host import disk_numbers, microjoules
from benchyard.host.counters.parsing import sum_of
from benchyard.host.counters.processes import ProcessLife, ProcessReading, decoded, total
from benchyard.host.sampler import CGROUP, COLUMNS, ENERGY, GPU, TREE, process
from benchyard.host.sampler.raw import Gone, Opened
from benchyard.host.sampler.rows import HostColumns, cells


class OwnedUsage(NamedTuple):
    """The values of a row."""

    cpu_s: float | None = None
    cpu_user_s: float | None = None
    cpu_system_s: float | None = None
    memory_bytes: float | None = None
    disk_read_bytes: float | None = None
    disk_write_bytes: float | None = None
    process_count: int | None = None
    energy_j: float | None = None
    utilisation_ratio: float | None = None
    power_w: float | None = None


HEADER = ("run", "step", "timestamp", "resource", "what", "name", *OwnedUsage._fields)


class Curve(ABC):
    """One thing that is drawn.

    Args:
        owner: A resource, or ``host``; quoted as in the raw file.
        what: Kind and name, quoted.
    """

    #: Of which class the sampling process must have read for a row.
    read_with = process.STEADY

    def __init__(self, owner: str, what: str) -> None:
        kind, _, name = what.partition(":")
        self.owner = unquote(owner)
        text = io.StringIO()
        csv.writer(text, lineterminator="").writerow([self.owner, kind, unquote(name)])
        self._head = text.getvalue()
        self._text: str | None = None
        #: Open files, and what those hold that were read at least once.
        self.names: set[str] = set()
        self.files: dict[str, bytes] = {}

    def update(self, name: str, content: bytes | None) -> None:
        """Take in what a file holds now; None if it is there no more."""
        if content is None:
            self.names.discard(name)
            self.files.pop(name, None)
        else:
            self.files[name] = content
        self._text = None

    def text(self) -> str:
        """Return the cells from ``resource`` on."""
        if self._text is None:
            self._text = f"{self._head},{cells(self.usage(self.files))}"
        return self._text

    @abstractmethod
    def usage(self, files: Mapping[str, bytes]) -> OwnedUsage:
        """Decode what the files hold."""


class CgroupCurve(Curve):
    """A control group of version 1 or 2.

    Args:
        disks: The disks that count, each as ``major:minor``; None for all devices.
    """

    def __init__(self, owner: str, what: str, disks: Collection[str] | None) -> None:
        super().__init__(owner, what)
        self._disks = disks

    def usage(self, files: Mapping[str, bytes]) -> OwnedUsage:
        """Decode what the files hold."""
        cpu_s, user_s, system_s = (amount(files, metric) for metric in CPU)
        memory = amount(files, "resource_memory_bytes")
        read, written, *_ = disk_use(files.get("io"), self._disks)
        count = parsing.number(files.get("pids", b""))
        return OwnedUsage(cpu_s, user_s, system_s, memory, read, written, count)


class TreeCurve(Curve):
    """A process and its descendants."""

    read_with = process.PROCESSES

    def __init__(self, owner: str, what: str) -> None:
        super().__init__(owner, what)
        self._most: list[float | None] = [None] * 4

    def usage(self, files: Mapping[str, bytes]) -> OwnedUsage:
        """Add up the living."""
        found = [life for name in files if name.endswith("/stat") and (life := _life(files, name))]
        living = [life for life in found if life.is_alive]
        used = total(life.usage for life in found)
        # Of one that is dead the kernel may keep the bytes to itself; those of the living count.
        told = (life for life in found if life.is_alive or life.usage.read_bytes is not None)
        moved = total(life.usage for life in told)
        user, system, read, written = self._not_less(
            round(used.user_s, 9), round(used.system_s, 9), moved.read_bytes, moved.write_bytes
        )
        return OwnedUsage(
            None if user is None or system is None else round(user + system, 9),
            user,
            system,
            sum_of(life.resident_bytes for life in living),
            read,
            written,
            len(living),
        )

    def _not_less(self, *totals: float | None) -> list[float | None]:
        # Between the death of a child and its parent's wait for it, it is seen in neither.
        for at, now in enumerate(totals):
            before = self._most[at]
            if now is not None and (before is None or now > before):
                self._most[at] = now
        return [None if t is None else most for t, most in zip(totals, self._most, strict=True)]


def _life(files: Mapping[str, bytes], name: str) -> ProcessLife | None:
    """Decode a process.

    Args:
        name: Of its file ``stat``.
    """
    io = files.get(f"{name.removesuffix('stat')}io")
    return decoded(ProcessReading(0, is_root=False, stat=files[name], io=io, cpu_ns=None))


class EnergyCurve(Curve):
    """A counter of energy (µJ) that runs round."""

    def __init__(self, owner: str, what: str) -> None:
        super().__init__(owner, what)
        self._last: int | None = None
        self._used = 0
        self._runs_round = False

    def update(self, name: str, content: bytes | None) -> None:
        """Add what was used since the last reading; the name says where the counter runs round."""
        super().update(name, content)
        now, most = parsing.number(content or b""), parsing.number(name.encode())
        if now is None:
            return
        if self._last is not None:
            self._used += microjoules(self._last, now, most or 0)
        self._last = now
        self._runs_round = most is not None

    def usage(self, files: Mapping[str, bytes]) -> OwnedUsage:
        """Return what was added up."""
        del files
        return OwnedUsage(energy_j=self._used / 1e6 if self._runs_round else None)


class GpuCurve(Curve):
    """A GPU of NVIDIA."""

    read_with = process.DEVICES

    def usage(self, files: Mapping[str, bytes]) -> OwnedUsage:
        """Decode what ``nvml`` wrote."""
        lines = [line.split() for content in files.values() for line in content.splitlines()]
        told = {line[0]: parsing.number(line[1]) for line in lines if len(line) == 2}
        percent, milliwatts = told.get(b"utilisation_percent"), told.get(b"power_mw")
        return OwnedUsage(
            memory_bytes=told.get(b"memory_bytes"),
            utilisation_ratio=None if percent is None else percent / 100,
            power_w=None if milliwatts is None else milliwatts / 1000,
        )


class RunCurves:
    """All curves of a run, made as the raw file names them."""

    def __init__(self, disks: Collection[str] | None) -> None:
        self._kinds: dict[str, Callable[[str, str], Curve]] = {
            CGROUP: lambda owner, what: CgroupCurve(owner, what, disks),
            TREE: TreeCurve,
            ENERGY: EnergyCurve,
            GPU: GpuCurve,
        }
        self._all: dict[tuple[str, str], Curve] = {}

    def curve(self, owner: str, what: str, name: str) -> Curve | None:
        """Return what a newly opened file belongs to; None if it is nothing that is drawn here."""
        kind = what.partition(":")[0]
        # Each GPU is one file, and a curve of its own.
        what = f"{kind}:{name}" if kind == GPU else what
        make = self._kinds.get(kind)
        if make is None:
            return None
        known = self._all.get((owner, what))
        if known is None or not known.names:
            known = self._all[owner, what] = make(owner, what)
        known.names.add(name)
        return known

    def read(self, classes: int) -> list[Curve]:
        """Return each thing that a tick read."""
        return [one for one in self._all.values() if one.files and one.read_with & classes]


class Decoded:
    """What the files of a run held at the last tick: the host's columns, and all curves."""

    def __init__(self) -> None:
        self.host = HostColumns()
        self.curves = RunCurves(disk_numbers() or None)
        self._updates: dict[int, Callable[[bytes | None], None]] = {}

    def open(self, opened: Opened) -> None:
        """Take in from now on what this thing holds, if it is drawn here."""
        name = opened.name
        if opened.what == COLUMNS:
            self._updates[opened.ident] = lambda content: self.host.update(name, content)
            return
        curve = self.curves.curve(opened.owner, opened.what, name)
        if curve is not None:
            self._updates[opened.ident] = lambda content: curve.update(name, content)

    def close(self, gone: Gone) -> None:
        """Forget a thing that is not read any more."""
        update = self._updates.pop(gone.ident, None)
        if update is not None:
            update(None)

    def take(self, changed: Iterable[tuple[int, bytes]]) -> None:
        """Take in the new content of things, by their numbers."""
        updates = self._updates
        for ident, content in changed:
            if ident in updates:
                updates[ident](content)
