"""A drawing: boxes, lines and texts at places in pixels, from which every kind of file is made.

SVG is written here: a library for plots takes some 60 MB and most of a second of CPU, in a process
that may measure next. matplotlib writes PNG and PDF, with the letters that it brings, and is
imported only then. Nothing in a picture is active, and all texts are escaped.
"""

from collections.abc import Callable, Iterator, Sequence
from colorsys import hls_to_rgb, rgb_to_hls
from dataclasses import dataclass, field
from functools import partial
from html import escape
from importlib import import_module
from typing import Any, Literal
from zlib import crc32

from benchyard.core.wording import printable
from benchyard.show.plot import Format, picture

#: What a box is filled with in place of a colour: stripes.
STRIPES = "url(#stripes)"
_STRIPED, _STRIPE = "#f4f5f6", "#cdd2d8"
_INK, _WHITE = "#333333", "#ffffff"
_DOTS_PER_INCH = 100
#: matplotlib counts letters in points.
_POINTS = 72 / _DOTS_PER_INCH
_ALIGNMENT = {"start": "left", "middle": "center", "end": "right"}


#: What black and white become on dark paper; those of the explorer's dark pages.
DARK_INK, DARK_PAPER = (0xE4, 0xE7, 0xEA), (0x15, 0x18, 0x1C)
#: Lightness (of HSL) that lines and texts have on dark paper at least.
_LEAST = 0.67


@dataclass(frozen=True, slots=True)
class Theme:
    """What becomes of the colours, ``#rrggbb``, of areas, and of lines and texts."""

    area: Callable[[str], str]
    line: Callable[[str], str]


def _dark(colour: str, least: float) -> str:
    """Turn light and dark round, and keep the hue; what has a hue is no darker than ``least``."""
    if not colour.startswith("#"):
        return colour
    shades = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    hue, light, saturation = rgb_to_hls(*shades)
    turned = max(1 - light, min(1.0, (max(shades) - min(shades)) / 0.35) * least)
    kept = hls_to_rgb(hue, turned, saturation)
    ends = zip(kept, DARK_PAPER, DARK_INK, strict=True)
    return "#" + "".join(f"{round(low + share * (high - low)):02x}" for share, low, high in ends)


LIGHT = Theme(str, str)
DARK = Theme(partial(_dark, least=0.2), partial(_dark, least=_LEAST))


def colour_of(name: str) -> str:
    """Return the light colour of a name, always the same."""
    mixed = crc32(name.encode(errors="replace"))
    lightness, saturation = 0.70 + 0.14 * (mixed >> 16 & 15) / 15, 0.45 + 0.3 * (mixed >> 24) / 255
    shades = hls_to_rgb((mixed & 0xFFFF) / 0x10000, lightness, saturation)
    return "#" + "".join(f"{round(255 * shade):02x}" for shade in shades)


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text (pixels).

    Args:
        y: Of its baseline.
        anchor: Which part of it is at ``x``.
        halo: Whether it has a white edge, to be read upon a pattern.
    """

    x: float
    y: float
    text: str
    size: float = 10
    colour: str = _INK
    anchor: Literal["start", "middle", "end"] = "start"
    bold: bool = False
    halo: bool = False

    def svg(self, theme: Theme) -> str:
        """Return its element."""
        colour = theme.line(self.colour)
        look = "" if colour == _INK else f' fill="{colour}"'
        look += "" if self.size == 10 else f' font-size="{self.size:g}"'
        look += "" if self.anchor == "start" else f' text-anchor="{self.anchor}"'
        look += ' font-weight="bold"' if self.bold else ""
        if self.halo:
            look += f' stroke="{theme.area(_WHITE)}" stroke-width="2" paint-order="stroke"'
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

    def svg(self, theme: Theme) -> str:
        """Return its element."""
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in self.points)
        if not self.width:
            look = f'fill="{theme.area(self.colour)}" fill-opacity="{self.opacity:g}"'
            return f'<path d="{path}Z" {look}/>'
        look = f'stroke="{theme.line(self.colour)}" stroke-width="{self.width:g}"'
        return f'<path d="{path}" fill="none" {look}/>'

    def plot(self, axes: Any, order: int, theme: Theme) -> None:
        """Draw it by matplotlib."""
        x, y = zip(*self.points, strict=True)
        colour = (theme.line if self.width else theme.area)(self.colour)
        look: dict[str, Any] = {"color": colour, "alpha": self.opacity, "zorder": order}
        if self.width:
            axes.plot(x, y, linewidth=self.width * _POINTS, **look)
        else:
            axes.fill(x, y, linewidth=0, **look)


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle (pixels).

    Args:
        colour: Of its area; ``STRIPES`` is none.
        title: What is said where a pointer rests on it.
        edge: Colour of its edge; empty has none.
        label: What is written into it.
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

    def svg(self, theme: Theme) -> str:
        """Return its element, with its title and its label if it has any."""
        look = f'fill="{theme.area(self.colour)}"'
        look += f' stroke="{theme.area(self.edge)}" stroke-width="0.5"' if self.edge else ""
        look += "" if self.opacity == 1 else f' opacity="{self.opacity:g}"'
        place = f'x="{self.x:.1f}" y="{self.y:g}" width="{self.width:.1f}"'
        shape = f'<rect {place} height="{self.height:.4g}" {look}/>'
        shape += self.label.svg(theme) if self.label else ""
        title = f"<title>{escape(printable(self.title))}</title>"
        return f"<g>{title}{shape}</g>" if self.title else shape

    def plot(self, axes: Any, order: int, theme: Theme) -> None:
        """Draw it by matplotlib."""
        colour, hatch = self.colour, None
        if colour == STRIPES:
            colour, hatch = _STRIPED, "//////"
        edge = theme.area(self.edge) if self.edge else "none"
        look = {"facecolor": theme.area(colour), "edgecolor": edge, "hatch": hatch}
        look |= {"linewidth": 0.5 * _POINTS, "alpha": self.opacity, "zorder": order}
        rectangle = import_module("matplotlib.patches").Rectangle
        axes.add_patch(rectangle((self.x, self.y), self.width, self.height, **look))
        if self.label:
            self.label.plot(axes, order, theme)


@dataclass(slots=True)
class Drawing:
    """Shapes (pixels), the first lowest; y grows downwards. Colours are those for white paper."""

    width: float
    height: float
    shapes: list[Box | Line | Text] = field(default_factory=list[Box | Line | Text])

    def svg(self, theme: Theme = LIGHT) -> str:
        """Return the text of an SVG file."""
        return "\n".join(self._elements(theme)) + "\n"

    def _elements(self, theme: Theme) -> Iterator[str]:
        size = f'width="{self.width:g}" height="{self.height:g}"'
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:g} {self.height:g}" '
            f'{size} font-family="sans-serif" font-size="10" fill="{_INK}">'
        )
        if any(isinstance(shape, Box) and shape.colour == STRIPES for shape in self.shapes):
            yield (
                '<defs><pattern id="stripes" width="4" height="4" patternUnits="userSpaceOnUse" '
                'patternTransform="rotate(45)">'
                f'<rect width="4" height="4" fill="{theme.area(_STRIPED)}"/>'
                f'<rect width="1.2" height="4" fill="{theme.area(_STRIPE)}"/></pattern></defs>'
            )
        yield f'<rect {size} fill="{theme.area(_WHITE)}"/>'
        yield from (shape.svg(theme) for shape in self.shapes)
        yield "</svg>"

    def picture(self, kind: Format, theme: Theme = LIGHT) -> bytes:
        """Return it as a file's content."""
        if kind == "svg":
            return self.svg(theme).encode()
        style = {"hatch.linewidth": 0.5, "hatch.color": theme.area(_STRIPE)}
        return picture(lambda: self._figure(theme), kind, style, _DOTS_PER_INCH)

    def _figure(self, theme: Theme) -> Any:
        inches = (self.width / _DOTS_PER_INCH, self.height / _DOTS_PER_INCH)
        paper = theme.area(_WHITE)
        figure = import_module("matplotlib.figure").Figure(figsize=inches, facecolor=paper)
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, self.width), ylim=(self.height, 0))
        axes.axis("off")
        axes.set_autoscale_on(False)
        for order, shape in enumerate(self.shapes):
            shape.plot(axes, order, theme)
        return figure
