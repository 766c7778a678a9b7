"""The marks of a picture, each in its panel, colour and row."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from benchyard.analysis.comparison.samples import DURATION
from benchyard.core.errors import InputError
from benchyard.core.model import plain, point_suffix
from benchyard.show.results_plot.caption import CaptionEntry, nothing, sentences
from benchyard.show.results_plot.cells import (
    CASE,
    RESULTS,
    STEP,
    PlotCell,
    PlotLayout,
    numeric,
    varying,
)
from benchyard.show.results_plot.chart import Chart, Mark, PlotKind, PlotPanel
from benchyard.statistics.comparison import compare_samples
from benchyard.statistics.intervals import LEVEL

#: What a picture has room for.
MOST_PANELS, MOST_SERIES, MOST_MARKS = 30, 24, 400
#: Medians that differ by a larger factor are drawn on a logarithmic axis: below it the smallest
#: still takes 5 % of a linear one, and differences between its runs can be seen.
FACTOR = 20.0

_Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reference:
    """What ratios are to.

    Args:
        name: In words.
        fits: Tells whether a cell, the first, is compared with another, itself maybe.
    """

    name: str
    fits: Callable[[PlotCell, PlotCell], bool]

    def of(self, cell: PlotCell, cells: Sequence[PlotCell]) -> PlotCell | None:
        """Return what a cell is compared with, itself maybe; None if there is none."""
        return next((other for other in cells if self.fits(cell, other)), None)


@dataclass(frozen=True, slots=True)
class PlotPlan:
    """What is drawn, and what stands where.

    Args:
        cells: At least one.
        reference: What ratios are to; None of other kinds.
        every: The cells, and those that are references.
        charts: How many share the picture.
    """

    kind: PlotKind
    metric: str
    cells: Sequence[PlotCell]
    layout: PlotLayout
    reference: Reference | None
    every: Sequence[PlotCell]
    charts: int = 1

    @property
    def has_numbers(self) -> bool:
        """Whether the parameter along the axis is a number in each cell."""
        return numeric(self.layout.at[0], [cell.side for cell in self.cells])


def build(plan: PlotPlan, log: bool | None) -> Chart:  # noqa: FBT001
    """Place the marks.

    Args:
        log: Whether axes are logarithmic; None decides by the values.

    Raises:
        InputError: If a picture has no room for so much, or a logarithm is not defined.
    """
    names, panels = (_labels(plan.cells, d) for d in (plan.layout.series, plan.layout.panel))
    _check_room(plan, len(names), len(panels) * plan.charts)
    made = [_panel(plan, key, title, list(names)) for key, title in panels.items()]
    described, references = [one for _, some in made for one in some], _references(plan)
    if all(one.mark.centre is None for one in described):
        raise InputError(nothing([*described, *references]))
    drawn, name = tuple(panel for panel, _ in made), plan.reference.name if plan.reference else ""
    lines = plan.kind is PlotKind.LINES
    units = (cell.unit(plan.metric) for cell in plan.cells)
    return Chart(
        kind=plan.kind,
        title=_title(plan),
        quantity=_quantity(plan),
        unit="" if plan.reference else next(filter(None, units), ""),
        panels=drawn,
        series=tuple(names.values()),
        caption=sentences(plan.kind, described, references, name),
        parameter=plan.layout.at[0] if lines else "",
        log_values=_is_log(plan, drawn, log),
        log_parameter=lines and plan.has_numbers and _is_log_parameter(plan, drawn, log),
    )


def _labels(cells: Iterable[PlotCell], names: Sequence[str]) -> dict[_Key, str]:
    """Return what cells are told apart by, and how it is called, in the cells' order."""
    return {cell.key(names): cell.label(names) for cell in cells}


def _check_room(plan: PlotPlan, series: int, panels: int) -> None:
    for number, most, what in (
        (panels, MOST_PANELS, "panels"),
        (series, MOST_SERIES, "colours"),
        (len(plan.cells), MOST_MARKS, "steps and cases"),
    ):
        if number > most:
            less = "choose fewer cases or metrics, or some of the steps with --step"
            raise InputError(f"a picture has room for {most} {what}, not for {number}; {less}")


# -- marks


def _panel(
    plan: PlotPlan, key: _Key, title: str, names: Sequence[_Key]
) -> tuple[PlotPanel, list[CaptionEntry]]:
    layout = plan.layout
    cells = [cell for cell in plan.cells if cell.key(layout.panel) == key]
    rows = _labels(cells, layout.at or [STEP]) if plan.kind.has_rows else {}
    if plan.kind is PlotKind.LINES and not plan.has_numbers:
        # The axis of each panel has all values, in their order.
        rows = {c.key(layout.at): plain(c.side.traits.get(layout.at[0])) for c in plan.cells}
    places = {row: place for place, row in enumerate(rows)}
    found: list[CaptionEntry] = []
    for cell in cells:
        at, series = _at(plan, cell, places), names.index(cell.key(layout.series))
        mark = replace(_mark(plan, cell), at=at, series=series)
        label = cell.label(list(dict.fromkeys((*layout.panel, *layout.at, *layout.series))))
        runs = len(cell.mark(plan.metric).values)
        found.append(CaptionEntry(label or cell.step["name"], cell, mark, runs))
    found.sort(key=lambda one: (one.mark.series, one.mark.at))
    return PlotPanel(title, tuple(one.mark for one in found), tuple(rows.values())), found


def _at(plan: PlotPlan, cell: PlotCell, places: dict[_Key, int]) -> float:
    if plan.kind is PlotKind.LINES and not places:
        value = cell.side.traits[plan.layout.at[0]]
        return float(value) if isinstance(value, int | float) else 0.0
    return places.get(cell.key(plan.layout.at or [STEP]), 0)


def _mark(plan: PlotPlan, cell: PlotCell) -> Mark:
    """Return the mark of a cell; of a ratio without a centre where there is none.

    The interval is of this ratio alone, at the level of the intervals of medians.
    """
    own = cell.mark(plan.metric)
    if plan.reference is None:
        return own
    base = plan.reference.of(cell, plan.every)
    if base is None:
        return Mark()
    found = compare_samples(base.mark(plan.metric).values, own.values, level=1 - LEVEL)
    if found.ratio is None or found.ratio <= 0:
        return Mark()
    # An end at 0 or below, which a shift by the reference's median can have, is none of a ratio.
    low, high = found.ratio_interval.low, found.ratio_interval.high
    return Mark(found.ratio, low, high) if low and low > 0 else Mark(found.ratio)


def _references(plan: PlotPlan) -> list[CaptionEntry]:
    """Return the cells that ratios are to, each once, for the caption."""
    if plan.reference is None:
        return []
    bases = [plan.reference.of(cell, plan.every) for cell in plan.cells]
    names = [*varying(cell.side for cell in plan.every), STEP]
    found = {id(base): base for base in bases if base is not None}.values()
    marks = [(base, base.mark(plan.metric)) for base in found]
    return [CaptionEntry(base.label(names), base, mark, len(mark.values)) for base, mark in marks]


# -- words


def _title(plan: PlotPlan) -> str:
    """Return what all cells have in common: case, values of parameters, step."""
    sides = [cell.side for cell in plan.cells]
    several = varying(sides)
    own = sides[0].traits
    point = {name: own[name] for name in own if name not in (*several, CASE, RESULTS)}
    title = point_suffix(point)[1:-1] if CASE in several else f"{own[CASE]}{point_suffix(point)}"
    steps = {cell.id: cell.step["name"] for cell in plan.cells}
    named = len(steps) == 1 and plan.layout.at
    return ", ".join(part for part in (title, *(steps.values() if named else ())) if part)


def _quantity(plan: PlotPlan) -> str:
    what = "time" if plan.metric == DURATION else plan.metric
    if plan.reference is None:
        return what
    drawn = varying(cell.side for cell in plan.cells)
    # What all drawn cells have in common, and not with the reference, stands nowhere else.
    fixed = [name for name in varying(cell.side for cell in plan.every) if name not in drawn]
    common = plan.cells[0].side.label(fixed)
    return f"{what}{f' of {common}' if common else ''} relative to {plan.reference.name}"


# -- axes


def _is_log(plan: PlotPlan, panels: Sequence[PlotPanel], wanted: bool | None) -> bool:  # noqa: FBT001
    numbers = [number for panel in panels for mark in panel.marks for number in mark.numbers]
    least = min(numbers, default=1.0)
    if wanted and least <= 0:
        raise InputError(f"--log: {plan.metric} is {least:g} somewhere; leave --log out")
    if wanted is not None:
        return wanted
    # The length of a bar tells its value only from zero on.
    if plan.kind in (PlotKind.RATIO, PlotKind.BARS):
        return plan.kind is PlotKind.RATIO
    medians = [[m.centre for m in panel.marks if m.centre is not None] for panel in panels]
    return least > 0 and any(max(some) > FACTOR * min(some) for some in medians if some)


def _is_log_parameter(plan: PlotPlan, panels: Sequence[PlotPanel], wanted: bool | None) -> bool:  # noqa: FBT001
    values, name = sorted({m.at for panel in panels for m in panel.marks}), plan.layout.at[0]
    if wanted and values[0] <= 0:
        raise InputError(f"--log: {name} is {values[0]:g} somewhere; leave --log out")
    return grows_by_factors(values) if wanted is None else wanted


def grows_by_factors(values: Sequence[float]) -> bool:
    """Tell whether a parameter's values are chosen by factors: 1, 2, 4, 8 or 0.01, 0.1.

    Args:
        values: Distinct, ascending.
    """
    if len(values) < 2 or values[0] <= 0:
        return False
    least = min(after / before for before, after in pairwise(values))
    return least >= (2 if len(values) > 2 else 5)
