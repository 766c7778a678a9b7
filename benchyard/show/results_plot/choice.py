"""From results and a request to what is drawn: kind, metric, steps, and what ratios are to."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from benchyard.analysis.comparison.samples import DURATION
from benchyard.analysis.comparison.verdicts import choose_metrics
from benchyard.core.errors import InputError
from benchyard.core.model import plain
from benchyard.core.wording import hint, printable, quote
from benchyard.show.results_plot.build import PlotPlan, Reference, build
from benchyard.show.results_plot.caption import absent
from benchyard.show.results_plot.cells import (
    CASE,
    RESULTS,
    PlotCell,
    PlotSide,
    lay_out,
    numeric,
    trait,
    varying,
)
from benchyard.show.results_plot.chart import Chart, PlotKind


@dataclass(frozen=True, slots=True)
class PlotRequest:
    """What the user asks for; None and empty texts leave the choice to us.

    Args:
        kind: What it looks like; without it lines over a parameter that is a number, else points.
        metrics: Metrics to draw, by names or globs; each has panels of its own.
        steps: Only these steps, by ids, names or globs; may be given several times.
        x: Parameter of the matrix along the axis.
        series: Parameter whose values have a colour each.
        reference: What ratios are to: a case, a step, or values such as threads=1; the first if
            left out.
        log: Whether axes are logarithmic.
    """

    kind: PlotKind | None = None
    metrics: tuple[str, ...] = (DURATION,)
    steps: tuple[str, ...] = ()
    x: str | None = None
    series: str | None = None
    reference: str | None = None
    log: bool | None = None


def make_charts(sides: Sequence[PlotSide], request: PlotRequest) -> list[Chart]:
    """Choose what is drawn of each metric, in the order in which they are asked for.

    Args:
        sides: At least one.

    Raises:
        InputError: If there is nothing of what is asked for, or more than a picture has room for.
    """
    every = _cells(sides, request.steps)
    metrics = _metrics(every, request.metrics)
    _check_parameters(sides, request)
    kind = _kind(sides, request)
    reference = _reference(request.reference, every) if kind is PlotKind.RATIO else None
    cells = [cell for cell in every if not reference or reference.of(cell, every) is not cell]
    if not cells:
        raise InputError("a ratio takes two cases or steps; here is nothing but the reference")
    x = _axis(sides, request.x) if kind is PlotKind.LINES else request.x
    layout = lay_out(kind, cells, x, request.series)
    plan = PlotPlan(kind, "", cells, layout, reference, every, charts=len(metrics))
    *first, last = [build(replace(plan, metric=metric), request.log) for metric in metrics]
    drawn = {id(cell.side) for cell in every}
    missing = absent(side for side in sides if id(side) not in drawn)
    return [*first, replace(last, caption=(*last.caption, *missing))]


def _axis(sides: Sequence[PlotSide], wanted: str | None) -> str:
    texts = (name for name in varying(sides) if name not in (CASE, RESULTS))
    found = wanted or _number(sides) or next(texts, None)
    if found is None:
        values = "values are numbers, or texts in the case's order"
        raise InputError(
            f"--kind lines takes a parameter whose {values}; none differs between these cases"
        )
    return found


def _metrics(cells: Sequence[PlotCell], wanted: Sequence[str]) -> Sequence[str]:
    known = [name for cell in cells for name in cell.step["metrics"]]
    found = [name for one in wanted for name in sorted(choose_metrics(known, [one]))]
    return list(dict.fromkeys(found)) or wanted


def _cells(sides: Sequence[PlotSide], wanted: Sequence[str]) -> list[PlotCell]:
    """Return the steps that are meant, of each case, in the order of the first case's steps."""
    names: dict[str, str] = {i: s["name"] for side in sides for i, s in side.steps.items()}
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


def _check_parameters(sides: Sequence[PlotSide], request: PlotRequest) -> None:
    known = varying(sides)
    for option, name in (("--x", request.x), ("--series", request.series)):
        if name is not None and name not in known:
            there = f"{option} {printable(name)}: no parameter in which these cases differ"
            raise InputError(f"{there}{hint(name, known)}")
    if request.x is not None and request.x == request.series:
        raise InputError(f"--x and --series are both {printable(request.x)}; give two parameters")


def _kind(sides: Sequence[PlotSide], request: PlotRequest) -> PlotKind:
    kind = request.kind
    if kind is None:
        kind = PlotKind.RATIO if request.reference is not None else PlotKind.POINTS
        number = request.x or _number(sides)
        if kind is PlotKind.POINTS and number and numeric(number, sides):
            kind = PlotKind.LINES
    if request.reference is not None and kind is not PlotKind.RATIO:
        raise InputError(f"--ratio-to is of --kind ratio, not of --kind {kind}")
    return kind


def _number(sides: Sequence[PlotSide]) -> str | None:
    """Return the first parameter that differs and is always a number."""
    return next((name for name in varying(sides) if numeric(name, sides)), None)


# -- what ratios are to


def _reference(text: str | None, cells: Sequence[PlotCell]) -> Reference:
    """Read what ratios are to: a case, a step, or values of parameters such as ``threads=1``.

    Args:
        text: None takes the first case; of a single case the first step.

    Raises:
        InputError: If there is no such thing.
    """
    sides = list({id(cell.side): cell.side for cell in cells}.values())
    steps: dict[str, str] = {cell.id: cell.step["name"] for cell in cells}
    names = varying(sides)
    for side in sides if len(sides) > 1 else ():
        # The value that alone tells a case from others names it, too.
        value = {plain(side.traits.get(names[0]))} if len(names) == 1 else set[str]()
        if text in {None, side.title, side.label(names), *value}:
            return Reference(side.label(names), _same_step(lambda _, to, side=side: to is side))
    for step, name in steps.items():
        if text in (None, step, name):
            return Reference(name, lambda own, to, i=step: to.side is own.side and to.id == i)
    return _pinned(text or "", sides, [*steps, *(side.label(names) for side in sides)])


def _same_step(
    fits: Callable[[PlotSide, PlotSide], bool],
) -> Callable[[PlotCell, PlotCell], bool]:
    return lambda cell, other: other.id == cell.id and fits(cell.side, other.side)


def _pinned(text: str, sides: Sequence[PlotSide], known: Sequence[str]) -> Reference:
    """Return the reference to the cell that has these values, and is otherwise alike."""
    pairs = [part.partition("=") for part in text.split(",")]
    pinned = {name.strip(): value.strip() for name, equals, value in pairs if equals}
    there = {(name, plain(side.traits[name])) for side in sides for name in side.traits}
    if len(pinned) < len(pairs) or not there.issuperset(pinned.items()):
        raise InputError(f"no case or step is '{printable(text)}'{hint(text, known)}")
    words = ", ".join(trait(name, value) for name, value in pinned.items())
    own = {name: value for name, value in pinned.items() if name in varying(sides)}
    return Reference(words, _same_step(lambda side, other: _texts(other) == _texts(side) | own))


def _texts(side: PlotSide) -> dict[str, str]:
    return {name: plain(value) for name, value in side.traits.items()}
