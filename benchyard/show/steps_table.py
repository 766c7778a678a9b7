"""The steps of a summary as a table of texts, for the terminal and for pages."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchyard.analysis.comparison.wording import figure
from benchyard.core.table import Table
from benchyard.core.wording import duration
from benchyard.results.summary_metrics import own_time

_HEADS = ("", "Step", "N", "Median", "± 95 %", "CV", "Min", "Max", "Own", "Outcomes", "Left out")
#: Columns that have something to say in some cases only.
_SELDOM = ("Own", "Left out")
Document = Mapping[str, Any]
DURATION = "duration_s"


def steps_table(
    steps: Sequence[Document], escape: Callable[[str], str], metric: str = DURATION
) -> Table:
    """Return a row for each step; columns that would be empty are left out.

    Args:
        steps: The member ``steps`` of summary.json.
        escape: Makes the names in it, which are the user's, harmless where they are shown.
        metric: Whose statistics are shown.
    """
    rows = [_row(step, escape, metric) for step in steps]
    empty = [head for head in _SELDOM if not any(row[_HEADS.index(head)] for row in rows)]
    return Table(_HEADS, rows, _HEADS[2:9]).without(empty)


def _row(step: Document, escape: Callable[[str], str], metric: str) -> tuple[str, ...]:
    metrics: Document = step.get("metrics") or {}
    shown: Document = metrics.get(metric) or {}
    described: Document = shown.get("statistics") or {}
    unit: str | None = shown.get("unit")
    own = own_time(metrics) if metric == DURATION else None
    numbers = [described.get(name) for name in ("median", "min", "max")]
    median, least, most = (figure(number, unit) for number in numbers)
    return (
        str(step["index"]),
        escape(step["name"]),
        str(described.get("n", 0)) if step.get("measured") else "-",
        median,
        _half_width(described, unit),
        _variation(described),
        least,
        most,
        "" if own is None else duration(own),
        _counts(step.get("outcomes") or {}, escape),
        _counts(step.get("left_out") or {}, escape),
    )


def _half_width(described: Document, unit: str | None) -> str:
    """Say how far the farther end of the median's interval is from it; it is seldom symmetric."""
    interval: Document = described.get("median_interval") or {}
    low, high, median = interval.get("low"), interval.get("high"), described.get("median")
    if low is None or high is None or median is None:
        return "-"
    return figure(max(median - low, high - median), unit)


def _variation(described: Document) -> str:
    stdev, mean = described.get("stdev"), described.get("mean")
    return "-" if stdev is None or not mean else f"{stdev / mean:.1%}"


def _counts(numbers: Mapping[str, int], escape: Callable[[str], str]) -> str:
    words = {word.replace("_", " "): n for word, n in numbers.items() if n}
    return ", ".join(f"{n} {escape(word)}" for word, n in words.items())
