"""What is wanted of a report."""

from dataclasses import dataclass, field

from benchyard.analysis.comparison.pairing import Against
from benchyard.analysis.comparison.rows import Rule
from benchyard.analysis.comparison.verdicts import ALL_METRICS


@dataclass(frozen=True, slots=True)
class Wish:
    """What is wanted of a report.

    Args:
        compare: Whether its sides are compared; else each is shown for itself.
        rule: Which metrics and steps are shown, and what counts as a difference.
        kept: Metrics that its data hold beside the durations: names, globs, or ``all``.
        title: At its head; empty takes the titles of the cases.
        command: What makes the report again, as a shell takes it; empty says nothing.
    """

    compare: bool = False
    against: Against = Against.REFERENCE
    rule: Rule = field(default_factory=lambda: Rule(other_work=True))
    kept: tuple[str, ...] = (ALL_METRICS,)
    title: str = ""
    command: str = ""
