"""Figures rounded to what their intervals show, in tables for papers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from itertools import islice
from typing import Any

from benchyard.analysis.comparison.samples import DURATION
from benchyard.core import quantity
from benchyard.core.errors import InputError
from benchyard.core.model import plain, point_suffix
from benchyard.core.table import text_table
from benchyard.core.wording import cell, hint, quote
from benchyard.results.summary_metrics import unit_and_direction
from benchyard.show.export.columns import Metrics
from benchyard.show.export.sources import CaseFolder
from benchyard.show.export.tidy import Choice, Tally, refuse_nothing, summaries

#: Digits of a median whose interval is not known or has no width.
_DIGITS = 3
#: Source: JCGM 100:2008 (GUM), 7.2.6: an uncertainty has two significant digits at most, and the
#: value is rounded to the same place.
_DIGITS_OF_FARTHER_END = 2
#: Digits more that the farther end has at most, for the nearer end to have one.
_MORE_DIGITS = 2
#: Endings that a metric's unit says again.
_ENDINGS = ("_bytes_per_s", "_per_s", "_s", "_bytes", "_hz", "_j")


@dataclass(frozen=True, slots=True)
class Figure:
    """A rounded median.

    Args:
        interval: How far the upper and the lower end of its interval are from it; None if too few
            runs show them.
    """

    value: Decimal
    interval: tuple[Decimal, Decimal] | None = None

    def __str__(self) -> str:
        """Write it for people: ``12.34 +0.56 -0.12``."""
        value = f"{self.value:f}"
        if self.interval is None:
            return value
        above, below = self.interval
        return f"{value} +{above:f} -{below:f}"


@dataclass(frozen=True, slots=True)
class Scale:
    """A unit, and its size in the unit that values are stored in."""

    size: float = 1.0
    unit: str | None = None


def scale_of(metric: str, medians: Iterable[float], declared: str | None = None) -> Scale:
    """Return the unit in which the largest of some medians has one to three digits and a point.

    Args:
        declared: The unit that the case gives to the metric; without one the name tells it.
    """
    unit = declared or unit_and_direction(metric)[0]
    most = max((abs(median) for median in medians), default=0.0)
    return Scale(*quantity.scale(most, unit)) if unit not in (None, "1") else Scale()


def words_of(metric: str) -> str:
    """Return a metric's name as words, without its unit: ``resource memory peak``."""
    ending = next((one for one in _ENDINGS if metric.endswith(one)), "")
    return metric.removesuffix(ending).replace("_", " ").strip() or metric


def rounded(statistics: Mapping[str, Any], scale: Scale) -> Figure | None:
    """Return the median of ``statistics`` in the unit of a scale; None if there is none."""
    median = statistics.get("median")
    if median is None:
        return None
    interval: Mapping[str, Any] = statistics.get("median_interval") or {}
    low, high = interval.get("low"), interval.get("high")
    value = _scaled(median, scale)
    if low is None or high is None:
        return Figure(_to_digits(value, _DIGITS))
    above, below = _scaled(high - median, scale), _scaled(median - low, scale)
    nearer, farther = sorted((above, below))
    if not farther:
        return Figure(_to_digits(value, max(_DIGITS, value.adjusted() + 1)), (above, below))
    place = _place(_to_digits(farther, _DIGITS_OF_FARTHER_END))
    if nearer:  # Rounded to 0 it would look as if nothing were lower, or higher.
        place = max(min(place, _place(_to_digits(nearer, 1))), place.scaleb(-_MORE_DIGITS))
    value, above, below = (n.quantize(place, ROUND_HALF_EVEN) for n in (value, above, below))
    return Figure(value, (above, below))


def _scaled(value: float, scale: Scale) -> Decimal:
    # repr, not the exact binary value: its digits are those that were measured.
    return Decimal(repr(float(value))) / Decimal(repr(scale.size))


def _to_digits(value: Decimal, digits: int) -> Decimal:
    """Round to a number of significant digits; zeros before the point stay zeros."""
    if not value:
        return Decimal(0)
    place = Decimal(1).scaleb(value.adjusted() - digits + 1)
    made = value.quantize(place, ROUND_HALF_EVEN)
    if made.adjusted() > value.adjusted():  # 0.0996 to two digits is 0.10, not 0.100
        made = made.quantize(place.scaleb(1), ROUND_HALF_EVEN)
    return made


def _place(value: Decimal) -> Decimal:
    return Decimal(1).scaleb(int(value.as_tuple().exponent))


# -- tables


_Statistics = Mapping[str, Any]
#: Points that fit beside each other on a page.
_MOST_COLUMNS = 4


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table of rounded medians; its texts are the user's, and not escaped.

    Args:
        title: Of the case.
        labels: Heads of the columns that tell what a row is of.
        heads: Of each column of figures its name, and its unit in brackets.
        rows: Of each its labels, and its figures, None where there is none.
        note: What the figures are.
        spanner: Head above all columns of figures; None without one.
    """

    title: str
    labels: Sequence[str]
    heads: Sequence[str]
    rows: Sequence[tuple[Sequence[str], Sequence[Figure | None]]]
    note: str
    spanner: str | None = None


@dataclass(frozen=True, slots=True)
class _Point:
    """The newest runs of one point: statistics by step and metric, units, names of steps."""

    source: CaseFolder
    statistics: Mapping[tuple[str, str], _Statistics]
    units: Mapping[str, str | None]
    names: Mapping[str, str]


def paper_tables(
    sources: Sequence[CaseFolder], choice: Choice, tally: Tally, layout: str | None = None
) -> list[PaperTable]:
    """Return the tables of some cases: the medians of the newest subject's runs.

    Without metrics in ``choice`` they are of the duration alone.

    Args:
        layout: ``columns`` makes a table for each metric with a column for each point of a matrix,
            the name of a parameter one with a column for each of its values, ``rows`` a single
            table with a column for each metric; None decides by the number of points.

    Raises:
        InputError: If no run is there, or no metric or parameter is called so.
    """
    parameters = {name for source in sources for name in source.point}
    if layout not in (None, "columns", "rows", *parameters):
        raise InputError(f"no parameter of a matrix is '{quote(layout)}'{hint(layout, parameters)}")
    tally.begin()
    metrics = Metrics(choice.metrics or (DURATION,))
    points = [found for one in sources for found in _point(one, choice, tally, metrics)]
    refuse_nothing(len(points), sources, tally.unreadable)
    metrics.refuse_unmatched()
    made = (table for case in _by_case(points) for table in _of_case(case, layout))
    return [table for table in made if table.rows]


def _of_case(case: Sequence[_Point], layout: str | None) -> list[PaperTable]:
    parameters = _parameters(case)
    along = layout if layout in parameters else None
    in_rows = layout == "rows" or (layout != "columns" and len(case) > _MOST_COLUMNS)
    if along is None and (in_rows or not parameters):
        return [_with_rows(case)]
    return [_with_columns(case, metric, along) for metric in _metrics(case)]


def _metrics(case: Sequence[_Point]) -> list[str]:
    return list(dict.fromkeys(name for point in case for _, name in point.statistics))


def _parameters(case: Sequence[_Point]) -> list[str]:
    return list(dict.fromkeys(name for point in case for name in point.source.point))


def _by_case(points: Sequence[_Point]) -> list[list[_Point]]:
    """Group the points of a case; of each its newest campaigns, the ones before, and so on."""
    seen = Counter[str]()
    found: dict[tuple[str, int], list[_Point]] = {}
    for point in points:
        found.setdefault((point.source.case, seen[point.source.title]), []).append(point)
        seen[point.source.title] += 1
    return list(found.values())


def _point(source: CaseFolder, choice: Choice, tally: Tally, metrics: Metrics) -> Iterator[_Point]:
    for document, _ in islice(summaries(source, choice, tally), 1):
        steps: Any = document["steps"]
        wanted = [
            (step["id"], name, metric)
            for step in steps
            for name, metric in metrics.of(step.get("metrics") or {}).items()
            if metric["statistics"]["n"]
        ]
        statistics = {(step, name): metric["statistics"] for step, name, metric in wanted}
        units = {name: metric["unit"] for _, name, metric in wanted}
        named = {step["id"]: step["name"] for step in steps}
        yield _Point(source, statistics, units, named)


def _with_rows(case: Sequence[_Point]) -> PaperTable:
    scales = {metric: _scale(case, metric) for metric in _metrics(case)}
    parameters = _parameters(case)
    rows = [
        (
            (*_values(point, parameters), point.names[step]),
            [rounded(point.statistics.get((step, m), {}), s) for m, s in scales.items()],
        )
        for point in case
        for step in dict.fromkeys(step for step, _ in point.statistics)
    ]
    heads = [_head(metric, scale) for metric, scale in scales.items()]
    return PaperTable(_title(case), (*parameters, "step"), heads, rows, _note(case))


def _head(metric: str, scale: Scale) -> str:
    return words_of(metric) + (f" ({scale.unit})" if scale.unit else "")


def _values(point: _Point, parameters: Sequence[str]) -> tuple[str, ...]:
    return tuple(plain(point.source.point.get(name)) for name in parameters)


def _with_columns(case: Sequence[_Point], metric: str, parameter: str | None) -> PaperTable:
    """Return a table with a column for each value of a parameter, or without one each point."""
    named, scale = _names(case), _scale(case, metric)
    others = [name for name in _parameters(case) if parameter not in (None, name)]
    cells = {
        (_values(point, others), step, _column(point, parameter)): rounded(statistics, scale)
        for point in case
        for (step, name), statistics in point.statistics.items()
        if name == metric
    }
    columns = dict.fromkeys(_column(point, parameter) for point in case)
    labels = ["step"] if not others or len({step for _, step, _ in cells}) > 1 else []
    rows = [
        ((*values, *(named[step] for _ in labels)), [cells.get((values, step, c)) for c in columns])
        for values, step in dict.fromkeys((values, step) for values, step, _ in cells)
    ]
    spanner = f"{_head(metric, scale)} by {parameter}" if parameter else None
    title = f"{_title(case)}: {spanner or _head(metric, scale)}"
    return PaperTable(title, [*others, *labels], list(columns), rows, _note(case), spanner)


def _column(point: _Point, parameter: str | None) -> str:
    values = point.source.point
    return point_suffix(values)[1:-1] if parameter is None else plain(values.get(parameter))


def _names(case: Sequence[_Point]) -> dict[str, str]:
    """Return the step's names; its id where it is called otherwise at each point."""
    found: dict[str, set[str]] = {}
    for point in case:
        for step, name in point.names.items():
            found.setdefault(step, set()).add(name)
    return {step: names.pop() if len(names) == 1 else step for step, names in found.items()}


def _title(case: Sequence[_Point]) -> str:
    source = case[0].source
    return f"{source.case}, campaign {source.campaign}" if source.campaign else source.case


def _scale(case: Sequence[_Point], metric: str) -> Scale:
    found = [
        s.get("median") for p in case for (_, name), s in p.statistics.items() if name == metric
    ]
    unit = next((point.units[metric] for point in case if metric in point.units), None)
    return scale_of(metric, [median for median in found if median is not None], unit)


def _note(case: Sequence[_Point]) -> str:
    """Say what the figures are, of how many runs, and where an interval is missing."""
    described = [statistics for point in case for statistics in point.statistics.values()]
    counts = sorted({int(statistics["n"]) for statistics in described if statistics["n"]})
    runs = "no run" if not counts else f"{counts[0]} to {counts[-1]} runs"
    if len(counts) == 1:
        runs = f"{counts[0]} run{'s' * (counts[0] != 1)}"
    intervals: list[Mapping[str, Any]] = [s.get("median_interval") or {} for s in described]
    levels = sorted({100 * i["level"] for i in intervals if i.get("low") is not None})
    if not levels:
        return f"Median over {runs}, too few for an interval."
    missing = any(i.get("low") is None for i in intervals)
    few = " Without an interval: too few runs." if missing else ""
    return f"Median over {runs}, with its {levels[0]:g} % confidence interval.{few}"


def markdown(tables: Sequence[PaperTable]) -> str:
    """Return the tables as Markdown, each below its title."""
    return "\n".join(map(_markdown, tables))


def _markdown(table: PaperTable) -> str:
    rows = [
        [*labels, *("-" if one is None else str(one) for one in cells)]
        for labels, cells in table.rows
    ]
    body = text_table([*table.labels, *table.heads], rows, table.heads).markdown()
    return f"**{cell(table.title)}**\n\n{body}\n{table.note}\n"
