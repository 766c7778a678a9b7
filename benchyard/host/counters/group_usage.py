"""What a control group, or one program in it, used between two readings: from bytes to metrics."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from benchyard.host.counters import parsing
from benchyard.host.counters.account import NETWORK, MetricBook, difference, unknown
from benchyard.host.counters.groups import AMOUNTS, CgroupDisk, GroupReading, amount, disk_use
from benchyard.host.counters.kernel import Traffic, carried, why_unknown
from benchyard.host.counters.parsing import sum_of
from benchyard.process.cgroups import UNIFIED
from benchyard.process.usage import MOST_ERROR, LifeSpan

CPU = ("resource_cpu_s", "resource_cpu_user_s", "resource_cpu_system_s")
_MINOR, _MAJOR = "resource_page_fault_minor_count", "resource_page_fault_major_count"
_FILES = "resource_memory_file_bytes"
_LEVELS = ("resource_memory_bytes", "resource_memory_anonymous_bytes", _FILES)
_PRESSURE = {
    f"psi_{kind}": (f"resource_psi_{kind}_some_s", f"resource_psi_{kind}_full_s")
    for kind in ("cpu", "memory", "io")
}
#: Metric that only grows to the file that tells it.
_COUNTERS = {
    **{metric: place.file for metric, place in AMOUNTS.items() if metric not in _LEVELS},
    **{metric: file for file, metrics in _PRESSURE.items() for metric in metrics},
}
_DISK = tuple(f"resource_disk_{field}" for field in CgroupDisk._fields)
_PEAK = "resource_memory_peak_bytes"
_EARLIER_FILES = "resource_memory_file_start_bytes"


def used_by_group(
    start: GroupReading | None,
    end: GroupReading,
    began_ticks: int,
    devices: Collection[str] | None = None,
) -> MetricBook:
    """Return what a group used between two readings.

    Args:
        start: None if it did not belong to the resource then.
        began_ticks: When the interval began, as the kernel writes the start of processes.
        devices: The disks that count, each as ``major:minor``; None for all.
    """
    account = MetricBook()
    _tell_levels(account, end)
    unknown = _unknown(start, end, began_ticks)
    if unknown:
        metrics = (*_COUNTERS, *_DISK, *NETWORK, _PEAK, _EARLIER_FILES)
        account.tell_all(metrics, None, f"its control group: {unknown}")
        return account
    _tell_counters(account, start, end)
    _tell_peak(account, start, end)
    # A peak is of all memory; of the anonymous alone the kernel keeps none. So up to this much of
    # it is of earlier steps.
    held = amount(start.raw, _FILES) if start else 0
    account.tell(_EARLIER_FILES, held, _why(end, AMOUNTS[_FILES].file))
    earlier = start.network if start else Traffic()
    traffic = carried(earlier, end.network, began_inside=start is None)
    why = why_unknown(earlier, end.network)
    account.tell_all(NETWORK, traffic, f"its control group: {why}")
    contents = (start.raw["io"] if start else b"", end.raw["io"])
    before, after = (disk_use(content, devices) for content in contents)
    account.tell_all(_DISK, map(difference, before, after), _why(end, "io"))
    return account


def _unknown(start: GroupReading | None, end: GroupReading, began_ticks: int) -> str | None:
    """Return why nothing can be told of the interval."""
    if not end.group.cgroup.folders:
        return "it is the root that everybody is in"
    if end.is_gone or (start and start.is_gone):
        return "it is gone"
    if start and start.generation != end.generation:
        return "it was removed and made again meanwhile"
    if start is None and (end.oldest_ticks is None or end.oldest_ticks < began_ticks):
        return "it belongs to the resource only since the middle of the interval"
    return None


def _tell_levels(account: MetricBook, end: GroupReading) -> None:
    for metric in _LEVELS:
        account.tell(metric, amount(end.raw, metric), _why(end, AMOUNTS[metric].file))
    # The kernel's own number of "pids" counts threads.
    count = None if end.is_gone else len(end.pids)
    account.tell("resource_process_count", count, _why(end, "cpu"))


def _tell_counters(account: MetricBook, start: GroupReading | None, end: GroupReading) -> None:
    after = _counters(end.raw)
    before = _counters(start.raw) if start else dict.fromkeys(after, 0)
    for metric, file in _COUNTERS.items():
        account.tell(metric, difference(before[metric], after[metric]), _why(end, file))
    tell_cpu(account, account.values["resource_cpu_s"], _why(end, "cpu"))


def tell_cpu(account: MetricBook, total_s: float | None, why: str) -> None:
    """Note the CPU time, and part it into user and system as the ticks were parted.

    Version 1 counts the whole exactly, and the parts by who is caught at a tick. What the kernel
    does for version 2 and for processes is done here, too: the parts are scaled to the whole.
    Source: Linux, kernel/sched/cputime.c (``cputime_adjust``).

    Args:
        total_s: None if it is not known.
        why: The reason then.
    """
    account.tell(CPU[0], total_s, why)
    parts = [account.values.get(metric) for metric in CPU[1:]]
    ticks = sum_of(parts)
    if total_s is None or ticks is None:
        return
    for metric, part in zip(CPU[1:], parts, strict=True):
        scaled = total_s * part / ticks if part is not None and ticks else None
        account.tell(metric, scaled, "its control group: no tick of the clock fell into its time")


def _counters(raw: Mapping[str, bytes | None]) -> dict[str, float | None]:
    """Decode what only grows: metric to amount."""
    values = {metric: amount(raw, metric) for metric in AMOUNTS}
    values[_MINOR] = difference(values[_MAJOR], values[_MINOR])
    for file, metrics in _PRESSURE.items():
        values |= zip(metrics, parsing.pressure(raw[file] or b""), strict=True)
    return values


def _tell_peak(account: MetricBook, start: GroupReading | None, end: GroupReading) -> None:
    if end.peak is None or (start and start.peak is None):
        account.tell(_PEAK, None, _why(end, "memory"))
        return
    book = end.peak.book
    peak = book.between(start.peak if start else None, end.peak)
    why = (
        "its control group: the peak of its memory cannot begin anew "
        f"({book.problem or 'it is gone'}), and an earlier one was higher; "
        "that of the whole run is given"
    )
    account.tell(_PEAK, peak, why)


def _why(end: GroupReading, file: str) -> str:
    if end.group.cgroup.folders.keys() - {UNIFIED}:
        return "its control group: version 1 does not tell it"
    return f"its control group: {end.problems.get(file) or 'this kernel does not tell it'}"


#: What others used (s) in a time so short is not told from what the program used.
_SHORT_S = 0.002


class Others(NamedTuple):
    """What a control group had counted for other programs when this one began.

    Args:
        cpu_s: Of CPU time.
        error_s: Length of the gaps, at begin and end, in which they may have used more.
    """

    cpu_s: float
    error_s: float


class GroupLife:
    """What a program used, from readings of its group; see ``benchyard.process.usage.Life``.

    Args:
        readings: At its begin, None if that was not seen; and at its end, None if that was not
            seen in time.
        others: None if that is not known.
        traffic: Of its network namespace, soon after its begin and at its end.
        is_alone: Whether the group holds this program alone; a shared group gives only CPU time.
    """

    def __init__(
        self,
        readings: tuple[GroupReading | None, GroupReading | None],
        others: Others | None,
        traffic: tuple[Traffic, Traffic],
        span: LifeSpan,
        *,
        is_alone: bool,
    ) -> None:
        self.span = span
        self._readings = readings
        self._others = others
        self._traffic = traffic
        self._is_alone = is_alone
        self._account: MetricBook | None = None

    def told(
        self, began_ticks: int, devices: Collection[str] | None
    ) -> tuple[Mapping[str, float | None], Mapping[str, str]]:
        """Return metric to value, and to why it is None; decoded once, and the bytes let go."""
        if self._account is None:
            self._account = self._decoded(began_ticks, devices)
            self._readings = None, None
        return self._account.values, self._account.reasons

    def _decoded(self, began_ticks: int, devices: Collection[str] | None) -> MetricBook:
        start, end = self._readings
        whole = unknown("its container ended before anybody could read what it had used")
        if end is not None and not end.is_gone:
            whole = used_by_group(start, end, began_ticks, devices)
            self._tell_cpu(whole, amount(end.raw, CPU[0]))
        if self._is_alone:
            self._tell_network(whole)
            return whole
        part = MetricBook()
        # Whatever else is counted in its group is that of all together.
        part.take(whole, CPU)
        return part

    def _tell_cpu(self, account: MetricBook, total_s: float | None) -> None:
        """Take off what others used, unless nobody knows that well enough."""
        if total_s is None or self._others is None:
            why = "its begin was not seen, so it is not told from its runtime's"
            account.tell_all(CPU, None, why)
            return
        own_s, error_s = total_s - self._others.cpu_s, self._others.error_s
        tell_cpu(account, own_s, "")
        if error_s > max(MOST_ERROR * own_s, _SHORT_S):
            why = f"it was not told from others' for {error_s:.2g} s: the lab got a CPU too late"
            account.tell_all(CPU, None, why)

    def _tell_network(self, account: MetricBook) -> None:
        first, last = self._traffic
        why = "its network was taken away before its traffic could be read"
        if not first.name:
            why = why_unknown(first, first)
        # The namespace is as new as the program, which may have been quicker than the first look.
        moved = carried(Traffic(), last, began_inside=True)
        account.tell_all(NETWORK, moved, f"its container: {why}")
