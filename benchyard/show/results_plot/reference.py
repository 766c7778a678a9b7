"""What ratios are to, and the ratios themselves."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchyard.core.errors import InputError
from benchyard.core.model import plain
from benchyard.core.wording import hint, printable
from benchyard.show.results_plot.chart import Mark
from benchyard.show.results_plot.layout import PlotCell
from benchyard.show.results_plot.sides import PlotSide, trait, varying
from benchyard.statistics.comparison import compare_samples
from benchyard.statistics.intervals import LEVEL


@dataclass(frozen=True, slots=True)
class Reference:
    """What ratios are to.

    Args:
        name: In words.
        step: The step that all others of the same case are compared with; else None.
        side: The case that all others are compared with; else None.
        pinned: Or the traits that cells are compared by: with the cell that has these values of
            theirs, and is otherwise alike.
    """

    name: str
    step: str | None = None
    side: PlotSide | None = None
    pinned: tuple[tuple[str, str], ...] = ()

    def of(self, cell: PlotCell, cells: Sequence[PlotCell]) -> PlotCell | None:
        """Return what a cell is compared with, itself maybe; None if there is none."""
        return next((other for other in cells if self._fits(cell, other)), None)

    def _fits(self, cell: PlotCell, other: PlotCell) -> bool:
        if self.step is not None:
            return other.side is cell.side and other.step.id == self.step
        if other.step.id != cell.step.id:
            return False
        if self.side is not None:
            return other.side is self.side
        wanted = {name: plain(value) for name, value in cell.side.traits.items()}
        own = {name: plain(value) for name, value in other.side.traits.items()}
        return own == wanted | dict(self.pinned)


def parse_reference(text: str | None, cells: Sequence[PlotCell]) -> Reference:
    """Read what ratios are to: a case, a step, or values of parameters such as ``threads=1``.

    Args:
        text: None takes the first case; of a single case the first step.

    Raises:
        InputError: If there is no such thing.
    """
    sides = list({id(cell.side): cell.side for cell in cells}.values())
    steps = {cell.step.id: cell.step.name for cell in cells}
    names = varying(sides)
    if text is None:
        if len(sides) > 1:
            return Reference(sides[0].label(names), side=sides[0])
        first = next(iter(steps))
        return Reference(steps[first], step=first)
    for side in sides:
        if len(sides) > 1 and text in {side.title, side.label(names), *_values(side, names)}:
            return Reference(side.label(names), side=side)
    for step, name in steps.items():
        if text in (step, name):
            return Reference(name, step=step)
    return _parse_pinned(text, sides, names, [*steps, *(side.label(names) for side in sides)])


def _values(side: PlotSide, names: Sequence[str]) -> set[str]:
    """Return the value that alone tells a case from others."""
    return {plain(side.traits.get(names[0]))} if len(names) == 1 else set()


def _parse_pinned(
    text: str, sides: Sequence[PlotSide], names: Sequence[str], known: Sequence[str]
) -> Reference:
    pairs = [part.partition("=") for part in text.split(",")]
    pinned = tuple((name.strip(), value.strip()) for name, equals, value in pairs if equals)
    there = {(name, plain(side.traits[name])) for side in sides for name in side.traits}
    if len(pinned) < len(pairs) or not there.issuperset(pinned):
        raise InputError(f"no case or step is '{printable(text)}'{hint(text, known)}")
    words = ", ".join(trait(name, value) for name, value in pinned)
    return Reference(words, pinned=tuple(one for one in pinned if one[0] in names))


def ratio_mark(at: float, cell: PlotCell, base: PlotCell | None, metric: str) -> Mark:
    """Return the ratio of a cell to its reference; without a centre where there is none.

    The interval is of this ratio alone, at the level of the intervals of medians.
    """
    if base is None:
        return Mark(at, None)
    values, to = cell.step.sample(metric).values, base.step.sample(metric).values
    found = compare_samples(to, values, level=1 - LEVEL)
    # An end at 0 or below, which a shift by the reference's median can have, is none of a ratio.
    low, high = found.ratio_interval.low, found.ratio_interval.high
    if found.ratio is None or found.ratio <= 0 or low is None or low <= 0:
        return Mark(at, found.ratio if found.ratio and found.ratio > 0 else None)
    return Mark(at, found.ratio, low, high)
