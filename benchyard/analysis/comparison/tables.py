"""A comparison as a table: of two sides a row for each step, of more a row for each side.

Its first lines have all steps of two sides in one ratio: the geometric mean over the steps, run by
run.

Each run gives one value, the geometric mean of its steps' values; the runs of both sides are then
compared as those of one step are. So every step weighs the same, however long it takes, the mean
does not depend on which side is the baseline, and what the steps of a run share (a slow moment) is
not counted as if it were independent.
These values have a test of their own, before those of the steps and apart from them: the lines over
all steps are one family (and those of metrics that explain another), the steps another, each at
the whole level. To test the steps only where this one calls something (a fixed sequence) would lose
steps that differ in opposite directions.
Source of the mean: Fleming and Wallace, 1986, "How not to lie with statistics: the correct way to
summarize benchmark results", Communications of the ACM 29 (3), 218-221. Of the ratio and its
interval: ``benchyard.statistics.ranks.ratio_of`` and ``benchyard.statistics.pairs.middle_ratio``.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from benchyard.analysis.comparison.rows import Comparison, Overall, Row, Rule
from benchyard.analysis.comparison.samples import DURATION
from benchyard.analysis.comparison.sessions import SessionHistory
from benchyard.analysis.comparison.wording import (
    WORDS,
    arrow,
    change,
    change_between,
    p_value,
    signed,
    step_name,
    verdict_in_full,
)
from benchyard.core.quantity import UNKNOWN, amount, number, percent, plural
from benchyard.core.table import NUMBER, TEXT, Cell, Column, Table
from benchyard.results.trust import BUSY
from benchyard.statistics.comparison import (
    Difference,
    Verdict,
    compare_pairs,
    compare_samples,
    judge_families,
)
from benchyard.statistics.intervals import Interval


def overall(comparison: Comparison) -> tuple[Overall, ...]:
    """Return every two sides and metric with at least two steps, in the order of the rows."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in comparison.rows:
        key = (row.pair.baseline_side, row.pair.candidate_side, row.metric)
        groups.setdefault(key, []).append(row)
    rule, history = comparison.rule, comparison.history
    made = [
        (one, all(row.explains for row in rows))
        for rows in groups.values()
        if len(rows) > 1 and (one := _of_rows(rows, rule, history))
    ]
    judged = judge_families([one.difference for one, _ in made], [family for _, family in made])
    return tuple(replace(one, judgement=its) for (one, _), its in zip(made, judged, strict=True))


def _of_rows(rows: Sequence[Row], rule: Rule, history: SessionHistory) -> Overall | None:
    counted = [row for row in rows if _counts(row)]
    if len(counted) < 2:
        return None
    cases: dict[str, list[Row]] = {}
    for row in counted:
        cases.setdefault(row.pair.key, []).append(row)
    sides = [
        _over_cases([_means([_values(row)[at] for row in of_case]) for of_case in cases.values()])
        for at in (0, 1)
    ]
    same_runs = all(row.pair.paired for row in counted)
    compare = compare_pairs if same_runs and len(sides[0]) == len(sides[1]) else compare_samples
    first = rows[0]
    inside = compare(*sides, smaller_is_better=None, level=rule.level, threshold=rule.threshold)
    parts = [
        of_case[0].pair.steps(
            (row.baseline.id for row in of_case), (row.candidate.id for row in of_case)
        )
        for of_case in cases.values()
    ]
    between = history.between(parts, first.metric, sides, inside)
    return Overall(
        *(first.pair, first.metric, first.unit, len(counted)),
        tuple(row.candidate.name for row in rows if row not in counted),
        between.held_against(inside) if between else inside,
        between=between,
        busy=any(row.busy for row in counted),
    )


def _values(row: Row) -> tuple[Mapping[int, float], Mapping[int, float]]:
    """Return the values of both sides by the runs' numbers."""
    one, other = (side.by_run.get(row.metric, {}) for side in (row.baseline, row.candidate))
    return one, other


def _counts(row: Row) -> bool:
    """Tell whether a step has a logarithm in more than half of the runs of both sides."""
    runs = (len(row.pair.baseline.records), len(row.pair.candidate.records))
    return all(
        2 * len(values) > n and min(values.values()) > 0
        for values, n in zip(_values(row), runs, strict=True)
    )


def _means(steps: Sequence[Mapping[int, float]]) -> list[tuple[float, int]]:
    """Return the sum of the logarithms, and their number, of each run that has all steps."""
    runs = [run for run in steps[0] if all(run in step for step in steps)]
    return [(math.fsum(math.log(step[run]) for step in steps), len(steps)) for run in runs]


def _over_cases(cases: Sequence[Sequence[tuple[float, int]]]) -> list[float]:
    """Return the geometric mean of the n-th runs of all cases, as far as every case has one.

    Runs of two cases are independent: which of them are taken together changes nothing.
    """
    return [_mean(runs) for runs in zip(*cases, strict=False)]


def _mean(runs: Sequence[tuple[float, int]]) -> float:
    return math.exp(math.fsum(total for total, _ in runs) / sum(steps for _, steps in runs))


class RowOrder(StrEnum):
    """In which order the rows come."""

    CASE = "case"
    CHANGE = "change"
    NAME = "name"


def in_order(comparison: Comparison, order: RowOrder) -> Comparison:
    """Return the comparison with its rows as in the case, the largest change first, or by name."""
    rows = list(comparison.rows)
    if order is RowOrder.CHANGE:
        rows.sort(key=lambda row: -_size(row.difference))
    if order is RowOrder.NAME:
        rows.sort(key=lambda row: (row.candidate.name, row.metric))
    return replace(comparison, rows=tuple(rows))


def _size(difference: Difference) -> float:
    ratio = difference.ratio
    return abs(math.log(ratio)) if ratio and ratio > 0 else 0.0


#: Verdict to the mark that colours it.
MARKS: Mapping[Verdict | None, str] = {
    Verdict.REGRESSION: "bad",
    Verdict.IMPROVEMENT: "good",
    Verdict.CHANGE: "changed",
    Verdict.CANNOT_TELL: "doubtful",
    Verdict.NO_CHANGE_SHOWN: "quiet",
}
_GROUP = ("CASE", "STEP", "METRIC")
#: What a line shows, by the heads of its columns.
_Line = Mapping[str, Cell]


def table(
    comparison: Comparison,
    label: Callable[[str], str] = str,
    href: Callable[[str], str | None] = lambda _: None,
) -> Table:
    """Return the table; columns that say nothing are left out.

    The first lines are the geometric means over all steps.

    Args:
        label: Returns what people call a side.
        href: Returns where the name of a side leads.
    """
    several = len(comparison.side_pairs) > 1
    lines = [
        _line(one, {"STEP": f"all {plural(one.steps, 'step')}"}, (one.busy, one.busy))
        for one in overall(comparison)
    ]
    lines += [_of_row(row, several=several) for row in comparison.rows]
    sides = {s: Cell(s, label(s), href(s)) for two in comparison.side_pairs for s in two}
    lines = list(_by_group(lines, sides)) if several else lines
    covers = percent(1 - comparison.rule.level, 4)
    whole = all(row.pair.sessions.in_turns or row.compares_levels for row in comparison.rows)
    interval = f"{covers} INTERVAL" if whole else f"{covers} INSIDE SESSIONS"
    medians = ("MEDIAN",) if several else ("BASELINE", "CANDIDATE", "DIFFERENCE")
    who = ("SIDE", "AGAINST") if several else ()
    heads = (*_GROUP, *who, "N", *medians, "CHANGE", "INTERVAL", "P", "", "VERDICT")
    right = ("N", *medians, "CHANGE", "P")
    names = [interval if head == "INTERVAL" else head for head in heads]
    columns = [Column(h, h.capitalize(), NUMBER if h in right else TEXT) for h in names]
    rows = [[line.get(head, "") for head in heads] for line in lines]
    made = Table("comparison", "Figures and verdicts", columns, rows)
    return made.without(_unsaid(comparison))


def _unsaid(comparison: Comparison) -> list[str]:
    rows, sides = comparison.rows, comparison.side_pairs
    unsaid = ["CASE"] if len(comparison.pairs) <= len(sides) else []
    unsaid += ["METRIC"] if {row.metric for row in rows} == {DURATION} else []
    unsaid += ["AGAINST"] if len({one for one, _ in sides}) == 1 else []
    unsaid += ["STEP"] if len(sides) > 1 and all(row.pair.of_same_runs for row in rows) else []
    return unsaid


def _of_row(row: Row, *, several: bool) -> _Line:
    # Where each side is a step of its own, the sides are called as the steps.
    ours = "" if row.pair.of_same_runs else row.baseline.name
    case, step = (row.pair.key, ours) if several else (row.case, step_name(row))
    busy = bool(row.baseline.suspect), bool(row.candidate.suspect)
    return _line(row, {"CASE": case, "STEP": step}, busy)


def _line(line: Row | Overall, about: Mapping[str, str], busy: tuple[bool, bool]) -> _Line:
    one = line.difference
    before, after = (
        amount(median, line.unit) + BUSY * is_busy
        for median, is_busy in zip((one.baseline_median, one.candidate_median), busy, strict=True)
    )
    figures = {
        "METRIC": line.metric,
        "SIDE": line.pair.candidate_side,
        "AGAINST": line.pair.baseline_side,
        "N": f"{one.baseline_n}/{one.candidate_n}",
        "BASELINE N": str(one.baseline_n),
        "CANDIDATE N": str(one.candidate_n),
        "BASELINE": before,
        "CANDIDATE": after,
        "DIFFERENCE": signed(one.shift, line.unit),
        "CHANGE": change_between(one.ratio, one.baseline_median, one.candidate_median),
        "INTERVAL": _interval(one.ratio_interval),
        "P": p_value(line.judgement.p_value) if line.tested else UNKNOWN,
        "": "" if line.verdict in WORDS else arrow(one),
    }
    cells = {head: Cell(text) for head, text in (figures | dict(about)).items()}
    return cells | {"VERDICT": Cell(verdict_in_full(line), mark=MARKS[line.verdict])}


def _by_group(lines: Sequence[_Line], sides: Mapping[str, Cell]) -> Iterator[_Line]:
    """Yield of each step and metric a line for the reference, and below it for each other side."""
    nothing = Cell("")
    groups: dict[tuple[str, ...], list[_Line]] = {}
    for line in lines:
        groups.setdefault(tuple(line.get(h, nothing).shown() for h in _GROUP), []).append(line)
    for of_group in groups.values():
        first = of_group[0]
        called = {head: first.get(head, nothing) for head in _GROUP}
        yield called | {
            "SIDE": sides[first["AGAINST"].shown()],
            "N": first["BASELINE N"],
            "MEDIAN": first["BASELINE"],
            "VERDICT": Cell("reference"),
        }
        for line in of_group:
            who = {head: sides[line[head].shown()] for head in ("SIDE", "AGAINST")}
            figures = {"N": line["CANDIDATE N"], "MEDIAN": line["CANDIDATE"]}
            yield {**line, **dict.fromkeys(_GROUP, nothing), **who, **figures}


def _interval(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return UNKNOWN
    if interval.high >= 10:  # as ``change`` writes the higher end
        return f"{number(interval.low, 3)} … {change(interval.high)}"
    return f"{change(interval.low).removesuffix(' %')} … {change(interval.high)}"
