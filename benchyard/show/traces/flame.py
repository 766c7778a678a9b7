"""Flame graphs: how long each path took, and in a second colour scale what differs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

from benchyard.analysis.comparison.wording import change, signed
from benchyard.core.outputs import write
from benchyard.core.quantity import amount, percent, plural, shorten
from benchyard.core.wording import printable
from benchyard.show.traces.timeline import colour_of
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


@dataclass(slots=True)
class _Frame:
    name: str
    total: float
    children: dict[str, "_Frame"] = field(default_factory=dict[str, "_Frame"])


@dataclass(frozen=True, slots=True)
class Box:
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


def boxes_of(totals_s: Mapping[Names, float]) -> tuple[list[Box], int]:
    """Return the frames that are wide enough to be seen, and how many are not.

    Args:
        totals_s: Of each path, in seconds; what a path contains is no longer than itself.
    """
    root = _Frame("", sum(total for names, total in totals_s.items() if len(names) == 1))
    for names, total in sorted(totals_s.items(), key=lambda one: len(one[0])):
        place = root
        for name in names[:-1]:
            place = place.children.setdefault(name, _Frame(name, 0.0))
        place.children[names[-1]] = _Frame(names[-1], total)
    found = [*_laid_out(root)]
    return found, len(totals_s) - len(found)


def _laid_out(root: _Frame) -> Iterator[Box]:
    whole = root.total or 1.0
    waiting: list[tuple[_Frame, Names, float]] = [(root, (), 0.0)]
    while waiting:
        frame, names, left = waiting.pop()
        width = frame.total / whole
        if names:
            if width < NARROWEST:
                continue
            yield Box(names, len(names) - 1, left, width, frame.total)
        if len(names) >= DEEPEST:
            continue
        for child in sorted(frame.children.values(), key=lambda one: one.name):
            waiting.append((child, (*names, child.name), left))
            left += child.total / whole


def draw_flame(
    totals_s: Mapping[Names, float],
    file: Path,
    title: str,
    found: Sequence[NamedDifference] | None = None,
    unit: str = "s",
) -> None:
    """Draw a flame graph, as SVG with a title on each frame, or as PNG.

    Args:
        totals_s: Of each path, in seconds; the candidate's if ``found`` is given.
        file: It ends in ``.svg`` or ``.png``.
        title: Above it.
        found: By path, what differs: red is slower, blue faster, grey not shown to differ.
        unit: Of the totals.

    Raises:
        OSError: If it cannot be written.
    """
    kind = "svg" if file.suffix.lower() == ".svg" else "png"
    write(file, flame_picture(totals_s, kind, title, found, unit=unit))


def flame_picture(
    totals_s: Mapping[Names, float],
    kind: Literal["svg", "png"],
    title: str,
    found: Sequence[NamedDifference] | None = None,
    width: int = _WIDTH,
    left_out: int = 0,
    unit: str = "s",
) -> bytes:
    """Return a flame graph as a file's content; see ``draw_flame``.

    Args:
        width: In pixels; 400 or more.
        left_out: Frames that are too narrow or too deep and not in ``totals_s``.
        unit: Of the totals.
    """
    boxes, narrow = boxes_of(totals_s)
    narrow += left_out
    by_names = {one.names: one for one in found or () if one.measure is Measure.SELF}
    marked = [(box, *_look(box, by_names, found is not None, unit)) for box in boxes]
    whole = sum(total for names, total in totals_s.items() if len(names) == 1)
    said = f"{amount(whole, unit)} in all"
    if narrow:
        deep = max(map(len, totals_s), default=0) >= DEEPEST
        said += f"; {plural(narrow, 'frame')} below {percent(NARROWEST)} of it"
        said += f", or inside of {DEEPEST} others," if deep else ""
        said += f" {'is' if narrow == 1 else 'are'} not drawn"
    if found is not None:
        said += "; red: slower, blue: faster by self time; grey: no difference shown"
    heads = [
        shorten(text, int(width / letter)) for text, letter in ((printable(title), 8), (said, 6))
    ]
    return (_svg if kind == "svg" else _png)(marked, width, *heads)


def _look(
    box: Box,
    by_names: Mapping[Names, NamedDifference],
    compared: bool,  # noqa: FBT001
    unit: str,
) -> tuple[str, str]:
    """Return a frame's colour, and what is said of it."""
    name = shorten(printable(" > ".join(box.names)), _LONGEST, 2)
    said = f"{name}: {amount(box.total_s, unit)}, {percent(box.width)}"
    if not compared:
        return _hex(255 * shade for shade in colour_of(box.names[-1])), said
    one = by_names.get(box.names)
    if one is None or not one.is_shown:
        return _GREY, said
    ratio = one.difference.ratio
    said += f"; self time {signed(one.difference.shift, unit)} ({change(ratio)})"
    strength = min(1.0, abs((ratio or 2.0) - 1) / _FULL)
    full = _SLOWER if (one.difference.shift or 0) > 0 else _FASTER
    return _hex(_PALE + (shade - _PALE) * (0.3 + 0.7 * strength) for shade in full), said


def _hex(shades: Iterable[float]) -> str:
    return f"#{''.join(f'{round(shade):02x}' for shade in shades)}"


Marked = tuple[Box, str, str]


def _height(marked: Sequence[Marked]) -> int:
    deepest = max((box.depth for box, _, _ in marked), default=0)
    return _TOP + (deepest + 1) * _ROW + _MARGIN


def _svg(marked: Sequence[Marked], width: int, title: str, said: str) -> bytes:
    height = _height(marked)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="{_MARGIN}" y="18" font-size="14" font-weight="bold">{escape(title)}</text>',
        f'<text x="{_MARGIN}" y="34" fill="#555555">{escape(said)}</text>',
    ]
    for box, colour, words in marked:
        left, top, wide = _place(box, width)
        lines.append(
            f'<g><title>{escape(words)}</title><rect x="{left:.2f}" y="{top}" width="{wide:.2f}" '
            f'height="{_ROW - 1}" fill="{colour}" rx="1"/>'
            f'<text x="{left + 3:.2f}" y="{top + 13}">{escape(_label(box, wide))}</text></g>'
        )
    return "\n".join([*lines, "</svg>\n"]).encode()


def _place(box: Box, width: int) -> tuple[float, int, float]:
    inner = width - 2 * _MARGIN
    return _MARGIN + box.left * inner, _TOP + box.depth * _ROW, max(0.3, box.width * inner - 0.5)


def _label(box: Box, width: float) -> str:
    letters = int((width - 6) / _LETTER)
    name = printable(box.names[-1])
    return name if len(name) <= letters else f"{name[: letters - 1]}…" if letters > 2 else ""


def _png(marked: Sequence[Marked], width: int, title: str, said: str) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - slow to import
    from matplotlib.figure import Figure  # noqa: PLC0415
    from matplotlib.patches import Rectangle  # noqa: PLC0415

    height = _height(marked)
    figure: Any = Figure(figsize=(width / 100, height / 100), dpi=100)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.axis("off")
    axes.text(_MARGIN, 18, title, size=10, weight="bold", parse_math=False)
    axes.text(_MARGIN, 34, said, size=8, color="#555555", parse_math=False)
    for box, colour, _ in marked:
        left, top, wide = _place(box, width)
        axes.add_patch(Rectangle((left, top), wide, _ROW - 1, facecolor=colour, linewidth=0))
        label = _label(box, wide)
        if label:
            axes.text(left + 3, top + 13, label, size=8, parse_math=False)
    out = BytesIO()
    figure.savefig(out, format="png")
    return out.getvalue()
