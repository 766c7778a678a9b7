"""Fields of a protobuf message, none read from beyond its end.

Source: protobuf.dev/programming-guides/encoding.
"""

from collections.abc import Iterator

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
