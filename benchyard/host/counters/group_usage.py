"""What a control group used between two readings: from raw bytes to metrics."""

from collections.abc import Collection, Mapping

from benchyard.host.counters import group_parsing, parsing
from benchyard.host.counters.account import NETWORK, MetricBook, difference
from benchyard.host.counters.groups import GroupReading
from benchyard.host.counters.parsing import sum_of
from benchyard.host.counters.traffic import Traffic, carried, why_unknown
from benchyard.process.cgroups import UNIFIED

_PRESSURE = {
    f"psi_{kind}": (f"resource_psi_{kind}_some_s", f"resource_psi_{kind}_full_s")
    for kind in ("cpu", "memory", "io")
}
CPU = ("resource_cpu_s", "resource_cpu_user_s", "resource_cpu_system_s")
#: File of a group to the metrics that it tells.
_COUNTERS: Mapping[str, tuple[str, ...]] = {
    "cpu": CPU[:1],
    "cpu_split": CPU[1:],
    "throttling": ("resource_throttled_count", "resource_throttled_s"),
    "faults": ("resource_page_fault_minor_count", "resource_page_fault_major_count"),
    "oom": ("resource_oom_kill_count",),
    **_PRESSURE,
}
_DISK = tuple(f"resource_disk_{field}" for field in group_parsing.CgroupDisk._fields)
_PEAK = "resource_memory_peak_bytes"
_KINDS = ("resource_memory_anonymous_bytes", "resource_memory_file_bytes")
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
        for metric in (
            *sum(_COUNTERS.values(), ()),
            *_DISK,
            *NETWORK,
            _PEAK,
            _EARLIER_FILES,
        ):
            account.tell(metric, None, f"its control group: {unknown}")
        return account
    _tell_counters(account, start, end)
    _tell_peak(account, start, end)
    _tell_earlier_files(account, start, end)
    _tell_network(account, start, end)
    _tell_disk(account, start, end, devices)
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
    memory = parsing.number(end.raw["memory"] or b"")
    account.tell("resource_memory_bytes", memory, _why(end, "memory"))
    kinds = group_parsing.memory_kinds(end.raw["faults"] or b"")
    account.tell_all(_KINDS, kinds, _why(end, "faults"))
    # The kernel's own number of "pids" counts threads.
    count = None if end.is_gone else len(end.pids)
    account.tell("resource_process_count", count, _why(end, "cpu"))


def _tell_counters(account: MetricBook, start: GroupReading | None, end: GroupReading) -> None:
    after = _counters(end.raw)
    before = {name: (0,) * len(values) for name, values in after.items()}
    before = _counters(start.raw) if start else before
    for name, metrics in _COUNTERS.items():
        for metric, a, b in zip(metrics, before[name], after[name], strict=True):
            account.tell(metric, difference(a, b), _why(end, name))
    tell_cpu(account, account.values["resource_cpu_s"], _why(end, "cpu"))


def tell_cpu(account: MetricBook, total_s: float | None, why: str) -> None:
    """Note the CPU time, and part it into user and system as the ticks were parted.

    Version 1 counts the whole in nanoseconds and the parts in ticks, by who is caught at one. What
    the kernel does for version 2 and for processes is done here, too: the parts are scaled to it.
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


def _counters(raw: Mapping[str, bytes | None]) -> dict[str, tuple[float | None, ...]]:
    """Decode what only grows: file to what it tells, in the order of _COUNTERS."""
    told = {name: content or b"" for name, content in raw.items()}
    cpu = group_parsing.group_cpu(
        *(told[name] for name in ("cpu", "cpu_ticks", "cpu_user", "cpu_system"))
    )
    return {
        "cpu": cpu[:1],
        "cpu_split": cpu[1:],
        "throttling": group_parsing.throttling(told["throttling"]),
        "faults": group_parsing.faults(told["faults"]),
        "oom": (group_parsing.oom_kills(told["oom"]),),
        **{name: parsing.pressure(told[name]) for name in _PRESSURE},
    }


def _tell_peak(account: MetricBook, start: GroupReading | None, end: GroupReading) -> None:
    if end.peak is None or (start and start.peak is None):
        account.tell(_PEAK, None, _why(end, "memory"))
        return
    book, mark = end.peak
    peak = book.between(start.peak.mark if start and start.peak else None, mark)
    why = (
        "its control group: the peak of its memory cannot begin anew "
        f"({book.problem or 'it is gone'}), and an earlier one was higher; "
        "that of the whole run is given"
    )
    account.tell(_PEAK, peak, why)


def _tell_earlier_files(account: MetricBook, start: GroupReading | None, end: GroupReading) -> None:
    """Note the page cache that was there at first: up to so much of the peak is of earlier steps.

    A peak is of all memory; of the anonymous alone the kernel keeps none.
    """
    held = group_parsing.memory_kinds(start.raw["faults"] or b"").file_bytes if start else 0
    account.tell(_EARLIER_FILES, held, _why(end, "faults"))


def _tell_network(account: MetricBook, start: GroupReading | None, end: GroupReading) -> None:
    earlier = start.network if start else Traffic()
    traffic = carried(earlier, end.network, began_inside=start is None)
    why = why_unknown(earlier, end.network)
    account.tell_all(NETWORK, traffic, f"its control group: {why}")


def _tell_disk(
    account: MetricBook,
    start: GroupReading | None,
    end: GroupReading,
    devices: Collection[str] | None,
) -> None:
    contents = (start.raw["io"] if start else b"", end.raw["io"])
    before, after = (group_parsing.disk_use(content, devices) for content in contents)
    changes = [difference(a, b) for a, b in zip(before, after, strict=True)]
    account.tell_all(_DISK, changes, _why(end, "io"))


def _why(end: GroupReading, name: str) -> str:
    if end.group.cgroup.folders.keys() - {UNIFIED}:
        return "its control group: version 1 does not tell it"
    problem = end.problems.get("cpu_user" if name == "cpu_split" else name)
    return f"its control group: {problem or 'this kernel does not tell it'}"
