"""Figures rounded to what their intervals show, in tables for papers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from itertools import islice
from typing import Any

from benchyard.analysis.comparison.samples import DURATION
from benchyard.core import quantity
from benchyard.core.model import plain, point_suffix
from benchyard.core.table import text_table
from benchyard.core.wording import cell
from benchyard.results.summary_metrics import unit_and_direction
from benchyard.show.export.columns import Metrics
from benchyard.show.export.sources import CaseFolder
from benchyard.show.export.tidy import Choice, Tally, refuse_nothing, summaries

#: Digits of a median whose interval is not known or has no width.
_DIGITS = 3
#: Source: JCGM 100:2008 (GUM), 7.2.6: an uncertainty has two significant digits at most, and the
#: value is rounded to the same place.
_DIGITS_OF_HALF_WIDTH = 2
#: Endings that a metric's unit says again.
_ENDINGS = ("_bytes_per_s", "_per_s", "_s", "_bytes", "_hz", "_j")


@dataclass(frozen=True, slots=True)
class Figure:
    """A rounded median.

    Args:
        half_width: How far the farther end of its interval is; None if too few runs tell it.
    """

    value: Decimal
    half_width: Decimal | None = None

    def __str__(self) -> str:
        """Write it for people: ``12.34 ± 0.56``."""
        value = f"{self.value:f}"
        return value if self.half_width is None else f"{value} ± {self.half_width:f}"


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
    half_width = _scaled(max(median - low, high - median), scale)
    if not half_width:
        return Figure(_to_digits(value, max(_DIGITS, value.adjusted() + 1)), Decimal(0))
    half_width = _to_digits(half_width, _DIGITS_OF_HALF_WIDTH)
    return Figure(value.quantize(_place(half_width), ROUND_HALF_EVEN), half_width)


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


def _place(half_width: Decimal) -> Decimal:
    return Decimal(1).scaleb(int(half_width.as_tuple().exponent))


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
        heads: Of each column of figures its name and its unit; None is a mere number.
        rows: Of each its labels, and its figures, None where there is none.
        note: What the figures are.
    """

    title: str
    labels: Sequence[str]
    heads: Sequence[tuple[str, str | None]]
    rows: Sequence[tuple[Sequence[str], Sequence[Figure | None]]]
    note: str


@dataclass(frozen=True, slots=True)
class _Point:
    """The newest runs of one point: statistics by step and metric, units, names of steps."""

    source: CaseFolder
    statistics: Mapping[tuple[str, str], _Statistics]
    units: Mapping[str, str | None]
    names: Mapping[str, str]


def paper_tables(
    sources: Sequence[CaseFolder],
    choice: Choice,
    tally: Tally,
    *,
    points_as_rows: bool | None = None,
) -> list[PaperTable]:
    """Return the tables of some cases: the medians of the newest subject's runs.

    Without metrics in ``choice`` they are of the duration alone. A case with a matrix gets a table
    for each metric, with a column for each point; else one table, with a column for each metric.

    Args:
        points_as_rows: Whether points of a matrix are rows; None decides by their number.

    Raises:
        InputError: If no run is there, or no metric is called so.
    """
    tally.begin()
    metrics = Metrics(choice.metrics or (DURATION,))
    points = [found for one in sources for found in _point(one, choice, tally, metrics)]
    refuse_nothing(len(points), sources, tally.unreadable)
    metrics.refuse_unmatched()
    made: list[PaperTable] = []
    for case in _by_case(points):
        many = len(case) > _MOST_COLUMNS if points_as_rows is None else points_as_rows
        if many or not any(point.source.point for point in case):
            made.append(_with_points_as_rows(case))
        else:
            made += _with_points_as_columns(case)
    return [table for table in made if table.rows]


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


def _with_points_as_rows(case: Sequence[_Point]) -> PaperTable:
    metrics = list(dict.fromkeys(name for point in case for _, name in point.statistics))
    scales = [_scale(case, metric) for metric in metrics]
    parameters = list(dict.fromkeys(name for point in case for name in point.source.point))
    rows = [
        (
            (*(plain(point.source.point.get(name)) for name in parameters), point.names[step]),
            [_figure(point, step, m, s) for m, s in zip(metrics, scales, strict=True)],
        )
        for point in case
        for step in dict.fromkeys(step for step, _ in point.statistics)
    ]
    heads = [(words_of(m), s.unit) for m, s in zip(metrics, scales, strict=True)]
    return PaperTable(_title(case), (*parameters, "step"), heads, rows, _note(case))


def _with_points_as_columns(case: Sequence[_Point]) -> Iterator[PaperTable]:
    named = _names(case)
    for metric in dict.fromkeys(name for point in case for _, name in point.statistics):
        scale = _scale(case, metric)
        steps = dict.fromkeys(s for point in case for s, name in point.statistics if name == metric)
        rows = [
            ((named[step],), [_figure(point, step, metric, scale) for point in case])
            for step in steps
        ]
        unit = f", {scale.unit}" if scale.unit else ""
        heads = [(point_suffix(point.source.point)[1:-1], None) for point in case]
        title = f"{_title(case)}: {words_of(metric)}{unit}"
        yield PaperTable(title, ("step",), heads, rows, _note(case))


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


def _figure(point: _Point, step: str, metric: str, scale: Scale) -> Figure | None:
    return rounded(point.statistics.get((step, metric), {}), scale)


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
    few = " Without ±: too few runs for an interval." if missing else ""
    level = f"{levels[0]:g} %"
    return f"Median over {runs}, ± the farther end of its {level} confidence interval.{few}"


def markdown(tables: Sequence[PaperTable]) -> str:
    """Return the tables as Markdown, each below its title."""
    return "\n".join(map(_markdown, tables))


def _markdown(table: PaperTable) -> str:
    figures = [f"{name} ({unit})" if unit else name for name, unit in table.heads]
    rows = [
        [*labels, *("-" if one is None else str(one) for one in cells)]
        for labels, cells in table.rows
    ]
    body = text_table([*table.labels, *figures], rows, figures).markdown()
    return f"**{cell(table.title)}**\n\n{body}\n{table.note}\n"
