"""What a report says of sides that are compared: ``benchyard compare``'s verdict, and why."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchyard.analysis.comparison.facts import Weight
from benchyard.analysis.comparison.pairing import pair_sides
from benchyard.analysis.comparison.rows import CasePair, Comparison
from benchyard.analysis.comparison.run_sets import read_before
from benchyard.analysis.comparison.sides import Side
from benchyard.analysis.comparison.tables import table
from benchyard.analysis.comparison.verdicts import compare_sides
from benchyard.analysis.comparison.wording import notes, remarks, summary
from benchyard.core.table import Table
from benchyard.statistics.comparison import Verdict
from benchyard.web.report.wish import Wish

_WEIGHTS = (
    (Weight.OTHER_WORK, "notice"),
    (Weight.WARNING, "warning"),
    (Weight.CHANGE, "changed"),
)
_MARKS = {
    Verdict.REGRESSION: "bad",
    Verdict.IMPROVEMENT: "good",
    Verdict.CHANGE: "changed",
    Verdict.CANNOT_TELL: "doubtful",
}


@dataclass(frozen=True, slots=True)
class ComparisonPart:
    """The comparison of a report.

    Args:
        verdict: The whole in a sentence.
        mark: How the sentence is coloured.
        table: A row for each step and metric.
        marks: How each row is coloured; empty leaves it.
        remarks: What speaks against comparing, or changed: word, and sentence.
        findings: Of failing and missing steps: colour, and sentence.
        notes: Why nothing can be told, what was left out, what has no partner.
        pairs: The cases that were compared.
    """

    verdict: str
    mark: str
    table: Table
    marks: tuple[str, ...]
    remarks: tuple[tuple[str, str], ...]
    findings: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    pairs: tuple[CasePair, ...]
    regressions: int


def with_before(sides: Sequence[Side]) -> list[Side]:
    """Return the sides; before a single one, the campaign before its own.

    Raises:
        InputError: If there is none.
    """
    if len(sides) != 1:
        return list(sides)
    [side] = sides
    before = f"{side.name} before"
    return [replace(side, name=before, whole=before, cases=read_before(side.cases)), side]


def comparison_part(sides: Sequence[Side], wish: Wish) -> ComparisonPart:
    """Compare the sides.

    Raises:
        InputError: If nothing is comparable.
    """
    compared = compare_sides(pair_sides(sides, {}, wish.against), wish.rule)
    made, verdicts = table(compared)
    unpaired = [f"{t}: in {there} only, not compared with {a}" for t, there, a in compared.unpaired]
    return ComparisonPart(
        verdict=summary(compared),
        mark=_mark(compared),
        table=made,
        marks=tuple(_MARKS.get(verdict, "") if verdict else "" for verdict in verdicts),
        remarks=_remarks(compared),
        findings=tuple(
            (_MARKS.get(one.verdict, ""), f"{_whose(compared, pair)}{one.text}")
            for pair in compared.pairs
            for one in pair.findings
        ),
        notes=(*notes(compared), *unpaired),
        pairs=compared.pairs,
        regressions=compared.regressions,
    )


def _mark(compared: Comparison) -> str:
    if compared.regressions:
        return "bad"
    return "good" if compared.count(Verdict.IMPROVEMENT) else ""


def _remarks(compared: Comparison) -> tuple[tuple[str, str], ...]:
    """Return each remark once, with whom it is about."""
    found = [
        (word, f"{_whose(compared, pair)}{text}")
        for weight, word in _WEIGHTS
        for pair in compared.pairs
        if not pair.neutral
        for text in remarks(pair, weight)
    ]
    return tuple(dict.fromkeys(found))


def _whose(compared: Comparison, pair: CasePair) -> str:
    several = len(compared.side_pairs) > 1
    parts = [pair.candidate_side] if several else []
    parts += [pair.title] if len(compared.pairs) > len(compared.side_pairs) else []
    return f"{', '.join(parts)}: " if parts else ""
