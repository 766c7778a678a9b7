"""Dumps of Python's cProfile and profile.

They are data of Python's marshal, whose own reader may crash on damaged bytes. Sources:
github.com/python/cpython, Python/marshal.c (versions 2 to 5, of Python 3), Lib/cProfile.py,
Lib/profile.py and Lib/pstats.py.
"""

import re
import struct
from collections.abc import Callable, Mapping
from typing import Annotated

import msgspec

from benchyard.core.errors import InputError
from benchyard.traces.building import TraceBuilder
from benchyard.traces.call_graphs import CallGraph
from benchyard.traces.model import TIME, Trace

_MOST_BYTES = 64 << 20
_NS = TIME.scale
#: A dict, then its first key: a tuple of three, of which the first is a text.
_START = re.compile(
    rb"[{\xfb](?:[(\xa8]\x03\0\0\0|[)\xa9]\x03)[stuaAzZ\xf3\xf4\xf5\xe1\xc1\xfa\xda]"
)

_Function = tuple[str, int, str]
_Seconds = Annotated[float, msgspec.Meta(ge=-1e9, le=1e9)]
#: Of the calls of one caller: all, those that are not recursive, self time, total time; or, of
#: ``profile``, how many. A bound of the number here would crash msgspec 0.23.
_Edge = int | tuple[int, int, _Seconds, _Seconds]
#: Calls that are not recursive, all calls, self time, total time, callers.
_Row = tuple[int, int, _Seconds, _Seconds, list[tuple[_Function, _Edge]]]


def looks_like_cprofile(head: bytes) -> bool:
    """Tell whether a file that begins so is a dump that knows a function."""
    return _START.match(head) is not None


def read_cprofile(content: bytes, where: str) -> Trace:
    """Read a dump, as a tree of calls that lie one behind the other.

    Args:
        content: Of the file, unpacked.
        where: Its name, for messages.

    Raises:
        InputError: If it is no such file, or too long.
    """
    if len(content) > _MOST_BYTES:
        raise InputError(f"{where}: longer than {_MOST_BYTES >> 20} MiB, the most of its format")
    try:
        rows = msgspec.convert(_Marshalled(content).value(), list[tuple[_Function, _Row]])
    except (_MarshalError, msgspec.ValidationError) as error:
        raise InputError(f"{where}: not a dump of cProfile: {error}") from error
    graph, builder = CallGraph[_Function](), TraceBuilder()
    for function, row in rows:
        if row[2] < 0:
            builder.lose("a negative time; taken as none", _named(function))
        _add(graph, function, row)
    graph.draw(builder, builder.track("profile", "calls"), _named)
    return builder.sampled(TIME)


def _add(graph: CallGraph[_Function], function: _Function, row: _Row) -> None:
    _, calls, own, total, callers = row
    graph.own[function] += max(own, 0) * _NS
    for caller, edge in callers:
        count, cost = (edge, float(edge)) if isinstance(edge, int) else (edge[0], edge[3])
        graph.call(caller, function, max(cost, 0) * _NS)
        calls, total = calls - count, total - cost
    if callers and calls > 0:  # the profiler was started below some of them
        told = calls if isinstance(callers[0][1], int) else max(total, 0)
        graph.call(None, function, told * _NS)


def _named(function: _Function) -> str:
    """Return the name as pstats writes it; of a package's own file with its folder."""
    file, line, name = function
    if (file, line) == ("~", 0):
        return f"{{{name[1:-1]}}}" if name.startswith("<") and name.endswith(">") else name
    parts = re.split(r"[\\/]", file)
    kept = parts[-2:] if parts[-1] == "__init__.py" else parts[-1:]
    return f"{'/'.join(kept)}:{line}({name})"


_IS_SHARED = 0x80
#: A profile nests function, row, callers, caller and its row in each other.
_DEEPEST = 8
#: So many digits of 15 bits has no count of calls.
_MOST_DIGITS = 5
#: A dict is a list of its items: nothing is hashed that has not been looked at.
_Value = None | int | float | str | tuple["_Value", ...] | list[tuple["_Value", "_Value"]]


class _MarshalError(ValueError):
    pass


class _Marshalled:
    def __init__(self, content: bytes) -> None:
        self._content = content
        self._place = 0
        # Of what may be referred to, the value, and how many values it holds with its own.
        self._shared: list[tuple[_Value, int]] = []
        self._count = 0
        self._readers: Mapping[str, Callable[[int], _Value]] = {
            "N": lambda _: None,
            "i": lambda _: self._number("<i"),
            "l": lambda _: self._long(),
            "g": lambda _: struct.unpack("<d", self._take(8))[0],
            "r": lambda _: self._known(self._number("<I")),
            **dict.fromkeys("stuaA", lambda _: self._text("<I")),
            **dict.fromkeys("zZ", lambda _: self._text("<B")),
            "(": lambda deep: self._tuple(self._number("<I"), deep),
            ")": lambda deep: self._tuple(self._number("<B"), deep),
            "{": self._items,
        }

    def value(self, deep: int = 0) -> _Value:
        """Return the next value."""
        start, count, number = self._place, self._count, len(self._shared)
        byte = self._number("<B")
        read = self._readers.get(chr(byte & ~_IS_SHARED))
        if read is None or deep > _DEEPEST:
            raise _MarshalError(f"byte {start:,}: no value that a profile has")
        self._count += 1
        if byte & _IS_SHARED:
            self._shared.append(([], 0))  # none of a profile's values holds itself
        value = read(deep + 1)
        if byte & _IS_SHARED:
            self._shared[number] = value, self._count - count
        return value

    def _known(self, number: int) -> _Value:
        value, count = self._shared[number] if number < len(self._shared) else (None, _MOST_BYTES)
        self._count += count
        if self._count > _MOST_BYTES:
            raise _MarshalError(f"byte {self._place:,}: a value that is unknown, or one too many")
        return value

    def _take(self, size: int) -> bytes:
        found = self._content[self._place : self._place + size]
        if len(found) < size:
            raise _MarshalError(f"byte {self._place:,}: it breaks off")
        self._place += size
        return found

    def _number(self, code: str) -> int:
        return struct.unpack(code, self._take(struct.calcsize(code)))[0]

    def _long(self) -> int:
        size = self._number("<i")
        if abs(size) > _MOST_DIGITS:
            raise _MarshalError(f"byte {self._place:,}: a number that is too large")
        value = sum(self._number("<H") << (15 * place) for place in range(abs(size)))
        return -value if size < 0 else value

    def _text(self, size: str) -> str:
        return self._take(self._number(size)).decode("utf-8", "replace")

    def _tuple(self, size: int, deep: int) -> tuple[_Value, ...]:
        return tuple(self.value(deep) for _ in range(size))

    def _items(self, deep: int) -> list[tuple[_Value, _Value]]:
        found: list[tuple[_Value, _Value]] = []
        while self._content[self._place : self._place + 1] != b"0":
            found.append((self.value(deep), self.value(deep)))
        self._place += 1
        return found
