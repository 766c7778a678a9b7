"""Fields of a protobuf message, none read from beyond its end.

Source: protobuf.dev/programming-guides/encoding.
"""

import struct
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

_T = TypeVar("_T")
Value = int | memoryview
#: Returns what all values of one field mean together.
FieldReader = Callable[[Sequence[Value]], Any]

_MORE, _LOW = 0x80, 0x7F
_VARINT_BYTES = 10
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FIXED = {_FIXED64: 8, _FIXED32: 4}
_BITS = 64


class WireError(ValueError):
    """Bytes that are no message; the text says what and where."""


def fields(message: memoryview, offset: int = 0) -> Iterator[tuple[int, int | memoryview]]:
    """Yield each field's number with its value: a number, or the bytes of anything else.

    Args:
        message: Its bytes.
        offset: Where it begins in its file, for messages.

    Raises:
        WireError: If the message breaks off, or is none.
    """
    place = 0
    while place < len(message):
        key, after = varint(message, place, offset)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, place = varint(message, after, offset)
            yield number, value
            continue
        if kind == _BYTES:
            size, after = varint(message, after, offset)
        elif kind in _FIXED:
            size = _FIXED[kind]
        else:
            raise WireError(f"byte {offset + place:,}: no field of a message")
        if size > len(message) - after:
            left = len(message) - after
            raise WireError(f"byte {offset + place:,}: {size:,} bytes announced, {left:,} left")
        yield number, message[after : after + size]
        place = after + size


def varint(message: memoryview, place: int, offset: int = 0) -> tuple[int, int]:
    """Return a number of variable length, and the place behind it.

    Raises:
        WireError: If it breaks off, or has more than 64 bits.
    """
    if place < len(message) and message[place] < _MORE:  # most are: a field's key, a small number
        return message[place], place + 1
    value = 0
    for count, byte in enumerate(message[place : place + _VARINT_BYTES]):
        value |= (byte & _LOW) << (7 * count)
        if not byte & _MORE:
            return value & ((1 << _BITS) - 1), place + count + 1
    raise WireError(f"byte {offset + place:,}: a number without an end")


def signed(value: int) -> int:
    """Return a 64-bit number as int64 has it."""
    return value - (1 << _BITS) if value >> (_BITS - 1) else value


def packed(value: int | memoryview) -> Iterator[int]:
    """Yield the numbers of a repeated field, packed or single.

    Raises:
        WireError: If one breaks off.
    """
    if isinstance(value, int):
        yield value
        return
    place = 0
    while place < len(value):
        number, place = varint(value, place)
        yield number


# -- readers of fields; of a field that is not repeated the last value counts


def texts(values: Sequence[Value]) -> tuple[str, ...]:
    """Return the texts of a repeated field; invalid UTF-8 is replaced."""
    if any(isinstance(value, int) for value in values):
        raise WireError("a number where a text should be")
    return tuple(str(value, "utf-8", "replace") for value in values if not isinstance(value, int))


def text(values: Sequence[Value]) -> str:
    """Return a text; empty if it was not written."""
    return "".join(texts(values[-1:]))


def integers(values: Sequence[Value]) -> tuple[int, ...]:
    """Return the numbers of a repeated field, as int64 has them."""
    return tuple(signed(number) for value in values for number in packed(value))


def integer(values: Sequence[Value]) -> int:
    """Return a number; 0 if it was not written."""
    return next(reversed(integers(values)), 0)


def floats(values: Sequence[Value]) -> tuple[float, ...]:
    """Return the 32-bit floats of a repeated field."""
    return tuple(number for value in values for number in _unpacked(value))


def real(values: Sequence[Value]) -> float:
    """Return a 32-bit float; 0 if it was not written."""
    return next(reversed(floats(values)), 0.0)


def _unpacked(value: Value) -> Iterator[float]:
    if isinstance(value, int) or len(value) % 4:
        raise WireError("what should be 32-bit floats is none")
    for (number,) in struct.iter_unpack("<f", value):
        yield number


def each(decode: Callable[[Value], _T]) -> Callable[[Sequence[Value]], tuple[_T, ...]]:
    """Return a reader of a repeated field."""
    return lambda values: tuple(map(decode, values))


def last(decode: Callable[[Value], _T]) -> Callable[[Sequence[Value]], _T | None]:
    """Return a reader of a field; None if it was not written."""
    return lambda values: decode(values[-1]) if values else None


def message(make: Callable[..., _T], *parts: tuple[int, FieldReader]) -> Callable[[Value], _T]:
    """Return a decoder of messages, which raises a WireError if one is none.

    Args:
        make: Called with what each reader returns, in their order.
        parts: Numbers of fields with their readers; other fields are skipped.
    """

    def decode(value: Value) -> _T:
        if isinstance(value, int):
            raise WireError("a number where a message should be")
        found = defaultdict[int, list[Value]](list)
        for number, inner in fields(value):
            found[number].append(inner)
        return make(*(read(found[number]) for number, read in parts))

    return decode
