"""A filter that the kernel applies to the messages of a socket before anybody receives them.

Source: Linux, include/uapi/linux/filter.h.
"""

import ctypes
import socket
import struct
import sys
from collections.abc import Sequence
from typing import NamedTuple

_SO_ATTACH_FILTER = 26
#: Instructions: load a word, compare, return.
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06


class Field(NamedTuple):
    """A word of a message, and the values that are kept."""

    at: int
    values: Sequence[int]


def keep(connection: socket.socket, fields: Sequence[Field]) -> None:
    """Let the kernel drop all messages but those in which each field has one of its values."""
    code = [(_RETURN, 0, 0, 0xFFFF)]
    for field in reversed(fields):
        # Of the last value that does not match: over all that follows, to what drops.
        tests = [
            (_EQUAL, len(field.values) - 1 - at, 0, _swapped(value))
            for at, value in enumerate(field.values)
        ]
        tests[-1] = (_EQUAL, 0, len(code), tests[-1][3])
        code = [(_LOAD, 0, 0, field.at), *tests, *code]
    code.append((_RETURN, 0, 0, 0))
    program = b"".join(struct.pack("=HBBI", *instruction) for instruction in code)
    kept = ctypes.create_string_buffer(program)
    header = struct.pack("@HP", len(code), ctypes.addressof(kept))
    connection.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, header)


def _swapped(number: int) -> int:
    """Return a number as a filter sees it, which loads words in the order of the network."""
    return int.from_bytes(number.to_bytes(4, sys.byteorder), "big")
