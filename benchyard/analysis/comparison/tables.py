"""A comparison as a table: of two sides a row for each step, of more a row for each side."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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


class Order(StrEnum):
    """In which order the rows come."""

    CASE = "case"
    CHANGE = "change"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class _Entry:
    """What a line shows: a row, or the mean over the steps of two sides.

    Args:
        group: What has lines of all sides: case, step and metric, as the columns show them.
        sides: Baseline and candidate.
        p: As text, as are ``arrow`` and ``words``.
        busy: Whether suspect values count in each side.
        verdict: None for what is not judged.
    """

    group: tuple[str, str, str]
    sides: tuple[str, str]
    difference: Difference
    unit: str | None
    p: str
    arrow: str
    words: str
    busy: tuple[bool, bool]
    verdict: Verdict | None = None


def in_order(comparison: Comparison, order: Order) -> Comparison:
    """Return the comparison with its rows as in the case, the largest change first, or by name."""
    rows = list(comparison.rows)
    if order is Order.CHANGE:
        rows.sort(key=lambda row: -_size(row.difference))
    if order is Order.NAME:
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
_SIDES = ("SIDE", "AGAINST")


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
    entries = [*map(_of_overall, overall(comparison))]
    entries += [_of_row(row, several=several) for row in comparison.rows]
    lines = list(_by_group(entries)) if several else [(_cells(one), one.verdict) for one in entries]
    covers = percent(1 - comparison.rule.level, 4)
    in_turns = all(pair.sessions.in_turns for pair in comparison.pairs)
    interval = f"{covers} INTERVAL" if in_turns else f"{covers} INSIDE SESSIONS"
    medians = ("MEDIAN",) if several else ("BASELINE", "CANDIDATE", "DIFFERENCE")
    who = _SIDES if several else ()
    heads = ("CASE", "STEP", "METRIC", *who, "N", *medians, "CHANGE", interval, "P", "", "VERDICT")
    right = ("N", *medians, "CHANGE", "P")
    columns = [Column(h, _head(h), NUMBER if h in right else TEXT) for h in heads]

    def cell(head: str, text: str, verdict: Verdict | None) -> Cell:
        if head in _SIDES:
            return Cell(text, label(text), href(text))
        return Cell(text, mark=MARKS.get(verdict, "") if head == "VERDICT" else "")

    rows = [
        [cell(h, cells.get("INTERVAL" if h == interval else h, ""), verdict) for h in heads]
        for cells, verdict in lines
    ]
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


def _of_row(row: Row, *, several: bool) -> _Entry:
    called = row.verdict not in (Verdict.NO_CHANGE_SHOWN, Verdict.CANNOT_TELL)
    # Where each side is a step of its own, the sides are called as the steps.
    ours = "" if row.pair.of_same_runs else row.baseline.name
    case, step = (row.pair.key, ours) if several else (row.case, step_name(row))
    return _Entry(
        (case, step, row.metric),
        (row.pair.baseline_side, row.pair.candidate_side),
        row.difference,
        row.unit,
        p_value(row.judgement.p_value) if row.tested else UNKNOWN,
        arrow(row.difference) if called else "",
        verdict_in_full(row),
        (bool(row.baseline.suspect), bool(row.candidate.suspect)),
        row.verdict,
    )


def _of_overall(one: Overall) -> _Entry:
    return _Entry(
        ("", f"all {plural(one.steps, 'step')}", one.metric),
        (one.baseline_side, one.candidate_side),
        one.difference,
        one.unit,
        p_value(one.judgement.p_value),
        arrow(one.difference) if one.judgement.verdict is Verdict.CHANGE else "",
        overall_words(one),
        (one.busy, one.busy),
    )


def _by_group(entries: Sequence[_Entry]) -> Iterator[tuple[dict[str, str], Verdict | None]]:
    """Yield of each step and metric a line for the reference, and below it for each other side."""
    groups: dict[tuple[str, str, str], list[_Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.group, []).append(entry)
    for (case, step, metric), of_group in groups.items():
        one = of_group[0]
        middle = _marked(one.difference.baseline_median, one, 0)
        called = {"CASE": case, "STEP": step, "METRIC": metric, "SIDE": one.sides[0]}
        about = {"N": str(one.difference.baseline_n), "MEDIAN": middle, "VERDICT": "reference"}
        yield called | about, None
        for entry in of_group:
            alone = {"N": str(entry.difference.candidate_n)}
            yield (
                _cells(entry) | dict.fromkeys(("CASE", "STEP", "METRIC"), "") | alone,
                entry.verdict,
            )


def _cells(entry: _Entry) -> dict[str, str]:
    one, (case, step, metric) = entry.difference, entry.group
    return {
        "CASE": case,
        "STEP": step,
        "METRIC": metric,
        "SIDE": entry.sides[1],
        "AGAINST": entry.sides[0],
        "N": f"{one.baseline_n}/{one.candidate_n}",
        "BASELINE": _marked(one.baseline_median, entry, 0),
        "CANDIDATE": _marked(one.candidate_median, entry, 1),
        "MEDIAN": _marked(one.candidate_median, entry, 1),
        "DIFFERENCE": signed(one.shift, entry.unit),
        "CHANGE": change_between(one.ratio, one.baseline_median, one.candidate_median),
        "INTERVAL": _interval(one.ratio_interval),
        "P": entry.p,
        "": entry.arrow,
        "VERDICT": entry.words,
    }


def _marked(median: float | None, entry: _Entry, side: int) -> str:
    return amount(median, entry.unit) + BUSY * entry.busy[side]


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
