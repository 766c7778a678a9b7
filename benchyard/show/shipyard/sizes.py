"""Sizes of images, in every form in which they were written over the years."""

import math
import re
from typing import Any

#: Stands for a size that was not told, or that nobody can read.
NO_SIZE = -1
#: Docker writes decimal units: kB is 1,000 bytes. Source: docker/go-units, size.go, decimapAbbrs.
_FACTORS = {
    "": 1,
    "b": 1,
    **{f"{letter}b": 1000**power for power, letter in enumerate("kmgtpe", 1)},
    **{f"{letter}ib": 1024**power for power, letter in enumerate("kmgtpe", 1)},
}
_SIZE = re.compile(
    r"(?<![\w.+-])([0-9]+(?:\.[0-9]*)?(?:e\+?[0-9]{1,2})?)\s*([kmgtpe]?i?b)?(?![\w.])", re.I
)
#: No image is larger; what is was no size (B).
_LARGEST = 1e18
#: Most texts that are kept to be recognised.
_REMEMBERED = 100_000


def read_size(text: str) -> int:
    """Return the bytes that a text tells, or ``NO_SIZE``.

    It may be a number of bytes, docker's ``125.1 MB`` and ``123MB``, and what Batch Shipyard cut
    out of later listings: ``ago 125MB``. The last size in the text counts. Batch Shipyard itself
    takes a MB for 1024² bytes, which docker does not mean.
    """
    found = _SIZE.findall(text[-100:])
    if not found:
        return NO_SIZE
    number, unit = found[-1]
    if not unit and "." in number:
        return NO_SIZE
    size = float(number) * _FACTORS[unit.lower()]
    return round(size) if math.isfinite(size) and size <= _LARGEST else NO_SIZE


class Sizes(dict[str, int]):
    """Pieces ``size=…`` of messages to bytes; the same few come again and again."""

    def __missing__(self, text: str) -> int:
        """Read a piece that is new.

        Raises:
            ValueError: If it is of something else.
        """
        name, _, told = text.partition("=")
        if name != "size":
            raise ValueError("members that are not the same")
        size = read_size(told)
        if len(self) < _REMEMBERED:
            self[text] = size
        return size

    def of(self, told: Any) -> int:
        """Return the bytes that a message's member tells, or ``NO_SIZE``."""
        if isinstance(told, str):
            return self[f"size={told}"]
        plain = isinstance(told, int) and not isinstance(told, bool) and 0 <= told <= _LARGEST
        return told if plain else NO_SIZE
