"""Callgrind's profiles, which Xdebug and others write too.

Source: valgrind.org/docs/manual/cl-format.html.
"""

import re

from benchyard.traces.building import TraceBuilder
from benchyard.traces.call_graphs import CallGraph
from benchyard.traces.model import BYTES, TIME, Trace, Unit
from benchyard.traces.stacks import chosen

_START = re.compile(
    r"# callgrind format\s|version: ?1\s+creator:[^\n]*\n\s*(?:cmd|pid|part|positions|events): ?"
    r"|events:[^\n]*\n\s*(?:ob|fl|fn)="
)
_HEADER = re.compile(r"([a-z]+): ?(.*)")
_NAMED = re.compile(r"(c?fn)=\s*(\([0-9]+\))?\s*(.*)")
_COSTS = re.compile(r"(?:(?:[+-]?[0-9]+|0x[0-9a-f]+|\*)(?:\s+|$))+")
_NUMBER = re.compile(r"[0-9]{1,18}")
#: What changes no costs: files and objects, and jumps, whose lines have no cost behind them.
_OTHER = re.compile(r"(?:ob|fl|fi|fe|cob|cfi|cfl|jump|jcnd|jfi|jfn)=.*")
#: Events that are times or sizes, and how much of the trace's unit each is; others count.
_UNITS = {
    "Time_(10ns)": (TIME, 10),
    "Nanoseconds": (TIME, 1),
    "Microseconds": (TIME, 1_000),
    "Memory_(bytes)": (BYTES, 1),
}


def looks_like_callgrind(head: str) -> bool:
    """Tell whether a file that begins so is one."""
    return _START.match(head) is not None


def read_callgrind(content: bytes, where: str, kind: str = "") -> Trace:
    """Read a profile, as a tree of calls that lie one behind the other.

    Args:
        content: Of the file, unpacked.
        where: Its name, for messages.
        kind: Which event's costs to read; the first one's without it.

    Raises:
        InputError: If it names no event, or not this one.
    """
    reader = _Reader(kind)
    for number, line in enumerate(content.decode("utf-8", "replace").split("\n"), 1):
        reader.take(line.strip(), f"line {number:,}")
    chosen(reader.event, reader.events, f"{where} has no event")
    unit, factor = reader.unit
    if sum(reader.graph.own.values()) < reader.summary * factor:
        reader.builder.lose("it breaks off: its costs are less than its summary", "its end")
    builder = reader.builder
    reader.graph.draw(builder, builder.track("profile", reader.event), reader.name)
    return builder.sampled(unit, (one for one in reader.events if one != reader.event))


class _Reader:
    def __init__(self, kind: str) -> None:
        self.builder = TraceBuilder()
        self.graph = CallGraph[str]()
        self.event = kind
        self.events: list[str] = []
        self.summary = 0
        self._positions = 1
        # Names that were given a number, which stands for them later.
        self._names: dict[str, str] = {}
        # What costs, and what it calls.
        self._functions = {"fn": "", "cfn": ""}
        self._is_call = False

    @property
    def unit(self) -> tuple[Unit, int]:
        """What costs are measured in, and how much of a duration in it one is."""
        return _UNITS.get(self.event, (Unit(self.event, 1), 1))

    def name(self, function: str) -> str:
        return self._names.get(function, function) or "(unknown)"

    def take(self, line: str, where: str) -> None:
        if not line or line.startswith("#") or _OTHER.fullmatch(line):
            return
        if _COSTS.fullmatch(line):
            self._cost(line.split(), where)
        elif line.startswith("calls="):
            self._is_call = True
        elif named := _NAMED.fullmatch(line):
            role, number, name = named.groups(default="")
            if number and name:
                self._names.setdefault(number, name)
            self._functions[role] = number or name
        elif header := _HEADER.fullmatch(line):
            self._header(header[1], header[2].split())
        else:
            self.builder.lose("no line of the format", where)

    def _header(self, key: str, values: list[str]) -> None:
        if key == "events":
            self.events = values
            self.event = self.event or next(iter(values), "")
        elif key == "positions":
            self._positions = len(values)
        elif key == "summary":
            self.summary += self._number(values) or 0

    def _number(self, columns: list[str], positions: int = 0) -> int | None:
        """Return the cost of the chosen event; None if its column is not a number."""
        column = positions + (self.events.index(self.event) if self.event in self.events else 0)
        said = columns[column] if column < len(columns) else "0"  # zeros at the end are left out
        return int(said) if _NUMBER.fullmatch(said) else None

    def _cost(self, columns: list[str], where: str) -> None:
        caller = self._functions["fn"]
        cost = self._number(columns, self._positions)
        if cost is None:
            self.builder.lose("a cost that is negative or too large", where)
        elif self._is_call:
            self.graph.call(caller, self._functions["cfn"], cost * self.unit[1])
        else:
            self.graph.own[caller] += cost * self.unit[1]
        self._is_call = False
