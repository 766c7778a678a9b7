"""Stacks and how often each was seen, as slices: what profilers that sample write."""

from collections.abc import Iterable, Sequence
from itertools import takewhile

from benchyard.traces.building import TraceBuilder
from benchyard.traces.model import Trace

#: A sample without a time is drawn as one millisecond.
SAMPLE_NS = 1_000_000
_MOST_NS = 1 << 62


def add_stacks(
    builder: TraceBuilder, track: int, samples: Iterable[tuple[Sequence[str], int]], start: int = 0
) -> None:
    """Add sampled stacks to a track, one behind the other.

    What two neighbours have in common, from the root on, is one slice.

    Args:
        builder: The trace is made here.
        track: Its track for them.
        samples: Each a stack, root first, and its time in nanoseconds.
        start: Of the first one, in nanoseconds.
    """
    names: list[str] = []
    begun: list[int] = []
    now = start
    for place, (stack, time) in enumerate(samples, 1):
        if now + time > _MOST_NS:
            builder.lose("times add up to more than 146 years", f"stack {place:,}")
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
    line = next((line for line in head.splitlines() if line.strip()), "")
    return line.strip().rpartition(" ")[2].isdecimal() and " " in line.strip()


def read_collapsed(text: str) -> Trace:
    """Read collapsed stacks, as Brendan Gregg's scripts, py-spy and async-profiler write them.

    Sorted, so that equal beginnings are drawn as one; a sample is one millisecond.
    """
    builder = TraceBuilder()
    samples: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        frames, _, count = line.strip().rpartition(" ")
        if frames and count.isdecimal() and len(count) < len(str(SAMPLE_NS**2)):
            stack = tuple(frames.split(";"))
            samples[stack] = samples.get(stack, 0) + int(count)
        elif line.strip():
            builder.lose("no stack and count", f"line {number:,}")
    track = builder.track("profile", "samples")
    add_stacks(builder, track, ((one, n * SAMPLE_NS) for one, n in sorted(samples.items())))
    return builder.trace()
