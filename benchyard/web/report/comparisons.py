"""What a report says of its sides: how they compare, and where they were measured."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from benchyard.analysis.comparison.facts import FACTS, Fact
from benchyard.analysis.comparison.request import Answer, told_findings, told_remarks, told_unpaired
from benchyard.analysis.comparison.rows import Comparison, Rule
from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.analysis.comparison.tables import MARKS, table
from benchyard.analysis.comparison.verdicts import ALL_METRICS
from benchyard.analysis.comparison.wording import notes, summary
from benchyard.core.json_text import encoded
from benchyard.core.model import Json, plain
from benchyard.core.quantity import amount, plural, shorten
from benchyard.core.table import Cell, Column, Table, text_table
from benchyard.core.wording import named_runs, some
from benchyard.results.record import RunRecord
from benchyard.statistics.comparison import Verdict


@dataclass(frozen=True, slots=True)
class ReportRequest:
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


def sides_of(comparison: Comparison) -> list[tuple[str, RunSet]]:
    """Return the runs of each case that was compared, with its side; the reference first."""
    found: dict[tuple[str, str], RunSet] = {}
    for pair in comparison.pairs:
        found.setdefault((pair.baseline_side, pair.baseline.title), pair.baseline)
    for pair in comparison.pairs:
        found.setdefault((pair.candidate_side, pair.candidate.title), pair.candidate)
    return [(side, runs) for (side, _), runs in found.items()]


class ComparisonPart:
    """What a comparison comes to, for a page or a report.

    Args:
        label: Returns what people call a side.
        href: Returns where the name of a side leads.

    Attributes:
        verdict: The whole in a sentence.
        mark: How the sentence is coloured.
        table: A row for each step and metric.
        remarks: What speaks against comparing, or changed: word, and sentence.
        findings: Of failing and missing steps: colour, and sentence.
        notes: Why nothing can be told, what was left out, what has no partner.
        pairs: The cases that were compared.
    """

    def __init__(
        self,
        compared: Comparison,
        label: Callable[[str], str],
        href: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        self.verdict, self.mark = summary(compared), _mark(compared)
        self.table = table(compared, label, href)
        remarks = told_remarks(compared, lambda sides: some([*map(label, sides)], _MOST_NAMES))
        self.remarks = list(remarks)
        findings = told_findings(compared, label)
        self.findings = [(MARKS.get(verdict, ""), text) for verdict, text in findings]
        self.notes = [*notes(compared), *told_unpaired(compared, label)]
        self.pairs, self.regressions = compared.pairs, compared.regressions


def _mark(compared: Comparison) -> str:
    """Return the mark of the whole: that of the worst verdict that is one."""
    if compared.regressions:
        return "bad"
    if compared.count(Verdict.CANNOT_TELL) == len(compared.asked):
        return "doubtful"
    return "good" if compared.count(Verdict.IMPROVEMENT) else ""


#: Sides that are named in front of what is said of them.
_MOST_NAMES = 5
#: Names that a cell lists before it says how many more there are.
_LISTED = 4
_OF_CASES = ("point of the matrix", "case", "files of the case")
#: Names of facts that have a unit, to that unit.
_UNITS = {
    "memory size": "B",
    "swap size": "B",
    "memory limit": "B",
    "highest frequency": "Hz",
    "sampling interval": "s",
}

#: Of each case of a side what it is called, and its runs.
Named = Sequence[tuple[str, RunSet]]


def environment(sides: Mapping[str, Named]) -> Table:
    """Return a row for each fact that is known; what differs is marked.

    What tells one case from another is none of them: that is in the subject of each.

    Args:
        sides: Name to the cases of a side; each side has a column.
    """
    heads = list(sides) if len(sides) > 1 else ["Value"]
    rows: list[list[Cell]] = []
    for fact in FACTS:
        if fact.what in _OF_CASES:
            continue
        found = [_by_value(fact, cases) for cases in sides.values()]
        values = {value for of_side in found for value in of_side}
        if values:
            mark = "doubtful" if len(values) > 1 else ""
            rows.append([Cell(text, mark=mark) for text in (fact.what, *map(_cell, found))])
    columns = [Column(head, head) for head in ("Fact", *heads)]
    return Table("facts", "Facts of the testbeds; those that differ are marked", columns, rows)


def _by_value(fact: Fact, cases: Named) -> dict[str, dict[str, list[int]]]:
    """Return each value, as text, to the runs of each case that have it."""
    found: dict[str, dict[str, list[int]]] = {}
    for title, runs in cases:
        for record in runs.everything:
            value = fact.of(record)
            if value is not None:
                where = found.setdefault(fact_words(fact.what, value), {})
                where.setdefault(title, []).append(record.run)
    return found


def fact_words(what: str, value: Json) -> str:
    """Write a fact for people.

    Args:
        what: Which, by how it is called.
    """
    if value is None:
        return "-"
    if what in _UNITS and isinstance(value, int | float):
        return amount(value, _UNITS[what])
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(plain, value)) or "none"
    if isinstance(value, dict):
        return " ".join(map(plain, value.values()))
    return value if isinstance(value, str) else encoded(value)


def _cell(found: Mapping[str, Mapping[str, Sequence[int]]]) -> str:
    """Write values, and of several which runs have each."""
    if len(found) < 2:
        return "".join(found) or "-"
    told = [f"{value} ({_where(where)})" for value, where in list(found.items())[:_LISTED]]
    more = f"; and {len(found) - _LISTED} more values" if len(found) > _LISTED else ""
    return "; ".join(told) + more


def _where(where: Mapping[str, Sequence[int]]) -> str:
    told = [f"{title} {named_runs(sorted(set(runs)))}" for title, runs in where.items()]
    return some(told, _LISTED)


def doubts_table(records: Iterable[RunRecord]) -> Table:
    """Return what spoke against measuring just before the runs; each check once."""
    found: dict[str, list[Mapping[str, Json]]] = {}
    for record in records:
        for finding in record.preflight:
            if finding.get("status") in ("warn", "fail"):
                found.setdefault(str(finding.get("check")), []).append(finding)
    rows = [
        [
            check,
            plural(len(several), "run"),
            shorten(str(several[-1].get("finding") or "-"), 200),
            shorten(str(several[-1].get("advice") or "-"), 200),
        ]
        for check, several in found.items()
    ]
    return text_table(("Check", "Before", "Found, the last time", "What to do"), rows)
