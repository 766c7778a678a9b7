"""What is wanted of a report."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from benchyard.analysis.comparison.request import Answer
from benchyard.analysis.comparison.rows import Rule
from benchyard.analysis.comparison.verdicts import ALL_METRICS


@dataclass(frozen=True, slots=True)
class Wish:
    """What is wanted of a report.

    Args:
        rule: Which metrics and steps are shown, and whether what is suspect counts.
        answer: The comparison that the report is about; None shows each case for itself.
        labels: Name of a side to what people read.
        kept: Metrics that its data hold beside the durations: names, globs, or ``all``.
        title: At its head; empty takes the titles of the cases.
        command: What makes the report again, as a shell takes it; empty says nothing.
    """

    rule: Rule = field(default_factory=lambda: Rule(other_work=True))
    answer: Answer | None = None
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    kept: tuple[str, ...] = (ALL_METRICS,)
    title: str = ""
    command: str = ""

    def label(self, side: str) -> str:
        """Return what people read for a side's name."""
        return self.labels.get(side, side)
