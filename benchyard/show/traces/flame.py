"""Flame graphs: how long each path took, and in a second colour scale what differs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchyard.analysis.comparison.wording import change, signed
from benchyard.core.quantity import amount, percent, plural, shorten
from benchyard.core.wording import printable
from benchyard.show import drawing
from benchyard.show.drawing import Drawing, Text
from benchyard.show.themes import colour_of
from benchyard.traces.difference import Measure, NamedDifference, Names

_WIDTH, _ROW, _TOP, _MARGIN = 1200, 18, 46, 10
_LETTER = 6.6
#: Share of the whole that a frame must have to be drawn.
NARROWEST = 0.001
#: Rows that a picture has room for.
DEEPEST = 150
_LONGEST = 400
_GREY = "#d8d8d8"
#: A change of so much, of its own self time, has the full colour.
_FULL = 0.25
_SLOWER, _FASTER = (214, 39, 40), (31, 119, 180)
_PALE = 230


@dataclass(frozen=True, slots=True)
class FlameBox:
    """A frame where it is drawn.

    Args:
        names: That lead to it.
        depth: 0 of the outermost.
        left: From 0 to 1.
        width: From 0 to 1.
        total_s: Its time in seconds.
    """

    names: Names
    depth: int
    left: float
    width: float
    total_s: float


def boxes_of(totals_s: Mapping[Names, float]) -> tuple[list[FlameBox], int]:
    """Return the frames that are wide enough to be seen, and how many are not.

    Args:
        totals_s: Of each path, in seconds; what a path contains is no longer than itself.
    """
    whole = sum(total for names, total in totals_s.items() if len(names) == 1) or 1.0
    found: list[FlameBox] = []
    #: Where the next frame inside of each path begins.
    free: dict[Names, float] = {}
    # A path comes before what it contains, and that in the order of its names.
    for names in sorted(totals_s):
        outer, width = names[:-1], totals_s[names] / whole
        left = free.get(outer, 0.0)
        free[names], free[outer] = left, left + width
        if width >= NARROWEST and len(names) <= DEEPEST:
            found.append(FlameBox(names, len(names) - 1, left, width, totals_s[names]))
    return found, len(totals_s) - len(found)


def flame_drawing(
    totals_s: Mapping[Names, float],
    title: str,
    found: Sequence[NamedDifference] | None = None,
    width: int = _WIDTH,
    left_out: int = 0,
    unit: str = "s",
) -> Drawing:
    """Draw a flame graph, with a title on each frame.

    Args:
        totals_s: Of each path, in seconds; the candidate's if ``found`` is given.
        title: Above it.
        found: By path, what differs: red is slower, blue faster, grey not shown to differ.
        width: In pixels; 400 or more.
        left_out: Frames that are too narrow or too deep and not in ``totals_s``.
        unit: Of the totals.
    """
    boxes, narrow = boxes_of(totals_s)
    narrow += left_out
    by_names = {one.names: one for one in found or () if one.measure is Measure.SELF}
    whole = sum(total for names, total in totals_s.items() if len(names) == 1)
    said = f"{amount(whole, unit)} in all"
    if narrow:
        deep = max(map(len, totals_s), default=0) >= DEEPEST
        said += f"; {plural(narrow, 'frame')} below {percent(NARROWEST)} of it"
        said += f", or inside of {DEEPEST} others," if deep else ""
        said += f" {'is' if narrow == 1 else 'are'} not drawn"
    if found is not None:
        said += "; red: slower, blue: faster by self time; grey: no difference shown"
    deepest = max((box.depth for box in boxes), default=0)
    picture = Drawing(width, _TOP + (deepest + 1) * _ROW + _MARGIN)
    picture.shapes += [
        Text(_MARGIN, 18, shorten(printable(title), int(width / 8)), 14, bold=True),
        Text(_MARGIN, 34, shorten(said, int(width / 6)), 11, "#555555"),
    ]
    for box in boxes:
        colour, words = _look(box, by_names, found is not None, unit)
        picture.shapes.append(_shape(box, width, colour, words))
    return picture


def _shape(box: FlameBox, width: int, colour: str, words: str) -> drawing.Box:
    inner = width - 2 * _MARGIN
    left, top = _MARGIN + box.left * inner, _TOP + box.depth * _ROW
    wide = max(0.3, box.width * inner - 0.5)
    letters = int((wide - 6) / _LETTER)
    name = printable(box.names[-1])
    if len(name) > letters:
        name = f"{name[: letters - 1]}…" if letters > 2 else ""
    label = Text(left + 3, top + 13, name, 11) if name else None
    return drawing.Box(left, top, wide, _ROW - 1, colour, words, label=label)


def _look(
    box: FlameBox,
    by_names: Mapping[Names, NamedDifference],
    compared: bool,  # noqa: FBT001
    unit: str,
) -> tuple[str, str]:
    """Return a frame's colour, and what is said of it."""
    name = shorten(printable(" > ".join(box.names)), _LONGEST, 2)
    said = f"{name}: {amount(box.total_s, unit)}, {percent(box.width)}"
    if not compared:
        return colour_of(box.names[-1]), said
    one = by_names.get(box.names)
    if one is None or not one.is_shown:
        return _GREY, said
    ratio = one.difference.ratio
    said += f"; self time {signed(one.difference.shift, unit)} ({change(ratio)})"
    strength = min(1.0, abs((ratio or 2.0) - 1) / _FULL)
    full = _SLOWER if (one.difference.shift or 0) > 0 else _FASTER
    shades = (round(_PALE + (shade - _PALE) * (0.3 + 0.7 * strength)) for shade in full)
    return f"#{''.join(f'{shade:02x}' for shade in shades)}", said
