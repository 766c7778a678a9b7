"""Figures of matplotlib as bytes; the same data gives the same bytes.

matplotlib takes half a second to import, so a module that draws is imported when something is
drawn. Only its object-oriented interface is used: no window, no state that outlives a call. Its
keyword arguments have no types, hence ``Any``.
"""

import io
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, Literal

Format = Literal["png", "svg", "pdf"]
_DOTS_PER_INCH = 110
#: What keeps the ids in an SVG the same, its labels texts, and names the texts that they are. In a
#: PDF fonts are embedded as TrueType: publishers refuse type 3, matplotlib's own choice.
_STYLE = {
    "svg.hashsalt": "benchyard",
    "svg.fonttype": "none",
    "text.parse_math": False,
    "pdf.fonttype": 42,
}
#: matplotlib dates its pictures and writes its version into them.
_UNDATED = {
    "svg": {"Date": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
#: A name may have characters that the font lacks; they are boxes then. Of some lengths of time
#: there are no good parts; those that are taken then will do.
_HARMLESS = ("Glyph .* missing from font", "AutoDateLocator was unable to pick")
#: matplotlib's settings and Python's filters of warnings are the whole process's.
_DRAWING = Lock()


def format_of(file: Path) -> Format:
    """Return the format that a file's ending asks for: SVG, PDF, or else PNG."""
    formats: dict[str, Format] = {".svg": "svg", ".pdf": "pdf"}
    return formats.get(file.suffix.lower(), "png")


def picture(
    make_figure: Callable[[], Any],
    kind: Format,
    style: Mapping[str, Any],
    dots_per_inch: int = _DOTS_PER_INCH,
    refused: str = "",
) -> bytes:
    """Return a figure as a file's content. Threads draw one after the other.

    Args:
        make_figure: Returns a ``matplotlib.figure.Figure``; called under the style.
        kind: The format.
        style: ``rcParams`` beside those that all pictures have.
        dots_per_inch: Of a PNG.
        refused: How a warning of matplotlib begins that is raised instead; empty is none.
    """
    # Who only looks at a file's name, before there is anything to draw, does not wait for it.
    matplotlib: Any = import_module("matplotlib")

    buffer = io.BytesIO()
    # A matplotlibrc of the current folder may ask for LaTeX, with commands of its own.
    with _DRAWING, matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({**_STYLE, **style})
        for message in _HARMLESS:
            warnings.filterwarnings("ignore", message=message)
        if refused:
            warnings.filterwarnings("error", message=refused)
        figure = make_figure()
        figure.savefig(buffer, format=kind, dpi=dots_per_inch, metadata=_UNDATED[kind])
    return buffer.getvalue()
