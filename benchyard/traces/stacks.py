"""Profiles of stacks that were sampled: collapsed stacks, and pprof's.

Source of pprof: github.com/google/pprof, proto/profile.proto.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import takewhile

from benchyard.core.errors import InputError
from benchyard.traces.building import TraceBuilder
from benchyard.traces.model import BYTES, MOST_NS, SAMPLES, TIME, Trace, Unit
from benchyard.traces.protobuf import WireError, fields, packed, signed

_LINE = re.compile(r"(.*\S)\s+([0-9]{1,18}(?:\.[0-9]{0,18})?)")


def add_stacks(
    builder: TraceBuilder, track: int, samples: Iterable[tuple[Sequence[str], int]], start: int = 0
) -> None:
    """Add sampled stacks to a track, one behind the other.

    What two neighbours have in common, from the root on, is one slice.

    Args:
        builder: The trace is made here.
        track: Its track for them.
        samples: Each a stack, root first, and its value, a duration in the trace's unit.
        start: Of the first one, in nanoseconds.
    """
    names: list[str] = []
    begun: list[int] = []
    now = start
    for place, (stack, time) in enumerate(samples, 1):
        if now + time >= MOST_NS:
            builder.lose("values add up to more than can be counted", f"stack {place:,}")
            continue
        same = sum(1 for _ in takewhile(_equal, zip(names, stack, strict=False)))
        for one in begun[same:]:
            builder.end(one, now)
        begun[same:] = [builder.begin(track, name, now) for name in stack[same:]]
        names[same:] = stack[same:]
        now += time
    for one in begun:
        builder.end(one, now)


def _equal(pair: tuple[str, str]) -> bool:
    return pair[0] == pair[1]


def looks_collapsed(head: str) -> bool:
    """Tell whether a file that begins so holds collapsed stacks: ``a;b;c 12`` a line."""
    # py-spy writes the count of samples without a stack first, alone on its line.
    first = next((line for _, line in _lines(head) if not line.isdecimal()), "")
    return _LINE.fullmatch(first) is not None


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are neither empty nor a comment, with their numbers."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.startswith("#"):
            yield number, line.strip()


def read_collapsed(content: bytes, where: str) -> Trace:
    """Read collapsed stacks, as Brendan Gregg's scripts, py-spy and async-profiler write them.

    Sorted, so that equal beginnings are drawn as one.

    Args:
        content: Of the file, unpacked.
        where: Its name, for messages.

    Raises:
        InputError: If it is no text.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: not collapsed stacks: {error}") from error
    builder = TraceBuilder()
    samples: dict[tuple[str, ...], Decimal] = {}
    for number, line in _lines(text):
        if found := _LINE.fullmatch(line):
            stack = tuple(found[1].split(";"))
            samples[stack] = samples.get(stack, Decimal()) + Decimal(found[2])
        else:
            builder.lose("no stack and count", f"line {number:,}")
    track = builder.track("profile", "samples")
    values = ((stack, round(count * SAMPLES.scale)) for stack, count in sorted(samples.items()))
    add_stacks(builder, track, values)
    return replace(builder.trace(), unit=replace(SAMPLES, sampled=True))


# Numbers of fields in Profile, and in the messages that it holds.
_SAMPLE_TYPE, _SAMPLE, _LOCATION, _FUNCTION, _STRING, _TIME, _DEFAULT = 1, 2, 4, 5, 6, 9, 14
_TYPE, _UNIT = 1, 2
_LOCATIONS, _VALUES = 1, 2
_ID, _ADDRESS, _OF_LINE = 1, 3, 4
_LINE_FUNCTION = 1
_FUNCTION_NAME = 2
#: So many nanoseconds or bytes is one of a unit; other units count something.
_NS = {"nanoseconds": 1, "microseconds": 1_000, "milliseconds": 1_000_000, "seconds": 10**9}
_BYTES = {"bytes": 1, "kilobytes": 1 << 10, "megabytes": 1 << 20, "gigabytes": 1 << 30}


@dataclass(slots=True)
class _Tables:
    texts: list[str] = field(default_factory=list[str])
    types: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    functions: dict[int, int] = field(default_factory=dict[int, int])
    #: Of each place in the program its address and its functions, the innermost first.
    locations: dict[int, tuple[int, list[int]]] = field(
        default_factory=dict[int, tuple[int, list[int]]]
    )
    samples: list[memoryview] = field(default_factory=list[memoryview])
    time: int = 0
    default: int = 0

    def text(self, number: int) -> str:
        return self.texts[number] if number < len(self.texts) else ""

    def frames(self, location: int) -> list[str]:
        """Return the names at a place, the outermost first."""
        address, functions = self.locations.get(location, (0, []))
        names = [self.text(self.functions.get(one, 0)) for one in reversed(functions)]
        return [name or f"0x{address:x}" for name in names] or [f"0x{address:x}"]


def read_pprof(content: bytes, where: str, kind: str = "") -> Trace:
    """Read a profile. Equal stacks are drawn as one.

    Args:
        content: Of the file, unpacked.
        where: Its name, for messages.
        kind: Which of its sample types to read; without it the one that the file calls its default,
            else the last, as pprof itself does.

    Raises:
        InputError: If it is no such file.
    """
    tables, builder = _Tables(), TraceBuilder()
    try:
        try:
            for number, value in fields(memoryview(content)):
                _take(tables, number, value)
        except WireError as error:
            if not tables.texts:
                raise
            # All write texts behind the samples: names may be missing then, but no value is.
            builder.lose("the file breaks within its texts", str(error))
        if not tables.types or not tables.texts:
            raise InputError(f"{where}: not a pprof profile: it names no kind of value")
        return _trace(tables, builder, where, kind)
    except WireError as error:
        raise InputError(f"{where}: not a pprof profile: {error}") from error


def _take(tables: _Tables, number: int, value: int | memoryview) -> None:
    if isinstance(value, int):
        tables.time = signed(value) if number == _TIME else tables.time
        tables.default = tables.default or (value if number == _DEFAULT else 0)
    elif number == _STRING:
        tables.texts.append(bytes(value).decode("utf-8", "replace"))
    elif number == _SAMPLE:
        tables.samples.append(value)
    elif number == _SAMPLE_TYPE:
        known = _numbers(value)
        tables.types.append((known.get(_TYPE, 0), known.get(_UNIT, 0)))
    elif number == _FUNCTION:
        known = _numbers(value)
        tables.functions[known.get(_ID, 0)] = known.get(_FUNCTION_NAME, 0)
    elif number == _LOCATION:
        known = _numbers(value)
        tables.locations[known.get(_ID, 0)] = (known.get(_ADDRESS, 0), [*_functions(value)])


def _numbers(message: memoryview) -> dict[int, int]:
    return {number: value for number, value in fields(message) if isinstance(value, int)}


def _functions(location: memoryview) -> Iterator[int]:
    for number, value in fields(location):
        if number == _OF_LINE and not isinstance(value, int):
            yield _numbers(value).get(_LINE_FUNCTION, 0)


def _trace(tables: _Tables, builder: TraceBuilder, where: str, kind: str) -> Trace:
    builder.zero = tables.time if 0 < tables.time < MOST_NS else None
    names = [tables.text(name) for name, _ in tables.types]
    if kind and kind not in names:
        raise InputError(f"{where} has no sample type {kind!r}; it has {', '.join(names)}")
    name = kind or tables.text(tables.default)
    which = names.index(name) if name in names else len(names) - 1
    unit, factor = _unit(tables.text(tables.types[which][1]))
    stacks: dict[tuple[str, ...], int] = {}
    for place, sample in enumerate(tables.samples, 1):
        stack, values = _sample(tables, sample)
        value = values[which] * factor if which < len(values) else -1
        if 0 <= value < MOST_NS:
            stacks[stack] = stacks.get(stack, 0) + value
        else:
            builder.lose(f"no value of {names[which]}", f"sample {place:,}")
    add_stacks(builder, builder.track("profile", names[which]), sorted(stacks.items()))
    return replace(builder.trace(), unit=replace(unit, sampled=True))


def _unit(name: str) -> tuple[Unit, int]:
    """Return a unit, and how much of a duration in it one of the file's unit is."""
    if name in _NS or name in _BYTES:
        return (TIME, _NS[name]) if name in _NS else (BYTES, _BYTES[name])
    return SAMPLES, SAMPLES.scale


def _sample(tables: _Tables, sample: memoryview) -> tuple[tuple[str, ...], list[int]]:
    locations: list[int] = []
    values: list[int] = []
    for number, value in fields(sample):
        if number == _LOCATIONS:
            locations.extend(packed(value))
        elif number == _VALUES:
            values.extend(map(signed, packed(value)))
    # The leaf comes first in the file.
    stack = tuple(name for one in reversed(locations) for name in tables.frames(one))
    return stack, values
