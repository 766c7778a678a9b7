"""What tests of traces look at: slices as plain rows, and files that are damaged."""

import random

from benchyard.traces.model import Trace

#: Thread, name, start and duration, in nanoseconds.
Row = tuple[str, str, int, int]


def rows(trace: Trace) -> list[Row]:
    """Return the slices, sorted."""
    slices = trace.slices
    threads = [trace.tracks[int(number)].thread for number in slices.track]
    names = [trace.names[int(number)] for number in slices.name]
    times = map(int, slices.start), map(int, slices.duration)
    return sorted(zip(threads, names, *times, strict=True))


def damaged(content: bytes, rng: random.Random) -> bytes:
    """Return a file of which some bytes are others, are missing or were put in between."""
    cut = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(cut)) if cut else 0
        match rng.randrange(4):
            case 0:
                cut[place : place + 1] = rng.randbytes(1)
            case 1:
                del cut[place:]
            case 2:
                del cut[place : place + rng.randint(1, 30)]
            case _:
                cut[place:place] = bytes(rng.choices(b'{}[]",:\\\x00\xff', k=rng.randint(1, 9)))
    return bytes(cut)
