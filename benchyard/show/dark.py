"""Pictures for dark paper, made of those for white paper.

Only colours change: greys are turned round, what is coloured keeps its hue and is made lighter if
it is dark. So it suits every picture, whoever draws it.
"""

import io
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchyard.show.plot import Format

#: What black and white become; those of the explorer's dark pages.
INK, PAPER = "#e4e7ea", "#15181c"
#: From so much difference between its red, green and blue on a colour is no grey at all.
_COLOURED = 0.35
#: Lightness (of HSL) that what is coloured has at least.
_LEAST = 0.67
_TAG = re.compile(r"<[^>]*>")
_HEX = re.compile(r"#[0-9a-fA-F]{6}\b")


def darkened(drawn: bytes, kind: Format) -> bytes:
    """Return a picture with the colours for dark paper.

    Args:
        drawn: Content of an SVG or PNG for white paper.
    """
    return _svg(drawn.decode()).encode() if kind == "svg" else _png(drawn)


def _svg(text: str) -> str:
    found = _TAG.sub(lambda tag: _HEX.sub(lambda colour: _hex(colour[0]), tag[0]), text)
    # What has no colour of its own is black.
    return re.sub(r"<svg\b(?![^>]* fill=)", f'<svg fill="{INK}"', found, count=1)


def _hex(colour: str) -> str:
    shades = _turned(_shades(colour))
    return "#" + "".join(f"{round(float(shade) * 255):02x}" for shade in shades)


def _png(drawn: bytes) -> bytes:
    from PIL import Image  # noqa: PLC0415 - matplotlib's own, and as slow to import

    pixels: NDArray[Any] = np.asarray(Image.open(io.BytesIO(drawn)).convert("RGB"))
    turned = (_turned(pixels.astype(np.float32) / 255) * 255).round().astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(turned).save(buffer, format="png")
    return buffer.getvalue()


def _shades(colour: str) -> NDArray[Any]:
    """Return red, green and blue of ``#rrggbb``, from 0 to 1."""
    return np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)], np.float32)


def _turned(rgb: NDArray[Any]) -> NDArray[Any]:
    """Return colours for dark paper; shape (..., 3), from 0 to 1."""
    high, low = rgb.max(axis=-1, keepdims=True), rgb.min(axis=-1, keepdims=True)
    light = (high + low) / 2
    coloured = np.minimum((high - low) / _COLOURED, 1)
    turned = (1 - coloured) * (1 - light) + coloured * np.maximum(light, _LEAST)
    # The saturation (of HSL) stays.
    room, was = np.minimum(turned, 1 - turned), np.minimum(light, 1 - light)
    kept = turned + (rgb - light) * room / np.maximum(was, 1e-6)
    ink, paper = _shades(INK), _shades(PAPER)
    return paper + np.clip(kept, 0, 1) * (ink - paper)
