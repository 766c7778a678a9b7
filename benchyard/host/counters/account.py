"""Metrics of an interval, each with a value or with the reason why it has none."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from benchyard.host.counters.parsing import sum_of

#: What several parts of a resource used together is the sum of what each used.
SUMS = (
    "resource_cpu_s",
    "resource_cpu_user_s",
    "resource_cpu_system_s",
    "resource_memory_bytes",
    "resource_memory_anonymous_bytes",
    "resource_memory_file_bytes",
    "resource_memory_file_start_bytes",
    "resource_disk_read_bytes",
    "resource_disk_write_bytes",
    "resource_disk_read_count",
    "resource_disk_write_count",
    "resource_page_fault_minor_count",
    "resource_page_fault_major_count",
    "resource_network_received_bytes",
    "resource_network_sent_bytes",
    "resource_process_count",
    "resource_oom_kill_count",
    "resource_throttled_count",
    "resource_throttled_s",
)
#: Metrics that are a level at the end, not a difference.
LEVELS = (
    "resource_memory_bytes",
    "resource_memory_anonymous_bytes",
    "resource_memory_file_bytes",
    "resource_memory_file_start_bytes",
    "resource_process_count",
)
#: Of the network namespace that its processes are in.
NETWORK = ("resource_network_received_bytes", "resource_network_sent_bytes")
_GROUP_PEAK = "resource_memory_peak_bytes"
#: Peaks happen at different instants, and stalls at the same: these do not add up.
SINGLE = (
    _GROUP_PEAK,
    *(
        f"resource_psi_{kind}_{who}_s"
        for kind in ("cpu", "memory", "io")
        for who in ("some", "full")
    ),
)
#: Of process trees alone; of several processes the largest.
PROCESS_PEAK = "resource_process_peak_rss_bytes"
#: Of process trees alone, and of nothing beside them.
CPU_WAIT = "resource_cpu_wait_s"
#: Most reasons listed for one metric: a reader wants to know the kinds, not each case.
MOST_REASONS = 5


@dataclass(slots=True)
class MetricBook:
    """What was used; thread-bound.

    Args:
        values: What is known already: metric to value.
        reasons: Metric to why its value is None.
    """

    values: dict[str, float | None] = field(default_factory=dict[str, float | None])
    reasons: dict[str, str] = field(default_factory=dict[str, str])

    def tell(self, metric: str, value: float | None, why: str = "the kernel does not tell") -> None:
        """Note a metric.

        Args:
            value: Negative values become None.
            why: The reason if the value is None.
        """
        if value is not None and value < 0:
            value, why = None, "the kernel's accounts contradict each other"
        self.values[metric] = value
        if value is None:
            self.reasons[metric] = why
        else:
            self.reasons.pop(metric, None)

    def tell_all(
        self, metrics: Iterable[str], values: Iterable[float | None] | None, why: str
    ) -> None:
        """Note several metrics that are known, or are not, for the same reason.

        Args:
            values: None if none of them is known.
        """
        names = list(metrics)
        known = [None] * len(names) if values is None else values
        for name, value in zip(names, known, strict=True):
            self.tell(name, value, why)

    def take(self, book: "MetricBook", metrics: Iterable[str]) -> None:
        """Note some metrics as another book has them."""
        for metric in metrics:
            self.tell(metric, book.values.get(metric), book.reasons.get(metric, ""))


def difference(before: float | None, after: float | None) -> float | None:
    """Return how far a counter went; None if it went backwards, as a counter made anew does."""
    if before is None or after is None or after < before:
        return None
    return after - before


def together(parts: Sequence[MetricBook]) -> MetricBook:
    """Add up what all parts of a resource used; a metric that one part lacks is unknown."""
    whole = MetricBook()
    if not parts:
        return whole
    for metric in SUMS:
        whole.tell(metric, sum_of(part.values.get(metric) for part in parts), _why(metric, parts))
    of_trees = [part for part in parts if PROCESS_PEAK in part.values]
    for metric in (*SINGLE, CPU_WAIT) if of_trees else SINGLE:
        alone = parts[0].values.get(metric) if len(parts) == 1 else None
        whole.tell(metric, alone, _why(metric, parts))
    for part in of_trees:
        whole.take(part, [PROCESS_PEAK])
    return whole


def in_turn(parts: Sequence[MetricBook]) -> MetricBook:
    """Add up parts that followed one another; the peak is the highest of theirs.

    A level is that at the end of the last one.
    """
    whole = MetricBook()
    for metric in dict.fromkeys(metric for part in parts for metric in part.values):
        told = [part.values.get(metric) for part in parts]
        value = told[-1] if metric in LEVELS else sum_of(told)
        if metric == _GROUP_PEAK and value is not None:
            value = max(each for each in told if each is not None)
        whole.tell(metric, value, _why(metric, parts))
    return whole


def unknown(why: str) -> MetricBook:
    """Return an account in which nothing is known."""
    account = MetricBook()
    account.tell_all((*SUMS, *SINGLE), None, why)
    return account


def _why(metric: str, parts: Sequence[MetricBook]) -> str:
    reasons = [part.reasons[metric] for part in parts if metric in part.reasons]
    if reasons:
        return reasons[0]
    return "the resource has several control groups or process trees, and this does not add up"


class Reasons:
    """Why metrics were null in the intervals of a run: each reason once, and a few at most."""

    def __init__(self) -> None:
        self._known: dict[str, list[str]] = {}

    def add(self, reasons: Mapping[str, str]) -> None:
        """Note the reasons of one interval: metric to reason."""
        for metric, why in reasons.items():
            known = self._known.setdefault(metric, [])
            if why not in known and len(known) < MOST_REASONS:
                known.append(why)

    def told(self) -> dict[str, str]:
        """Return metric to its reasons, apart by semicolons."""
        return {metric: "; ".join(each) for metric, each in self._known.items()}
