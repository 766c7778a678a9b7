"""A drawing: boxes, lines and texts at places in pixels, from which every kind of file is made.

SVG is written here: a library for plots takes some 60 MB and most of a second of CPU, in a process
that may measure next. matplotlib writes PNG and PDF, with the letters that it brings, and is
imported only then. Nothing in a picture is active, and all texts are escaped.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import import_module
from io import BytesIO
from itertools import groupby
from math import cos, pi, sin
from pathlib import Path
from threading import Lock
from typing import Any, Literal, TypeAlias

from benchyard.core.errors import require_extra
from benchyard.core.outputs import write
from benchyard.core.wording import printable
from benchyard.show.themes import LIGHT, Theme

#: Patterns upon boxes, as matplotlib writes them, and their paths in a tile of six by six pixels.
HATCHES = {
    "////": "M0 6L6 0M-1 1L1 -1M5 7L7 5",
    "....": "M3 2.2v1.6",
    "xxxx": "M0 6L6 0M0 0L6 6",
    "\\\\\\\\": "M0 0L6 6M-1 5L1 7M5 -1L7 1",
    "++++": "M3 0V6M0 3H6",
}
#: Outlines of marks, around their centre and of about the same size.
SHAPES: tuple[Sequence[tuple[float, float]], ...] = (
    tuple((cos(turn * pi / 8), sin(turn * pi / 8)) for turn in range(16)),
    ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    ((0, -1.2), (1.1, 0.9), (-1.1, 0.9)),
    ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    ((0, 1.2), (1.1, -0.9), (-1.1, -0.9)),
    ((-1.3, -0.4), (1.3, -0.4), (1.3, 0.4), (-1.3, 0.4)),
)
_INK, _WHITE = "#333333", "#ffffff"
_DOTS_PER_INCH = 100
#: matplotlib counts letters in points.
_POINTS = 72 / _DOTS_PER_INCH
Format = Literal["png", "svg", "pdf"]
#: In a PDF fonts are embedded as TrueType: publishers refuse type 3, matplotlib's own choice.
_STYLE = {"text.parse_math": False, "pdf.fonttype": 42, "hatch.linewidth": 0.5}
#: matplotlib dates its pictures and writes its version into them.
_UNDATED = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
#: matplotlib's settings and Python's filters of warnings are the whole process's.
_DRAWING = Lock()
_ALIGNMENT = {"start": "left", "middle": "center", "end": "right"}


def format_of(file: Path) -> Format:
    """Return the format that a file's ending asks for: SVG, PDF, or else PNG."""
    formats: dict[str, Format] = {".svg": "svg", ".pdf": "pdf"}
    return formats.get(file.suffix.lower(), "png")


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text (pixels).

    Args:
        y: Of its baseline.
        anchor: Which part of it is at ``x``.
        halo: Whether it has a white edge, to be read upon a pattern.
        upwards: Whether it runs from below to above.
    """

    x: float
    y: float
    text: str
    size: float = 10
    colour: str = _INK
    anchor: Literal["start", "middle", "end"] = "start"
    bold: bool = False
    halo: bool = False
    upwards: bool = False

    def svg(self, theme: Theme) -> str:
        """Return its element."""
        colour = theme.line(self.colour)
        look = "" if self.colour == _INK else f' fill="{colour}"'
        look += "" if self.size == 10 else f' font-size="{self.size:g}"'
        look += "" if self.anchor == "start" else f' text-anchor="{self.anchor}"'
        look += ' font-weight="bold"' if self.bold else ""
        if self.halo:
            look += f' stroke="{theme.area(_WHITE)}" stroke-width="2" paint-order="stroke"'
        look += f' transform="rotate(-90 {self.x:.1f} {self.y:.1f})"' if self.upwards else ""
        text = escape(printable(self.text))
        return f'<text x="{self.x:.1f}" y="{self.y:.1f}"{look}>{text}</text>'

    def plot(self, axes: Any, order: int, theme: Theme) -> None:
        """Draw it by matplotlib."""
        halo: list[Any] = []
        if self.halo:
            effects = import_module("matplotlib.patheffects")
            halo.append(effects.withStroke(linewidth=2, foreground=theme.area(_WHITE)))
        look = {"size": self.size * _POINTS, "weight": "bold" if self.bold else "normal"}
        look |= {
            "ha": _ALIGNMENT[self.anchor],
            "color": theme.line(self.colour),
            "path_effects": halo,
            "rotation": 90 * self.upwards,
            "rotation_mode": "anchor",
            "zorder": order,
        }
        axes.text(self.x, self.y, printable(self.text), **look)


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points, or the area within them (pixels).

    Args:
        width: Of the line; 0 fills the area.
    """

    points: Sequence[tuple[float, float]]
    colour: str
    width: float = 1.0
    opacity: float = 1.0
    dashes: Sequence[float] = ()

    def svg(self, theme: Theme) -> str:
        """Return its element."""
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in self.points)
        if not self.width:
            look = f'fill="{theme.area(self.colour)}" fill-opacity="{self.opacity:g}"'
            return f'<path d="{path}Z" {look}/>'
        look = f'stroke="{theme.line(self.colour)}" stroke-width="{self.width:g}"'
        dashes = " ".join(f"{length:g}" for length in self.dashes)
        look += f' stroke-dasharray="{dashes}"' if dashes else ""
        return f'<path d="{path}" fill="none" {look}/>'

    def plot(self, axes: Any, order: int, theme: Theme) -> None:
        """Draw it by matplotlib."""
        x, y = zip(*self.points, strict=True)
        colour = (theme.line if self.width else theme.area)(self.colour)
        look: dict[str, Any] = {"color": colour, "alpha": self.opacity, "zorder": order}
        if self.width:
            scale = [length / self.width for length in self.dashes]
            look["linestyle"] = (0, scale) if scale else "-"
            axes.plot(x, y, linewidth=self.width * _POINTS, **look)
        else:
            axes.fill(x, y, linewidth=0, **look)


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle (pixels).

    Args:
        title: What is said where a pointer rests on it.
        edge: Colour of its edge and of its pattern; empty has none.
        label: What is written into it.
        hatch: Its pattern, of ``HATCHES``; empty has none.
    """

    x: float
    y: float
    width: float
    height: float
    colour: str
    title: str = ""
    edge: str = ""
    opacity: float = 1.0
    label: Text | None = None
    hatch: str = ""

    @property
    def pattern(self) -> str:
        """The id of its pattern."""
        return f"hatch{[*HATCHES].index(self.hatch)}{self.edge.strip('#')}"

    def svg(self, theme: Theme) -> str:
        """Return its element, with its title and its label if it has any."""
        look = f'fill="{theme.area(self.colour)}"'
        look += f' stroke="{theme.area(self.edge)}" stroke-width="0.5"' if self.edge else ""
        look += "" if self.opacity == 1 else f' opacity="{self.opacity:g}"'
        place = f'x="{self.x:.1f}" y="{self.y:g}" width="{self.width:.1f}"'
        shape = f'<rect {place} height="{self.height:.4g}" {look}/>'
        if self.hatch:
            shape += f'<rect {place} height="{self.height:.4g}" fill="url(#{self.pattern})"/>'
        shape += self.label.svg(theme) if self.label else ""
        title = f"<title>{escape(printable(self.title))}</title>"
        return f"<g>{title}{shape}</g>" if self.title else shape


@dataclass(frozen=True, slots=True)
class Dots:
    """Marks of one kind (pixels).

    Args:
        shape: Number of its outline in ``SHAPES``.
        size: Half of the width.
        hollow: Whether the colour is that of the edge alone.
    """

    points: Sequence[tuple[float, float]]
    shape: int
    colour: str
    size: float = 3.0
    opacity: float = 1.0
    hollow: bool = False

    def svg(self, theme: Theme) -> str:
        """Return its element."""
        colour = theme.line(self.colour)
        look = f'fill="{colour}" fill-opacity="{self.opacity:g}"'
        if self.shape == 0 and not self.hollow:  # a circle is the round end of a line
            path = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in self.points)
            look = f'stroke="{colour}" stroke-opacity="{self.opacity:g}" stroke-linecap="round"'
            return f'<path d="{path}" stroke-width="{2 * self.size:g}" {look}/>'
        if self.hollow:
            look = f'fill="{theme.area(_WHITE)}" stroke="{colour}" stroke-width="1.2"'
        outlines = ("L".join(f"{x:.1f} {y:.1f}" for x, y in one) for one in self._outlines())
        return f'<path d="M{"ZM".join(outlines)}Z" {look}/>'

    def plot(self, axes: Any, order: int, theme: Theme) -> None:
        """Draw it by matplotlib."""
        colour = theme.line(self.colour)
        look = {"alpha": self.opacity, "zorder": order, "linewidth": 1.2 * _POINTS * self.hollow}
        fill = theme.area(_WHITE) if self.hollow else colour
        # Thousands of shapes by themselves take seconds.
        polygons = import_module("matplotlib.collections").PolyCollection
        outlines = [*self._outlines()]
        axes.add_collection(polygons(outlines, facecolor=fill, edgecolor=colour, **look))

    def _outlines(self) -> Iterator[list[tuple[float, float]]]:
        for x, y in self.points:
            yield [(x + self.size * a, y + self.size * b) for a, b in SHAPES[self.shape]]


Shape: TypeAlias = Box | Line | Text | Dots


@dataclass(slots=True)
class Drawing:
    """Shapes (pixels), the first lowest; y grows downwards. Colours are those for white paper.

    Args:
        dots_per_inch: Of a PNG; 100 make a pixel of each.
    """

    width: float
    height: float
    shapes: list[Shape] = field(default_factory=list[Shape])
    dots_per_inch: int = _DOTS_PER_INCH

    def svg(self, theme: Theme = LIGHT) -> str:
        """Return the text of an SVG file."""
        return "\n".join(self._elements(theme)) + "\n"

    def _elements(self, theme: Theme) -> Iterator[str]:
        size = f'width="{self.width:g}" height="{self.height:g}"'
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:g} {self.height:g}" '
            f'{size} font-family="sans-serif" font-size="10" fill="{theme.line(_INK)}">'
        )
        hatched = [one for one in self.shapes if isinstance(one, Box) and one.hatch]
        for box in {box.pattern: box for box in hatched}.values():
            yield (
                f'<defs><pattern id="{box.pattern}" width="6" height="6" '
                f'patternUnits="userSpaceOnUse"><path d="{HATCHES[box.hatch]}" fill="none" '
                f'stroke="{theme.area(box.edge)}"/></pattern></defs>'
            )
        yield f'<rect {size} fill="{theme.area(_WHITE)}"/>'
        yield from (shape.svg(theme) for shape in self.shapes)
        yield "</svg>"

    def write(self, *files: Path) -> None:
        """Write it into files, each replaced whole; the ending decides the format, else PNG.

        Raises:
            InputError: If a file is not SVG and matplotlib is not installed.
            OSError: If one cannot be written.
        """
        for file in files:
            write(file, self.picture(format_of(file)))

    def picture(self, kind: Format, theme: Theme = LIGHT) -> bytes:
        """Return the file's content; raise ``InputError`` if matplotlib is needed and missing."""
        if kind == "svg":
            return self.svg(theme).encode()
        require_extra("plot", "matplotlib", "drawing PNG or PDF", "use .svg")
        matplotlib: Any = import_module("matplotlib")
        buffer = BytesIO()
        # A matplotlibrc of the current folder may ask for LaTeX, with commands of its own.
        with _DRAWING, matplotlib.rc_context(), warnings.catch_warnings():
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(_STYLE)
            # A name may have characters that the font lacks; they are boxes then.
            warnings.filterwarnings("ignore", message="Glyph .* missing from font")
            figure = self._figure(theme)
            figure.savefig(buffer, format=kind, dpi=self.dots_per_inch, metadata=_UNDATED[kind])
        return buffer.getvalue()

    def _figure(self, theme: Theme) -> Any:
        inches = (self.width / _DOTS_PER_INCH, self.height / _DOTS_PER_INCH)
        paper = theme.area(_WHITE)
        figure = import_module("matplotlib.figure").Figure(figsize=inches, facecolor=paper)
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, self.width), ylim=(self.height, 0))
        axes.axis("off")
        axes.set_autoscale_on(False)
        for order, (_, group) in enumerate(groupby(self.shapes, _pattern_of)):
            shapes = [*group]
            if boxes := [shape for shape in shapes if isinstance(shape, Box)]:
                _plot_boxes(boxes, axes, order, theme)
            for shape in shapes:
                if drawn := shape.label if isinstance(shape, Box) else shape:
                    drawn.plot(axes, order, theme)
        return figure


def _pattern_of(shape: Shape) -> tuple[str, str] | None:
    """Return the pattern of a box and its colour: boxes that share both are drawn together."""
    return (shape.hatch, shape.edge if shape.hatch else "") if isinstance(shape, Box) else None


def _plot_boxes(boxes: Sequence[Box], axes: Any, order: int, theme: Theme) -> None:
    """Draw all boxes of one pattern by one call of matplotlib: a call for each takes seconds."""
    corners = [
        [(x, y), (x + one.width, y), (x + one.width, y + one.height), (x, y + one.height)]
        for one in boxes
        for x, y in [(one.x, one.y)]
    ]
    look = {
        "facecolors": [theme.area(one.colour) for one in boxes],
        "edgecolors": [theme.area(one.edge) if one.edge else "none" for one in boxes],
        "alpha": [one.opacity for one in boxes],
        "hatch": boxes[0].hatch,
    }
    polygons = import_module("matplotlib.collections").PolyCollection
    axes.add_collection(polygons(corners, linewidth=0.5 * _POINTS, zorder=order, **look))
