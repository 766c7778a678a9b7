"""What a control group used between two readings: from raw bytes to metrics.

Where a group counts no disk bytes (version 1 leaves out buffered writes, and newer kernels count
nothing there without a limit; version 2 counts where the controller is on), the accounts of its
processes are added up if they are provably whole: if no process can have come from outside (as with
``docker exec``), done something, and ended between the readings. Where none of them waited for a
child, what the processes used of the processors is known to the nanosecond, and so is what the
group used: if that is the same, nobody else was there. Otherwise the ids tell that the host gave
out meanwhile: each must be that of a process seen in the group.

Faults are no proof: the kernel brings those of a group up to date only now and then.
"""

from collections.abc import Collection, Iterable, Mapping

from benchyard.host.counters import group_parsing, parsing
from benchyard.host.counters.account import NETWORK, MetricBook, difference
from benchyard.host.counters.groups import GroupReading, Members
from benchyard.host.counters.parsing import sum_of
from benchyard.host.counters.processes import (
    TICKS_CUT_OFF,
    Key,
    Lives,
    ProcessLife,
    ProcessReading,
    UnknownUsageError,
    Usage,
    grown,
    lives,
    used_by,
    vanished,
)
from benchyard.host.counters.traffic import Traffic, carried, why_unknown

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
_BYTES = ("resource_disk_read_bytes", "resource_disk_write_bytes")
_OPERATIONS = ("resource_disk_read_count", "resource_disk_write_count")
_PEAK = "resource_memory_peak_bytes"
_KINDS = ("resource_memory_anonymous_bytes", "resource_memory_file_bytes")
_EARLIER_FILES = "resource_memory_file_start_bytes"

#: How far apart the CPU time of a group and that of its processes may be at most, for they are not
#: read at once, and the very end of a process is charged to the group alone. Of this project's own
#: making, from experiments with 0.5 s.
_SLACK_S, _SLACK_SHARE = 0.002, 0.01
#: Up to here it is the same. Idle processes show no difference at all, and a shell that came, wrote
#: one line and ended took 0.5 ms of time on a processor. From experiments, too.
_EXACT_S = 50e-6


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
            *_BYTES,
            *_OPERATIONS,
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
    _tell_disk(account, start, end, began_ticks, devices)
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
        account.tell(_PEAK, None, _why(end, "memory", "the kernel keeps no peak of its memory"))
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
    began_ticks: int,
    devices: Collection[str] | None,
) -> None:
    raw = end.raw["io"] or b""
    earlier = (start.raw["io"] or b"") if start else b""
    if end.members is None:
        before, after = (group_parsing.io_of_v2(text, devices) for text in (earlier, raw))
        changes = [difference(a, b) for a, b in zip(before, after, strict=True)]
        account.tell_all((*_BYTES, *_OPERATIONS), changes, _why(end, "io"))
        return
    operations = None
    if b":" in raw:
        before, after = (
            group_parsing.blkio_of_v1(text or b"Total 0", devices) for text in (earlier, raw)
        )
        operations = [difference(a, b) for a, b in zip(before, after, strict=True)]
    account.tell_all(_OPERATIONS, operations, "its control group counts none here")
    try:
        usage = _whole_usage(start, end, began_ticks, account.values["resource_cpu_s"])
    except UnknownUsageError as error:
        why = f"its control group counts no disk bytes, and of the processes in it {error}"
        account.tell_all(_BYTES, None, why)
    else:
        why = "its control group counts no disk bytes, and those of its processes may not be read"
        account.tell_all(_BYTES, (usage.read_bytes, usage.write_bytes), why)


def _whole_usage(
    start: GroupReading | None, end: GroupReading, began_ticks: int, cpu_s: float | None
) -> Usage:
    """Add up what the group's processes used.

    Raises:
        UnknownUsageError: If that may not be all that was used in the group.
    """
    earlier, later = start.members if start else None, end.members
    if later is None or (start and earlier is None) or cpu_s is None:
        raise UnknownUsageError("nobody can tell whether they are all")
    if any(len(each.processes) < each.expected for each in (earlier, later) if each):
        raise UnknownUsageError("one ended while they were read")
    before, after = _lives(earlier.processes if earlier else ()), _lives(later.processes)
    usage = used_by(before, after, began_ticks)
    waiting = sum(1 for _ in grown(before, after))
    lacking_s = cpu_s - usage.cpu_s
    cut_off_s = waiting * TICKS_CUT_OFF / parsing.TICKS_PER_S
    slack_s = _SLACK_S + _SLACK_SHARE * cpu_s
    if not -slack_s <= lacking_s <= cut_off_s + slack_s:
        raise UnknownUsageError("some ended that none of them waited for")
    if waiting or abs(lacking_s) > _EXACT_S:
        _check_births(earlier, later, (before, after), waiting=waiting)
    return usage


def _check_births(
    earlier: Members | None, later: Members, living: tuple[Lives, Lives], *, waiting: int
) -> None:
    """Check that every process born on this host is known, or cannot have been in the group.

    Raises:
        UnknownUsageError: If one may have come from outside and ended unseen.
    """
    older = parsing.newest_process((earlier.older if earlier else None) or b"")
    newer = parsing.newest_process(later.newer or b"")
    if older is None or newer is None or newer < older:  # ids begin anew at some time
        raise UnknownUsageError("nobody can tell whether others came and ended meanwhile")
    unseen = newer - older - _newcomers(*living, older)
    # The only one that is not seen any more, if none was seen before, is the one waited for.
    if unseen > (1 if waiting and not vanished(*living) else 0):
        raise UnknownUsageError("others may have come and ended that none of them waited for")


def _newcomers(before: Lives, after: Lives, older: int) -> int:
    """Count processes and threads that were born since ``older`` was given out, and live on."""
    threads = [
        max(0, life.threads - before[key].threads) for key, life in after.items() if key in before
    ]
    return sum(threads) + sum(1 for key in after if key not in before and key[0] > older)


def _lives(readings: Iterable[ProcessReading]) -> dict[Key, ProcessLife]:
    """Decode; roots are those whose parent is not in the group."""
    found = lives(readings)
    pids = {key[0] for key in found}
    return {key: life._replace(is_root=life.parent not in pids) for key, life in found.items()}


def _why(end: GroupReading, name: str, otherwise: str = "this kernel does not tell it") -> str:
    problem = end.problems.get("cpu_user" if name == "cpu_split" else name)
    return f"its control group: {problem or otherwise}"
