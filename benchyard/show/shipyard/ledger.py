"""What was told of images, on all nodes together, as columns of numbers.

A pool of a thousand nodes tells hundreds of thousands of such events. As objects they would cost
more time than reading them; as columns they are sorted and joined by the million.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchyard.results.events.message import read_plain
from benchyard.show.shipyard.sizes import NO_SIZE

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Booleans: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Columns:
    """Events of one name; every column has one value for each.

    Args:
        node: Number of the node.
        image: Number of the image.
        at: When, seconds since 1970.
        length: How long it took by its own account (s); NaN where that is not told.
        size: Bytes; ``NO_SIZE`` where that is not told.
    """

    node: Integers
    image: Integers
    at: Floats
    length: Floats
    size: Integers

    def chosen(self, places: Integers) -> "Columns":
        """Return the events at some places, in that order."""
        return Columns(
            self.node[places],
            self.image[places],
            self.at[places],
            self.length[places],
            self.size[places],
        )


class ImageNumbers(dict[str, int]):
    """Messages, or pieces ``img=…`` of them, to the number of the image that they name.

    Every node tells the same ones, so most of them are known already.
    """

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}

    def __missing__(self, text: Any) -> int:
        """Read a text that is new.

        Raises:
            ValueError, TypeError, AttributeError: If it names no image.
        """
        number = self[text] = self.number(image_of(read_plain(text)))
        return number

    def number(self, image: str) -> int:
        """Return the number of an image."""
        number = self._numbers.setdefault(image, len(self.names))
        if number == len(self.names):
            self.names.append(image)
        return number

    def number_of(self, message: Any) -> int:
        """Return the number of the image that a message with members names.

        Raises:
            ValueError, AttributeError: If it names none.
        """
        return self.number(image_of(message))


def image_of(message: Any) -> str:
    """Return the image that an event is about; of Singularity's, with a word that says so.

    Docker and Singularity may pull the same at the same time, on the same node.

    Raises:
        ValueError: If there is none.
    """
    image, kind = message.get("img"), message.get("grtype", "docker")
    if not (isinstance(image, str) and image):
        raise ValueError("its message names no image (img=…)")
    return image if kind == "docker" else f"{image} [{kind}]"


class Ledger:
    """Collects events in the order in which they come."""

    def __init__(self) -> None:
        self.images = ImageNumbers()
        self._parts: dict[str, list[Columns]] = {}
        self._single: dict[str, list[tuple[int, int, float, float, int]]] = {}

    def add(self, event: str, columns: Columns) -> None:
        """Add many events of one name."""
        self._parts.setdefault(event, []).append(columns)

    def add_one(self, event: str, row: tuple[int, int, float, float, int]) -> None:
        """Add one event: node, image, time, length or NaN, size or ``NO_SIZE``."""
        self._single.setdefault(event, []).append(row)

    def columns(self, event: str) -> Columns:
        """Return all events of one name."""
        parts = list(self._parts.get(event, ()))
        single = self._single.get(event, [])
        node, image, at, length, size = zip(*single, strict=True) if single else ((),) * 5
        parts.append(columns_of(node, image, at, length, size))
        return Columns(
            np.concatenate([part.node for part in parts]),
            np.concatenate([part.image for part in parts]),
            np.concatenate([part.at for part in parts]),
            np.concatenate([part.length for part in parts]),
            np.concatenate([part.size for part in parts]),
        )


def columns_of(node: Any, image: Any, at: Any, length: Any = None, size: Any = None) -> Columns:
    """Return columns of sequences; lengths and sizes may be missing."""
    numbers = np.asarray(node, np.int64)
    count = len(numbers)
    return Columns(
        numbers,
        np.asarray(image, np.int64),
        np.asarray(at, np.float64),
        np.full(count, np.nan) if length is None else np.asarray(length, np.float64),
        np.full(count, NO_SIZE) if size is None else np.asarray(size, np.int64),
    )
