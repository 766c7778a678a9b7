"""Profiles of stacks that were sampled: collapsed stacks, and pprof's.

Source of pprof: github.com/google/pprof, proto/profile.proto.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple, TypeVar

from benchyard.core.errors import InputError
from benchyard.traces.building import TraceBuilder
from benchyard.traces.model import BYTES, MOST_NS, SAMPLES, TIME, Trace, Unit
from benchyard.traces.protobuf import (
    Value,
    WireError,
    each,
    fields,
    integer,
    integers,
    message,
    texts,
)

_LINE = re.compile(r"(.*\S)\s+([0-9]{1,18}(?:\.[0-9]{0,18})?)")

#: Stacks of a tree: those that are remembered, and the frames of one at most.
_REMEMBERED, _DEEPEST = 1 << 12, 5_000

S = TypeVar("S")
#: What tells the frames of a stack, root first.
Frames = Callable[[S], Sequence[str]]


def add_stacks(
    builder: TraceBuilder, track: int, samples: Iterable[tuple[Sequence[str], int]]
) -> None:
    """Add sampled stacks to a track, one behind the other.

    What two neighbours have in common, from the root on, is one slice.

    Args:
        builder: The trace is made here.
        track: Its track for them.
        samples: Each a stack, root first, and its value, a duration in the trace's unit.
    """
    names: list[str] = []
    begun: list[int] = []
    now = 0
    for place, (stack, time) in enumerate(samples, 1):
        if now + time >= MOST_NS:
            builder.lose("values add up to more than can be counted", f"stack {place:,}")
            continue
        pairs = zip(names, stack, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        for one in begun[same:]:
            builder.end(one, now)
        begun[same:] = [builder.begin(track, name, now) for name in stack[same:]]
        names[same:] = stack[same:]
        now += time
    for one in begun:
        builder.end(one, now)


def add_samples(
    builder: TraceBuilder,
    track: int,
    samples: Iterable[tuple[int, S, int | None]],
    frames: Frames[S],
    listed: str,
    where: str = "",
) -> None:
    """Add samples of stacks that a file lists by themselves; those that it does not are empty.

    Args:
        builder: The trace is made here.
        track: Its track for them.
        samples: Of each how long nothing was sampled before it, what says its stack, and its
            value, None if it is out of range.
        frames: Returns a stack, root first, or raises a LookupError.
        listed: What the file calls that which it lists, for messages.
        where: The samples are, for messages.
    """

    def known() -> Iterator[tuple[Sequence[str], int]]:
        for place, (idle, stack, value) in enumerate(samples, 1):
            at = f"{where}, sample {place:,}" if where else f"sample {place:,}"
            if idle:
                yield (), idle
            if value is None or value < 0:
                builder.lose("a weight is out of range", at)
                continue
            try:
                found = frames(stack)
            except LookupError:
                builder.lose(f"a {listed} that the file does not list", at)
                found = ()
            yield found, value

    add_stacks(builder, track, known())


def chosen(kind: str, known: Sequence[str], refusal: str) -> str:
    """Return which kind of values is read: the first one if none is named.

    Raises:
        InputError: If the file does not have it; the text begins with the refusal.
    """
    if (kind and kind not in known) or not known:
        raise InputError(f"{refusal} {kind!r}; it has {', '.join(known) or 'none'}")
    return kind or known[0]


def stacks_of(
    frames: Mapping[int, str], callers: Mapping[int, int], where: str
) -> Frames[int | None]:
    """Return what tells the frames of a stack, root first, where stacks are kept as a tree.

    Args:
        frames: The last frame of each stack.
        callers: The stack without it, of each that has another frame.
        where: The file's name, for messages.

    Returns:
        A function of a stack; of None, an empty one. It raises an InputError if a stack has no
        end, or KeyError if it is unknown.
    """

    @lru_cache(_REMEMBERED)
    def found(stack: int | None) -> tuple[str, ...]:
        names: list[str] = []
        while stack is not None:
            names.append(frames[stack])
            stack = callers.get(stack)
            if len(names) > _DEEPEST:
                raise InputError(f"{where}: a stack has more than {_DEEPEST:,} frames")
        return tuple(reversed(names))

    return found


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
    return builder.sampled(SAMPLES)


# Numbers of fields in Profile.
_SAMPLE_TYPE, _SAMPLE, _LOCATION, _FUNCTION, _STRING, _TIME, _DEFAULT = 1, 2, 4, 5, 6, 9, 14
#: So many nanoseconds or bytes is one of a unit; other units count something.
_NS = {"nanoseconds": 1, "microseconds": 1_000, "milliseconds": 1_000_000, "seconds": 10**9}
_BYTES = {"bytes": 1, "kilobytes": 1 << 10, "megabytes": 1 << 20, "gigabytes": 1 << 30}
_UNSIGNED = (1 << 64) - 1


class _Pair(NamedTuple):
    """Of a sample type the texts of its name and unit; of a function its id and its name's text."""

    first: int
    second: int


class _Location(NamedTuple):
    """A place in the program, with its functions, the innermost first."""

    id: int
    address: int
    functions: tuple[int, ...]

    def frames(self, names: Mapping[int, str]) -> list[str]:
        """Return the names at the place, the outermost first."""
        address = f"0x{self.address & _UNSIGNED:x}"
        return [names.get(one) or address for one in reversed(self.functions)] or [address]


class _Sample(NamedTuple):
    """A stack, the leaf first, and a value of each type."""

    locations: tuple[int, ...]
    values: tuple[int, ...]


_pair = message(_Pair, (1, integer), (2, integer))
_location = message(_Location, (1, integer), (3, integer), (4, each(message(int, (1, integer)))))
_sample = message(_Sample, (1, integers), (2, integers))


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
    found, builder = defaultdict[int, list[Value]](list), TraceBuilder()
    try:
        try:
            for number, value in fields(memoryview(content)):
                found[number].append(value)
        except WireError as error:
            if not found[_STRING]:
                raise
            # All write texts behind the samples: names may be missing then, but no value is.
            builder.lose("the file breaks within its texts", str(error))
        if not found[_SAMPLE_TYPE] or not found[_STRING]:
            raise InputError(f"{where}: not a pprof profile: it names no kind of value")
        return _trace(found, builder, where, kind)
    except WireError as error:
        raise InputError(f"{where}: not a pprof profile: {error}") from error


def _trace(
    profile: Mapping[int, Sequence[Value]], builder: TraceBuilder, where: str, kind: str
) -> Trace:
    time = integer(profile[_TIME])
    builder.zero = time if 0 < time < MOST_NS else None
    said = dict(enumerate(texts(profile[_STRING])))
    types = list(map(_pair, profile[_SAMPLE_TYPE]))
    names = [said.get(one.first, "") for one in types]
    chosen(kind, names, f"{where} has no sample type")
    # The first: where a file breaks, its rest may look like another.
    name = kind or said.get(integer(profile[_DEFAULT][:1]), "")
    which = names.index(name) if name in names else len(names) - 1
    unit, factor = _unit(said.get(types[which].second, ""))
    functions = {id_: said.get(text, "") for id_, text in map(_pair, profile[_FUNCTION])}
    frames = {one.id: one.frames(functions) for one in map(_location, profile[_LOCATION])}
    stacks: dict[tuple[str, ...], int] = {}
    for place, (locations, values) in enumerate(map(_sample, profile[_SAMPLE]), 1):
        value = values[which] * factor if which < len(values) else -1
        if 0 <= value < MOST_NS:
            stack = tuple(name for one in reversed(locations) for name in frames.get(one, ["0x0"]))
            stacks[stack] = stacks.get(stack, 0) + value
        else:
            builder.lose(f"no value of {names[which]}", f"sample {place:,}")
    add_stacks(builder, builder.track("profile", names[which]), sorted(stacks.items()))
    return builder.sampled(unit, (one for place, one in enumerate(names) if place != which))


def _unit(name: str) -> tuple[Unit, int]:
    """Return a unit, and how much of a duration in it one of the file's unit is."""
    if name in _NS or name in _BYTES:
        return (TIME, _NS[name]) if name in _NS else (BYTES, _BYTES[name])
    return SAMPLES, SAMPLES.scale
