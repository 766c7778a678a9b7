"""Stacks and how often each was seen, as slices: what profilers that sample write."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import takewhile

from benchyard.core.errors import InputError
from benchyard.traces.building import TraceBuilder
from benchyard.traces.model import MOST_NS, SAMPLES, Trace

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
