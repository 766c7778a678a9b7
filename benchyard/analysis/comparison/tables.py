"""A comparison as a table: of two sides a row for each step, of more a row for each side."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from benchyard.analysis.comparison.overall import Overall, overall
from benchyard.analysis.comparison.rows import Comparison, Row
from benchyard.analysis.comparison.samples import DURATION
from benchyard.analysis.comparison.wording import (
    WORDS,
    arrow,
    as_sessions_do,
    busy_words,
    change,
    change_between,
    p_value,
    signed,
    step_name,
    times_words,
    verdict_in_full,
)
from benchyard.core.quantity import UNKNOWN, amount, number, percent, plural
from benchyard.core.table import NUMBER, TEXT, Cell, Column, Table
from benchyard.results.trust import BUSY
from benchyard.statistics.comparison import Difference, Verdict
from benchyard.statistics.intervals import Interval


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
    lines = [*map(_of_overall, overall(comparison))]
    lines += [_of_row(row, several=several) for row in comparison.rows]
    sides = {s: Cell(s, label(s), href(s)) for two in comparison.side_pairs for s in two}
    lines = list(_by_group(lines, sides)) if several else lines
    covers = percent(1 - comparison.rule.level, 4)
    in_turns = all(pair.sessions.in_turns for pair in comparison.pairs)
    interval = f"{covers} INTERVAL" if in_turns else f"{covers} INSIDE SESSIONS"
    medians = ("MEDIAN",) if several else ("BASELINE", "CANDIDATE", "DIFFERENCE")
    who = ("SIDE", "AGAINST") if several else ()
    heads = (*_GROUP, *who, "N", *medians, "CHANGE", "INTERVAL", "P", "", "VERDICT")
    right = ("N", *medians, "CHANGE", "P")
    names = [interval if head == "INTERVAL" else head for head in heads]
    columns = [Column(h, _head(h), NUMBER if h in right else TEXT) for h in names]
    rows = [[line.get(head, "") for head in heads] for line in lines]
    made = Table("comparison", "Figures and verdicts", columns, rows)
    return made.without(_unsaid(comparison))


def _head(name: str) -> str:
    return name if len(name) < 3 else name[0] + name[1:].lower()


def _unsaid(comparison: Comparison) -> list[str]:
    rows, sides = comparison.rows, comparison.side_pairs
    unsaid = ["CASE"] if len(comparison.pairs) <= len(sides) else []
    unsaid += ["METRIC"] if {row.metric for row in rows} == {DURATION} else []
    unsaid += ["AGAINST"] if len({one for one, _ in sides}) == 1 else []
    unsaid += ["STEP"] if len(sides) > 1 and all(row.pair.of_same_runs for row in rows) else []
    return unsaid


def _of_row(row: Row, *, several: bool) -> _Line:
    called = row.verdict not in (Verdict.NO_CHANGE_SHOWN, Verdict.CANNOT_TELL)
    # Where each side is a step of its own, the sides are called as the steps.
    ours = "" if row.pair.of_same_runs else row.baseline.name
    case, step = (row.pair.key, ours) if several else (row.case, step_name(row))
    busy = bool(row.baseline.suspect), bool(row.candidate.suspect)
    about = {
        "CASE": case,
        "STEP": step,
        "METRIC": row.metric,
        "SIDE": row.pair.candidate_side,
        "AGAINST": row.pair.baseline_side,
        "P": p_value(row.judgement.p_value) if row.tested else UNKNOWN,
        "": arrow(row.difference) if called else "",
    }
    verdict = Cell(verdict_in_full(row), mark=MARKS[row.verdict])
    return _line(about, row.difference, row.unit, busy) | {"VERDICT": verdict}


def _of_overall(one: Overall) -> _Line:
    about = {
        "STEP": f"all {plural(one.steps, 'step')}",
        "METRIC": one.metric,
        "SIDE": one.candidate_side,
        "AGAINST": one.baseline_side,
        "P": p_value(one.judgement.p_value),
        "": arrow(one.difference) if one.judgement.verdict is Verdict.CHANGE else "",
        "VERDICT": overall_words(one),
    }
    return _line(about, one.difference, one.unit, (one.busy, one.busy))


def _line(
    about: Mapping[str, str], one: Difference, unit: str | None, busy: tuple[bool, bool]
) -> dict[str, Cell]:
    """Return the cells of a difference."""
    before, after = (
        amount(median, unit) + BUSY * is_busy
        for median, is_busy in zip((one.baseline_median, one.candidate_median), busy, strict=True)
    )
    figures = {
        "N": f"{one.baseline_n}/{one.candidate_n}",
        "BASELINE N": str(one.baseline_n),
        "CANDIDATE N": str(one.candidate_n),
        "BASELINE": before,
        "CANDIDATE": after,
        "DIFFERENCE": signed(one.shift, unit),
        "CHANGE": change_between(one.ratio, one.baseline_median, one.candidate_median),
        "INTERVAL": _interval(one.ratio_interval),
    }
    return {head: Cell(text) for head, text in (figures | dict(about)).items()}


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


def overall_words(one: Overall) -> str:
    """Say what the mean over the steps comes to."""
    return _overall_words(one) + busy_words(busy=one.busy)


def _overall_words(one: Overall) -> str:
    if one.between is not None and one.between.explains(one.judgement.needed_p):
        return as_sessions_do(one)
    if one.judgement.verdict is Verdict.CHANGE:
        return times_words(one.metric, one.difference)
    return WORDS[one.judgement.verdict]
