"""Data of Python's marshal, as profiles have them: its own reader may crash on damaged bytes.

Source: github.com/python/cpython, Python/marshal.c; versions 2 to 5, of Python 3.
"""

import struct
from collections.abc import Callable, Mapping

_IS_SHARED = 0x80
#: A profile nests function, row, callers, caller and its row in each other.
_DEEPEST = 8
#: So many digits of 15 bits has no count of calls.
_MOST_DIGITS = 5
#: A dict is a list of its items: nothing is hashed that has not been looked at.
Value = None | int | float | str | tuple["Value", ...] | list[tuple["Value", "Value"]]


class MarshalError(ValueError):
    """Bytes that are no such data; the text says what and where."""


class Unmarshalling:
    """Reads one value."""

    def __init__(self, content: bytes) -> None:
        """Begin at the first byte."""
        self._content = content
        self._place = 0
        self._shared: list[Value] = []
        self._readers: Mapping[str, Callable[[int], Value]] = {
            "N": lambda _: None,
            "i": lambda _: self._number("<i"),
            "l": lambda _: self._long(),
            "g": lambda _: struct.unpack("<d", self._take(8))[0],
            **dict.fromkeys("stuaA", lambda _: self._text(self._number("<I"))),
            **dict.fromkeys("zZ", lambda _: self._text(self._number("<B"))),
            "(": lambda deep: self._tuple(self._number("<I"), deep),
            ")": lambda deep: self._tuple(self._number("<B"), deep),
            "{": self._items,
        }

    def value(self, deep: int = 0) -> Value:
        """Return the next value.

        Raises:
            MarshalError: If there is none, or one of another type than profiles have.
        """
        start = self._place
        byte = self._number("<B")
        kind = chr(byte & ~_IS_SHARED)
        if kind == "r":
            return self._known(self._number("<I"), start)
        if kind not in self._readers or deep > _DEEPEST:
            raise MarshalError(f"byte {start:,}: no value that a profile has")
        number = len(self._shared)
        if byte & _IS_SHARED:
            self._shared.append([])  # none of a profile's values holds itself
        value = self._readers[kind](deep + 1)
        if byte & _IS_SHARED:
            self._shared[number] = value
        return value

    def _known(self, number: int, start: int) -> Value:
        if number >= len(self._shared):
            raise MarshalError(f"byte {start:,}: a value that was not there before")
        return self._shared[number]

    def _take(self, size: int) -> bytes:
        found = self._content[self._place : self._place + size]
        if len(found) < size:
            raise MarshalError(f"byte {self._place:,}: it breaks off")
        self._place += size
        return found

    def _number(self, code: str) -> int:
        return struct.unpack(code, self._take(struct.calcsize(code)))[0]

    def _long(self) -> int:
        size = self._number("<i")
        if abs(size) > _MOST_DIGITS:
            raise MarshalError(f"byte {self._place:,}: a number that is too large")
        value = sum(self._number("<H") << (15 * place) for place in range(abs(size)))
        return -value if size < 0 else value

    def _text(self, size: int) -> str:
        return self._take(size).decode("utf-8", "replace")

    def _tuple(self, size: int, deep: int) -> tuple[Value, ...]:
        return tuple(self.value(deep) for _ in range(size))

    def _items(self, deep: int) -> list[tuple[Value, Value]]:
        found: list[tuple[Value, Value]] = []
        while self._content[self._place : self._place + 1] != b"0":
            found.append((self.value(deep), self.value(deep)))
        self._place += 1
        return found
