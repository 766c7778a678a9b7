"""Dumps of Python's cProfile and profile.

Source: github.com/python/cpython, Lib/cProfile.py, Lib/profile.py and Lib/pstats.py.
"""

import re
from dataclasses import replace
from typing import Annotated

import msgspec

from benchyard.core.errors import InputError
from benchyard.traces.building import TraceBuilder
from benchyard.traces.call_graphs import CallGraph
from benchyard.traces.marshalled import MarshalError, Unmarshalling
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
        value = Unmarshalling(content).value()
        rows = msgspec.convert(value, type=list[tuple[_Function, _Row]])
    except (MarshalError, msgspec.ValidationError) as error:
        raise InputError(f"{where}: not a dump of cProfile: {error}") from error
    graph, builder = CallGraph[_Function](), TraceBuilder()
    for function, row in rows:
        if row[2] < 0:
            builder.lose("a negative time; taken as none", _named(function))
        _add(graph, function, row)
    graph.draw(builder, builder.track("profile", "calls"), _named)
    return replace(builder.trace(), unit=replace(TIME, sampled=True))


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
