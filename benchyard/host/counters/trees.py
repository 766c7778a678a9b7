"""What process trees used, and children that ended and were waited for."""

import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple
from weakref import WeakValueDictionary

from benchyard.host.counters.account import (
    CPU_WAIT,
    NETWORK,
    PROCESS_PEAK,
    SINGLE,
    SUMS,
    MetricBook,
)
from benchyard.host.counters.kernel import (
    PeakBook,
    PeakMark,
    ProcessPeak,
    Traffic,
    carried,
    read_network,
    why_unknown,
)
from benchyard.host.counters.parsing import TICKS_PER_S
from benchyard.host.counters.processes import (
    TICKS_CUT_OFF,
    Key,
    ProcessLife,
    ProcessReading,
    UnknownUsageError,
    Usage,
    grown,
    lives,
    read_trees,
    total,
    used_by,
    vanished,
)
from benchyard.process.usage import Ended, Owned

_MIXED = "resident sets of several processes share pages and do not add up"
_CANNOT_BEGIN_ANEW = "a process's peak cannot begin anew, and an earlier one was higher"
_NEEDS_GROUP = "only a control group of its own tells this of processes"
_WAITS = "the kernel tells it of the first thread of a child that ended, and others worked as well"


class TreesReading(NamedTuple):
    """Process trees at an instant.

    Args:
        ended: All children that had ended; shared with the resource, it only grows.
        ended_count: How many of them there were.
        problem: Why the trees could not be read.
    """

    processes: tuple[ProcessReading, ...]
    peaks: Mapping[Key, PeakMark]
    network: Traffic
    ended: Sequence[Ended]
    ended_count: int
    problem: str | None = None


_NOTHING = TreesReading((), {}, Traffic(), (), 0)
#: In the order of Usage.
_USED = (
    "resource_cpu_s",
    "resource_cpu_user_s",
    "resource_cpu_system_s",
    "resource_page_fault_minor_count",
    "resource_page_fault_major_count",
    "resource_disk_read_bytes",
    "resource_disk_write_bytes",
)


class TreeBook:
    """Reads process trees; remembers each process's peaks for as long as a reading holds them."""

    def __init__(self) -> None:
        self._books: WeakValueDictionary[Key, PeakBook] = WeakValueDictionary()
        self._lock = threading.Lock()

    def read(self, owned: Owned, without: Collection[int]) -> TreesReading | None:
        """Read what is owned beside control groups; None if nothing is.

        Args:
            without: Processes in owned control groups, which are counted there.
        """
        if not owned.pids and not owned.ended:
            return None
        problem, found = None, ()
        try:
            found = tuple(each for each in read_trees(owned.pids) if each.pid not in without)
        except UnknownUsageError as error:
            problem = str(error)
        missing = {*owned.pids} - {each.pid for each in found} - {*without}
        if missing:
            problem = problem or "a process is gone, and nobody told what it used"
        return TreesReading(
            found,
            {key: self._peak(key) for key in lives(found)},
            read_network(owned.pids[0] if owned.pids else None),
            owned.ended,
            len(owned.ended),
            problem,
        )

    def _peak(self, key: Key) -> PeakMark:
        with self._lock:
            book = self._books.get(key)
            if book is None:
                book = self._books[key] = PeakBook(ProcessPeak(key[0]))
        return book.mark()


def used_by_trees(start: TreesReading | None, end: TreesReading, began_ticks: int) -> MetricBook:
    """Return what process trees used between two readings.

    Args:
        start: None if the resource owned none then.
        began_ticks: When the interval began, as the kernel writes the start of processes.
    """
    account = MetricBook()
    account.tell_all((*SUMS, *SINGLE), None, _NEEDS_GROUP)
    since = start or _NOTHING
    problem = since.problem or end.problem
    account.tell(CPU_WAIT, _waited(since, end), _WAITS)
    before, after = lives(since.processes), lives(end.processes)
    ended = end.ended[since.ended_count : end.ended_count]
    if not end.problem:
        _tell_levels(account, after.values())
    try:
        usage = used_by(before, after, began_ticks, ended_roots={one.pid for one in ended})
    except UnknownUsageError as error:
        problem = problem or str(error)
        usage = None
    if problem or usage is None:
        account.tell_all((*_USED, PROCESS_PEAK), None, problem or "")
        return account
    account.tell_all(_USED, _used(usage, ended), "/proc/PID/io of a process may not be read")
    traffic = carried(since.network, end.network, began_inside=not before)
    account.tell_all(NETWORK, traffic, f"the processes: {why_unknown(since.network, end.network)}")
    try:
        account.tell(PROCESS_PEAK, _peak(since, end, ended))
    except UnknownUsageError as error:
        account.tell(PROCESS_PEAK, None, str(error))
    return account


def _waited(start: TreesReading, end: TreesReading) -> float | None:
    """Return how long children that came and ended waited for a CPU, if nobody else was there."""
    waits = [one.cpu_wait_s for one in end.ended[start.ended_count : end.ended_count]]
    known = [wait for wait in waits if wait is not None]
    whole = known and len(known) == len(waits) and not start.processes and not end.processes
    return sum(known) if whole else None


def _tell_levels(account: MetricBook, processes: Iterable[ProcessLife]) -> None:
    alive = [life for life in processes if life.is_alive]
    resident = sum(life.resident_bytes for life in alive) if len(alive) <= 1 else None
    account.tell("resource_memory_bytes", resident, _MIXED)
    account.tell("resource_process_count", len(alive))


def _used(usage: Usage, ended: Sequence[Ended]) -> Usage:
    """Add the whole lives of children that ended to what the trees used without them."""
    used = total([usage, *map(_usage_of, ended)])
    return Usage._make([*map(_at_least_none, used[:3]), *used[3:]])


def _usage_of(one: Ended) -> Usage:
    return Usage(
        one.user_s + one.system_s,
        one.user_s,
        one.system_s,
        one.minor_faults,
        one.major_faults,
        one.read_bytes,
        one.write_bytes,
    )


def _at_least_none(seconds: float) -> float:
    """Return 0 for what is negative only because ticks are rounded down; else the value itself."""
    return max(0.0, seconds) if seconds * TICKS_PER_S >= -TICKS_CUT_OFF else seconds


def _peak(start: TreesReading, end: TreesReading, ended: Sequence[Ended]) -> int:
    """Return the largest resident set of any one process in the interval.

    Raises:
        UnknownUsageError: If one whose peak is not known may have been larger.
    """
    before, after = lives(start.processes), lives(end.processes)
    lost = vanished(before, after)
    if any(not life.is_root for life in lost) or any(grown(before, after)):
        raise UnknownUsageError("descendants ended, and nobody tells their peaks")
    if not after and not ended:
        raise UnknownUsageError("there was no process")
    known = max((_of_one(start.peaks.get(key), end.peaks[key]) for key in after), default=0)
    told = [one.peak_rss_bytes for one in ended if one.peak_rss_bytes is not None]
    # A peak told at the end of a process happened in the interval if it is above these.
    earlier = [start.peaks[life.key] for life in lost]
    from_before = max((0 if e.book.may_reset else e.peak or 0 for e in earlier), default=0)
    known = max([known, *(peak for peak in told if peak > from_before)])
    if known < max(told, default=0):
        raise UnknownUsageError(_CANNOT_BEGIN_ANEW)
    hidden = [one.peak_floor_bytes for one in ended if one.peak_rss_bytes is None]
    if known < max(hidden, default=0):
        raise UnknownUsageError(
            "a child used less memory than the process that starts them, whose peak is then told"
        )
    return known


def _of_one(start: PeakMark | None, end: PeakMark) -> int:
    peak = end.book.between(start, end)
    if peak is None:
        why = end.book.problem
        raise UnknownUsageError(f"{_CANNOT_BEGIN_ANEW} ({why})" if why else _CANNOT_BEGIN_ANEW)
    return peak
