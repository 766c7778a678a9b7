"""What one program in a control group used, from readings of the group at its begin and end."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from benchyard.host.counters.account import NETWORK, MetricBook, unknown
from benchyard.host.counters.group_parsing import amount
from benchyard.host.counters.group_usage import CPU, tell_cpu, used_by_group
from benchyard.host.counters.groups import GroupReading
from benchyard.host.counters.traffic import Traffic, carried, why_unknown
from benchyard.process.usage import MOST_ERROR, LifeSpan

#: What others used (s) in a time so short is not told from what the program used.
_SHORT_S = 0.002


class Others(NamedTuple):
    """What a group counted for others than the program, up to its begin.

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
        is_alone: Whether the group is its own; else it tells only the CPU time, if it knows that.
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
