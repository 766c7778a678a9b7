"""From results and a wish to what is drawn: which kind, metric and steps, what stands where."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from benchyard.analysis.comparison.samples import DURATION
from benchyard.analysis.comparison.verdicts import choose_metrics
from benchyard.core.errors import InputError
from benchyard.core.wording import hint, printable, quote
from benchyard.show.results_plot.build import PlotPlan, build
from benchyard.show.results_plot.caption import absent
from benchyard.show.results_plot.chart import Chart, PlotKind
from benchyard.show.results_plot.layout import PlotCell, lay_out
from benchyard.show.results_plot.reference import parse_reference
from benchyard.show.results_plot.sides import CASE, RESULTS, PlotSide, numeric, varying


@dataclass(frozen=True, slots=True)
class PlotRequest:
    """What the user asks for; None and empty texts leave the choice to us.

    Args:
        steps: Ids, names, or globs over them.
        x: Parameter that runs along an axis.
        series: Parameter whose values have a colour each.
        reference: What ratios are to: a case, a step, or values of parameters (``threads=1``).
        log: Whether axes are logarithmic.
    """

    kind: PlotKind | None = None
    metric: str = DURATION
    steps: tuple[str, ...] = ()
    x: str | None = None
    series: str | None = None
    reference: str | None = None
    log: bool | None = None


def make_chart(sides: Sequence[PlotSide], wish: PlotRequest) -> Chart:
    """Choose what is drawn.

    Args:
        sides: At least one.

    Raises:
        InputError: If there is nothing of what is asked for, or more than a picture has room for.
    """
    metric = _metric(sides, wish.metric)
    every = _cells(sides, wish.steps)
    _check_parameters(sides, wish)
    kind = _kind(sides, wish)
    reference = parse_reference(wish.reference, every) if kind is PlotKind.RATIO else None
    cells = [cell for cell in every if not reference or reference.of(cell, every) is not cell]
    if not cells:
        raise InputError("a ratio takes two cases or steps; here is nothing but the reference")
    x = _axis(sides, wish.x) if kind is PlotKind.LINES else wish.x
    layout = lay_out(kind, cells, x, wish.series)
    chart = build(PlotPlan(kind, metric, cells, layout, reference, every), wish.log)
    drawn = {id(cell.side) for cell in every}
    missing = absent(side for side in sides if id(side) not in drawn)
    return replace(chart, caption=(*chart.caption, *missing))


def _axis(sides: Sequence[PlotSide], wanted: str | None) -> str:
    texts = (name for name in varying(sides) if name not in (CASE, RESULTS))
    found = wanted or _number(sides) or next(texts, None)
    if found is None:
        values = "values are numbers, or texts in the case's order"
        raise InputError(
            f"--kind lines takes a parameter whose {values}; none differs between these cases"
        )
    return found


# -- what is meant


def _metric(sides: Sequence[PlotSide], wanted: str) -> str:
    known = [name for side in sides for step in side.steps.values() for name in step.metrics]
    found = sorted(choose_metrics(known, [wanted]))
    if len(found) > 1:
        some = ", ".join(found[:5])
        raise InputError(f"{wanted!r} means {len(found)} metrics ({some} …); a picture shows one")
    return found[0] if found else wanted


def _cells(sides: Sequence[PlotSide], wanted: Sequence[str]) -> list[PlotCell]:
    """Return the steps that are meant, of each case, in the order of the first case's steps."""
    names = {one.id: one.name for side in sides for one in side.steps.values()}
    if not names:
        cases = quote(", ".join(side.title for side in sides))
        raise InputError(f"no finished run of {cases} has a measured step; see benchyard stats")
    for text in wanted:
        if not any(_is_wanted(step, name, [text]) for step, name in names.items()):
            raise InputError(f"no measured step is '{printable(text)}'{hint(text, list(names))}")
    chosen = [step for step, name in names.items() if _is_wanted(step, name, wanted)]
    return [PlotCell(side, side.steps[s]) for s in chosen for side in sides if s in side.steps]


def _is_wanted(step: str, name: str, wanted: Sequence[str]) -> bool:
    return not wanted or any(
        one == text or fnmatchcase(text, one) for one in wanted for text in (step, name)
    )


def _check_parameters(sides: Sequence[PlotSide], wish: PlotRequest) -> None:
    known = varying(sides)
    for option, name in (("--x", wish.x), ("--series", wish.series)):
        if name is not None and name not in known:
            there = f"{option} {printable(name)}: no parameter in which these cases differ"
            raise InputError(f"{there}{hint(name, known)}")
    if wish.x is not None and wish.x == wish.series:
        raise InputError(f"--x and --series are both {printable(wish.x)}; give two parameters")


def _kind(sides: Sequence[PlotSide], wish: PlotRequest) -> PlotKind:
    kind = wish.kind
    if kind is None:
        kind = PlotKind.RATIO if wish.reference is not None else PlotKind.POINTS
        number = wish.x or _number(sides)
        if kind is PlotKind.POINTS and number and numeric(number, sides):
            kind = PlotKind.LINES
    if wish.reference is not None and kind is not PlotKind.RATIO:
        raise InputError(f"--reference is of --kind ratio, not of --kind {kind}")
    return kind


def _number(sides: Sequence[PlotSide]) -> str | None:
    """Return the first parameter that differs and is always a number."""
    return next((name for name in varying(sides) if numeric(name, sides)), None)
