"""What a report says of sides that are compared: ``benchyard compare``'s verdict, and why."""

from dataclasses import dataclass

from benchyard.analysis.comparison.request import Answer, told_findings, told_remarks, told_unpaired
from benchyard.analysis.comparison.rows import CasePair, Comparison
from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.analysis.comparison.tables import MARKS, table
from benchyard.analysis.comparison.wording import notes, summary
from benchyard.core.table import Table
from benchyard.statistics.comparison import Verdict
from benchyard.web.report.wish import Wish


@dataclass(frozen=True, slots=True)
class ComparisonPart:
    """The comparison of a report.

    Args:
        verdict: The whole in a sentence.
        mark: How the sentence is coloured.
        table: A row for each step and metric.
        remarks: What speaks against comparing, or changed: word, and sentence.
        findings: Of failing and missing steps: colour, and sentence.
        notes: Why nothing can be told, what was left out, what has no partner.
        pairs: The cases that were compared.
    """

    verdict: str
    mark: str
    table: Table
    remarks: tuple[tuple[str, str], ...]
    findings: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    pairs: tuple[CasePair, ...]
    regressions: int


def sides_of(comparison: Comparison) -> list[tuple[str, RunSet]]:
    """Return the runs of each case that was compared, with its side; the reference first."""
    found: dict[tuple[str, str], RunSet] = {}
    for pair in comparison.pairs:
        found.setdefault((pair.baseline_side, pair.baseline.title), pair.baseline)
    for pair in comparison.pairs:
        found.setdefault((pair.candidate_side, pair.candidate.title), pair.candidate)
    return [(side, runs) for (side, _), runs in found.items()]


def comparison_part(answer: Answer, wish: Wish) -> ComparisonPart:
    """Say what a comparison comes to."""
    compared = answer.comparison
    return ComparisonPart(
        verdict=summary(compared),
        mark=_mark(compared),
        table=table(compared, wish.label),
        remarks=tuple(told_remarks(compared, lambda sides: ", ".join(map(wish.label, sides)))),
        findings=tuple(
            (MARKS.get(verdict, ""), text) for verdict, text in told_findings(compared, wish.label)
        ),
        notes=(*notes(compared), *told_unpaired(compared, wish.label)),
        pairs=compared.pairs,
        regressions=compared.regressions,
    )


def _mark(compared: Comparison) -> str:
    if compared.regressions:
        return "bad"
    return "good" if compared.count(Verdict.IMPROVEMENT) else ""
