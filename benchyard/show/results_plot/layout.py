"""What stands where in a picture: along the axis, in colours, in panels."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchyard.core.errors import InputError
from benchyard.show.results_plot.chart import PlotKind
from benchyard.show.results_plot.sides import PlotSide, StepResult, varying

#: Of so many cases each has a colour beside the others of its step; more have rows of their own.
MOST_BESIDE = 8
#: So many steps are lines of one panel; more have panels of their own.
MOST_LINES = 8
STEP = "step"


@dataclass(frozen=True, slots=True)
class PlotCell:
    """One step of one case."""

    side: PlotSide
    step: StepResult

    def key(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return what tells it from cells that differ in traits of these names."""
        own = {STEP: self.step.id}
        return tuple(repr(own.get(name, self.side.traits.get(name))) for name in names)

    def label(self, names: Sequence[str]) -> str:
        """Return its traits of these names in words: ``load``, ``threads=1``, both as a title."""
        rest = self.side.label(name for name in names if name != STEP)
        if STEP not in names:
            return rest
        return f"{self.step.name} [{rest}]" if rest else self.step.name


class PlotLayout(NamedTuple):
    """Names of the traits that tell cells apart along the axis, by colour, and by panel."""

    at: list[str]
    series: list[str]
    panel: list[str]


@dataclass(frozen=True, slots=True)
class _Traits:
    """Names of the traits in which cells differ."""

    sides: list[str]
    steps: list[str]

    def but(self, *taken: str) -> list[str]:
        return [name for name in self.sides if name not in taken]


def lay_out(
    kind: PlotKind, cells: Sequence[PlotCell], x: str | None, series: str | None
) -> PlotLayout:
    """Distribute the traits in which cells differ.

    Args:
        x: The parameter that runs along the axis; None leaves the choice to the kind.
        series: The parameter whose values have a colour each; likewise.

    Raises:
        InputError: If a kind has no such axis.
    """
    sides = {id(cell.side): cell.side for cell in cells}
    several = len({cell.step.id for cell in cells}) > 1
    traits = _Traits(varying(sides.values()), [STEP] if several else [])
    if kind is PlotKind.ECDF and x is not None:
        raise InputError("the axis of --kind ecdf is the metric itself; leave --x out")
    if kind is PlotKind.ECDF:
        colours = [series] if series else traits.but()
        return PlotLayout([], colours, [*traits.steps, *traits.but(*colours)])
    if x is not None:
        return _along(x, series, traits, cells if kind is PlotKind.LINES else ())
    return _in_rows(traits, series, len(sides))


def _along(x: str, series: str | None, traits: _Traits, lines: Sequence[PlotCell]) -> PlotLayout:
    """Lay out cells along a parameter.

    Args:
        lines: The cells, where steps may be lines of one panel.
    """
    colours = [series] if series else traits.but(x)
    rest = traits.but(x, *colours)
    few = 0 < len({cell.step.id for cell in lines}) <= MOST_LINES
    if not colours and few:
        return PlotLayout([x], traits.steps, rest)
    return PlotLayout([x], colours, [*traits.steps, *rest])


def _in_rows(traits: _Traits, series: str | None, sides: int) -> PlotLayout:
    if series is not None:
        rows = traits.steps or traits.but(series)
        return PlotLayout(rows, [series], [name for name in traits.but(series) if name not in rows])
    if not traits.steps:
        return PlotLayout(traits.but(), [], [])
    if sides <= MOST_BESIDE:
        return PlotLayout(traits.steps, traits.but(), [])
    return PlotLayout(traits.but(), [], traits.steps)
