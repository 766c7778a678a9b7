"""The sentences below a picture: what its marks are, and what is not in it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchyard.core.quantity import percent, plural
from benchyard.results.summary_metrics import SUSPECT
from benchyard.results.trust import Suspect
from benchyard.show.axes import short
from benchyard.show.results_plot.cells import PlotCell, PlotSide
from benchyard.show.results_plot.chart import Mark, PlotKind
from benchyard.statistics.intervals import LEVEL, fewest_for_median
from benchyard.statistics.ranks import fewest_values

#: Names that a sentence lists, and their longest; of more it says how many there are.
_LISTED, _LONGEST = 6, 40
_MARKS = {
    PlotKind.POINTS: "Points: medians of {n}; bars: their {level} intervals; dots: single runs.",
    PlotKind.BARS: "Bars: medians of {n}; whiskers: their {level} intervals.",
    PlotKind.STRIPS: "Dots: {n}, the first at the top; lines: medians.",
    PlotKind.LINES: "Points: medians of {n}; bars: their {level} intervals; dots: single runs.",
    PlotKind.ECDF: "Share of {n} with at most this value.",
    PlotKind.RATIO: "Points: ratios to {reference} over {n}; bars: {level} intervals, each alone.",
}


@dataclass(frozen=True, slots=True)
class CaptionEntry:
    """A cell, its mark, and its name in the caption.

    Args:
        runs: How many values the mark is made of.
    """

    name: str
    cell: PlotCell
    mark: Mark
    runs: int


def sentences(
    kind: PlotKind, told: Sequence[CaptionEntry], references: Sequence[CaptionEntry], reference: str
) -> tuple[str, ...]:
    """Return what a reader must know of the marks.

    Args:
        references: What ratios are to, as ``reference`` says in words; empty of other kinds.
    """
    runs = _runs(told)
    if references:
        to = _runs(references)
        runs = f"{runs} of each" if runs == to else f"{runs} and {to} of the reference"
    marks = _MARKS[kind].format(
        n=runs, level=percent(LEVEL, 4), reference=short(reference, _LONGEST)
    )
    every = [*told, *references]
    found = (
        *(marks, _without_interval(kind, told), _without_value(told)),
        *(_left_out(every), _taken_in(every), _of_sides(every)),
    )
    return tuple(sentence for sentence in found if sentence)


def _runs(told: Sequence[CaptionEntry]) -> str:
    counts = sorted({one.runs for one in told if one.runs})
    runs = plural(counts[-1], "run") if counts else "no run"
    return f"{counts[0]} to {runs}" if len(counts) > 1 else runs


def _without_interval(kind: PlotKind, told: Sequence[CaptionEntry]) -> str:
    bare = [one for one in told if one.mark.centre is not None and one.mark.low is None]
    if not bare or kind in (PlotKind.STRIPS, PlotKind.ECDF):
        return ""
    if kind is PlotKind.RATIO:
        enough = fewest_values(1 - LEVEL)
        needed = f"{enough} runs of each can have one"
    else:
        needed = f"{fewest_for_median()} runs can have one"
    return f"No interval: {_some([one.name for one in bare], told)} ({needed})."


def _without_value(told: Sequence[CaptionEntry]) -> str:
    empty = [one.name for one in told if one.mark.centre is None and not one.mark.values]
    return f"No value: {_some(empty, told)}." if empty else ""


def _left_out(told: Sequence[CaptionEntry]) -> str:
    counts: dict[str, dict[str, int]] = {}
    for one in told:
        for why, number in one.cell.step["left_out"].items():
            where = counts.setdefault(why, {})
            where[one.name] = where.get(one.name, 0) + number
    parts = [
        f"{sum(where.values())} {why.replace('_', ' ')} ({_some(list(where), told)})"
        for why, where in counts.items()
    ]
    return f"Left out: {', '.join(parts)}." if parts else ""


def _taken_in(told: Sequence[CaptionEntry]) -> str:
    steps = [(one.name, one.cell.step) for one in told]
    taken = [(n, step) for n, step in steps if step["suspect"] and SUSPECT not in step["left_out"]]
    if not taken:
        return ""
    suspect = sum(len(step["suspect"]) for _, step in taken)
    return (
        f"On a busy host: {suspect} suspect counted ({_some([name for name, _ in taken], told)})."
    )


def absent(sides: Iterable[PlotSide]) -> tuple[str, ...]:
    """Say of which cases nothing is in the picture."""
    parts = [
        short(s.title, _LONGEST) + f" ({plural(s.failed, 'run')} failed)" * bool(s.failed)
        for s in sides
    ]
    return (f"Nothing of: {', '.join(parts)}.",) if parts else ()


def nothing(told: Sequence[CaptionEntry]) -> str:
    """Say why there is nothing to draw."""
    why = _left_out(told)
    if any(one.runs for one in told):
        why = "A ratio takes values of both sides that are all above 0, or all below. " + why
    suspect = any(SUSPECT in one.cell.step["left_out"] for one in told)
    hint = f" --suspect {Suspect.AUTO} counts what is suspect." if suspect else ""
    return f"there is no value to draw. {why}{hint}".rstrip()


def _of_sides(told: Sequence[CaptionEntry]) -> str:
    sides = {id(one.cell.side): one.cell.side for one in told}.values()
    failed, others = (sum(n) for n in zip(*((s.failed, s.others) for s in sides), strict=True))
    parts = [f"{plural(failed, 'run')} failed"] if failed else []
    parts += [f"{plural(others, 'run')} measured something else"] if others else []
    return f"Not in it: {', '.join(parts)}." if parts else ""


def _some(names: Sequence[str], told: Sequence[CaptionEntry]) -> str:
    """List names; of many say only of how many they are."""
    if len(names) > _LISTED:
        return f"{len(names)} of {len(told)}"
    return ", ".join(short(name, _LONGEST) for name in names)
