"""Messages about images, thousands at once.

All messages of one event mostly have the same members in the same order. Then one split takes
them apart, and one reading of JSON makes all of their numbers; what is not so is refused, and read
one by one elsewhere.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchyard.core.json_text import decoded
from benchyard.show.shipyard.ledger import Floats, ImageNumbers, Integers
from benchyard.show.shipyard.sizes import NO_SIZE, Sizes

#: No pull takes longer; what is was no length (s).
LONGEST = 1e12


def read_together(
    messages: Sequence[str], images: ImageNumbers, sizes: Sizes
) -> tuple[Integers, Floats, Integers]:
    """Return the number of the image, length (s) and size (B) of each message.

    Raises:
        ValueError, TypeError, AttributeError: If they cannot be read together.
    """
    parts = ",".join(messages).split(",")
    width, rest = divmod(len(parts), len(messages))
    if not rest:
        try:
            return _read_columns([parts[place::width] for place in range(width)], images, sizes)
        except ValueError:
            pass
    return _read_by_width(messages, images, sizes)


def _read_by_width(
    messages: Sequence[str], images: ImageNumbers, sizes: Sizes
) -> tuple[Integers, Floats, Integers]:
    """Read messages of which some have more members than others."""
    widths = np.array([message.count(",") for message in messages])
    found = _nothing(len(messages))
    for width in np.unique(widths).tolist():
        chosen = np.flatnonzero(widths == width)
        parts = ",".join([messages[place] for place in chosen.tolist()]).split(",")
        columns = [parts[place :: width + 1] for place in range(width + 1)]
        for column, values in zip(found, _read_columns(columns, images, sizes), strict=True):
            column[chosen] = values
    return found


def _nothing(count: int) -> tuple[Integers, Floats, Integers]:
    return np.zeros(count, np.int64), np.full(count, np.nan), np.full(count, NO_SIZE)


def _read_columns(
    columns: Sequence[list[str]], images: ImageNumbers, sizes: Sizes
) -> tuple[Integers, Floats, Integers]:
    named = {column[0].partition("=")[0]: column for column in columns}
    if "img" not in named or len(named) < len(columns):
        raise ValueError("its message names no image (img=…)")
    _, length, size = _nothing(len(columns[0]))
    if "grtype" in named and set(named["grtype"]) != {"grtype=docker"}:
        both = zip(named["grtype"], named["img"], strict=True)
        image = [images[f"{kind},{name}"] for kind, name in both]
    else:
        image = [images[name] for name in named["img"]]
    if "diff" in named:
        length = np.array(decoded(_without_name(named["diff"], "diff"), exact=False), np.float64)
        if len(length) != len(image) or not bool(np.all((length >= 0.0) & (length < LONGEST))):
            raise ValueError("a length that is none")
    if "size" in named:
        size = _sizes(named["size"], sizes)
    others = [name for name in named if name not in ("img", "grtype", "diff", "size")]
    if any(not text.startswith(f"{name}=") for name in others for text in named[name]):
        raise ValueError("members that are not the same")
    return np.array(image, np.int64), length, size


def _sizes(column: Sequence[str], sizes: Sizes) -> Integers:
    try:
        found = np.array(decoded(_without_name(column, "size"), exact=False))
    except ValueError:
        found = np.array(["with units"])
    if found.dtype == np.int64 and bool(np.all(found >= 0)):
        return found.astype(np.int64)
    return np.array([sizes[text] for text in column], np.int64)


def _without_name(column: Sequence[str], name: str) -> bytes:
    """Return ``name=1``, ``name=2``, … as JSON of the numbers.

    Raises:
        ValueError: If one has another name.
    """
    text = ",".join(column)
    # Every comma parts two members, since no member holds one.
    if not text.startswith(f"{name}=") or text.count(f",{name}=") != len(column) - 1:
        raise ValueError("members that are not the same")
    return f"[{text.replace(f'{name}=', '')}]".encode()


def read_fields(
    messages: Sequence[Mapping[str, Any]], images: ImageNumbers, sizes: Sizes
) -> tuple[Integers, Floats, Integers]:
    """Return the same of messages that are objects already; raises as ``read_together``."""
    image = [images.number_of(message) for message in messages]
    length = np.array([message.get("diff", np.nan) for message in messages], np.float64)
    size = [sizes.of(message.get("size")) for message in messages]
    if not bool(np.all(np.isnan(length) | ((length >= 0.0) & (length < LONGEST)))):
        raise ValueError("a length that is none")
    return np.array(image, np.int64), length, np.array(size, np.int64)
