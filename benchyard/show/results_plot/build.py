"""The marks of a picture, each in its panel, colour and row."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchyard.analysis.comparison.samples import DURATION
from benchyard.core.errors import InputError
from benchyard.core.model import plain, point_suffix
from benchyard.show.results_plot.caption import Told, nothing, sentences
from benchyard.show.results_plot.chart import Chart, Mark, PlotKind, PlotPanel, PlotSeries
from benchyard.show.results_plot.layout import STEP, PlotCell, PlotLayout
from benchyard.show.results_plot.reference import Reference, ratio_mark
from benchyard.show.results_plot.scales import grows_by_factors, spans_factors
from benchyard.show.results_plot.sides import CASE, RESULTS, numeric, varying

#: What a picture has room for.
MOST_PANELS, MOST_SERIES, MOST_MARKS = 30, 24, 400

_Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlotPlan:
    """What is drawn, and what stands where.

    Args:
        cells: At least one.
        reference: What ratios are to; None of other kinds.
        every: The cells, and those that are references.
    """

    kind: PlotKind
    metric: str
    cells: Sequence[PlotCell]
    layout: PlotLayout
    reference: Reference | None = None
    every: Sequence[PlotCell] = ()


def build(plan: PlotPlan, log: bool | None) -> Chart:  # noqa: FBT001
    """Place the marks.

    Args:
        log: Whether axes are logarithmic; None decides by the values.

    Raises:
        InputError: If a picture has no room for so much, or a logarithm is not defined.
    """
    names, panels = (_labels(plan.cells, d) for d in (plan.layout.series, plan.layout.panel))
    _check_room(plan, len(names), len(panels))
    made = [_panel(plan, key, title, list(names)) for key, title in panels.items()]
    told = [one for _, some in made for one in some]
    if all(one.mark.centre is None for one in told):
        raise InputError(nothing([*told, *_references(plan)]))
    drawn = tuple(panel for panel, _ in made)
    marks = [mark for panel in drawn for mark in panel.marks]
    return Chart(
        kind=plan.kind,
        title=_title(plan),
        quantity=_quantity(plan),
        unit="" if plan.reference else _unit(plan),
        panels=drawn,
        series=tuple(names.values()),
        caption=sentences(
            plan.kind, told, _references(plan), plan.reference.name if plan.reference else ""
        ),
        parameter=plan.layout.at[0] if plan.kind is PlotKind.LINES else "",
        log_values=_is_log(plan, drawn, log),
        log_parameter=plan.kind is PlotKind.LINES and _is_log_parameter(plan, marks, log),
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
            less = "choose fewer cases, or some of the steps with --steps"
            raise InputError(f"a picture has room for {most} {what}, not for {number}; {less}")


# -- marks


def _panel(
    plan: PlotPlan, key: _Key, title: str, names: Sequence[_Key]
) -> tuple[PlotPanel, list[Told]]:
    layout = plan.layout
    cells = [cell for cell in plan.cells if cell.key(layout.panel) == key]
    rows = _labels(cells, layout.at or [STEP]) if plan.kind.has_rows else {}
    if plan.kind is PlotKind.LINES and not numeric(
        layout.at[0], [cell.side for cell in plan.cells]
    ):
        # The axis of each panel has all values, in their order.
        rows = {c.key(layout.at): plain(c.side.traits.get(layout.at[0])) for c in plan.cells}
    places = {row: place for place, row in enumerate(rows)}
    series: list[PlotSeries] = []
    told: list[Told] = []
    for place, name in enumerate(names):
        own = [cell for cell in cells if cell.key(layout.series) == name]
        marks = [_mark(plan, cell, _at(plan, cell, places)) for cell in own]
        told += [_told(plan, cell, mark) for cell, mark in zip(own, marks, strict=True)]
        if marks:
            series.append(PlotSeries(place, tuple(sorted(marks, key=lambda mark: mark.at))))
    return PlotPanel(title, tuple(series), tuple(rows.values())), told


def _at(plan: PlotPlan, cell: PlotCell, places: dict[_Key, int]) -> float:
    if plan.kind is PlotKind.LINES and not places:
        value = cell.side.traits[plan.layout.at[0]]
        return float(value) if isinstance(value, int | float) else 0.0
    return places.get(cell.key(plan.layout.at or [STEP]), 0)


def _mark(plan: PlotPlan, cell: PlotCell, at: float) -> Mark:
    if plan.reference is not None:
        return ratio_mark(at, cell, plan.reference.of(cell, plan.every), plan.metric)
    sample = cell.step.sample(plan.metric)
    return Mark(at, sample.median, sample.interval.low, sample.interval.high, sample.values)


def _told(plan: PlotPlan, cell: PlotCell, mark: Mark) -> Told:
    layout = plan.layout
    name = cell.label(list(dict.fromkeys((*layout.panel, *layout.at, *layout.series))))
    return Told(name or cell.step.name, cell, mark, len(cell.step.sample(plan.metric).values))


def _references(plan: PlotPlan) -> list[Told]:
    """Return the cells that ratios are to, each once, for the caption."""
    if plan.reference is None:
        return []
    bases = [plan.reference.of(cell, plan.every) for cell in plan.cells]
    names = [*varying(cell.side for cell in plan.every), STEP]
    found = {id(base): base for base in bases if base is not None}
    return [
        Told(base.label(names), base, Mark(0, 1.0), len(base.step.sample(plan.metric).values))
        for base in found.values()
    ]


# -- words


def _title(plan: PlotPlan) -> str:
    """Return what all cells have in common: case, values of parameters, step."""
    sides = [cell.side for cell in plan.cells]
    several = varying(sides)
    own = sides[0].traits
    point = {name: own[name] for name in own if name not in (*several, CASE, RESULTS)}
    title = point_suffix(point)[1:-1] if CASE in several else f"{own[CASE]}{point_suffix(point)}"
    steps = {cell.step.id: cell.step.name for cell in plan.cells}
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


def _unit(plan: PlotPlan) -> str:
    units = [cell.step.unit(plan.metric) for cell in plan.cells]
    found = next((unit for unit in units if unit), "1")
    return "" if found == "1" else found


# -- axes


def _is_log(plan: PlotPlan, panels: Sequence[PlotPanel], wanted: bool | None) -> bool:  # noqa: FBT001
    numbers = [number for panel in panels for mark in panel.marks for number in mark.numbers]
    if wanted and min(numbers, default=1.0) <= 0:
        raise InputError(f"--log: {plan.metric} is {min(numbers):g} somewhere; leave --log out")
    if wanted is not None:
        return wanted
    if plan.kind is PlotKind.RATIO:
        return True
    # The length of a bar tells its value only from zero on.
    return plan.kind is not PlotKind.BARS and any(
        spans_factors([mark.centre for mark in panel.marks if mark.centre is not None], numbers)
        for panel in panels
    )


def _is_log_parameter(plan: PlotPlan, marks: Sequence[Mark], wanted: bool | None) -> bool:  # noqa: FBT001
    if not numeric(plan.layout.at[0], [cell.side for cell in plan.cells]):
        return False
    values = sorted({mark.at for mark in marks})
    if wanted and values[0] <= 0:
        name = plan.layout.at[0]
        raise InputError(f"--log: {name} is {values[0]:g} somewhere; leave --log out")
    return grows_by_factors(values) if wanted is None else wanted
