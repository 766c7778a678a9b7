"""Colours of drawings: on white paper, on dark paper, on a page that may be either, in print."""

from collections.abc import Callable
from colorsys import hls_to_rgb, rgb_to_hls
from dataclasses import dataclass
from functools import partial
from zlib import crc32

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


def _both(colour: str, least: float) -> str:
    return f"light-dark({colour},{_dark(colour, least)})" if colour.startswith("#") else colour


LIGHT = Theme(str, str)
DARK = Theme(partial(_dark, least=0.2), partial(_dark, least=_LEAST))
#: Inside of a page whose style says ``color-scheme``: dark where it is.
PAGE = Theme(partial(_both, least=0.2), partial(_both, least=_LEAST))


def colour_of(name: str) -> str:
    """Return the light colour of a name, always the same."""
    mixed = crc32(name.encode(errors="replace"))
    lightness, saturation = 0.70 + 0.14 * (mixed >> 16 & 15) / 15, 0.45 + 0.3 * (mixed >> 24) / 255
    shades = hls_to_rgb((mixed & 0xFFFF) / 0x10000, lightness, saturation)
    return "#" + "".join(f"{round(255 * shade):02x}" for shade in shades)
