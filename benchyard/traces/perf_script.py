"""What Linux' ``perf script`` prints.

Source: github.com/torvalds/linux, tools/perf/builtin-script.c; names of what has no symbol as in
github.com/brendangregg/FlameGraph, stackcollapse-perf.pl.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from benchyard.traces.building import TraceBuilder
from benchyard.traces.model import SAMPLES, TIME, Trace, Track, Unit
from benchyard.traces.stacks import add_stacks, chosen

#: Command, thread or process/thread, processor, time, period, event; then text or a frame.
_EVENT = re.compile(
    r"\s*(\S.{0,63}?)\s+(?:(-?[0-9]{1,10})/)?(-?[0-9]{1,10})(?:\s+\[[0-9]{3,9}\])?"
    r"\s+[0-9]{1,12}\.[0-9]{6,9}:\s+(?:([0-9]{1,18})\s+)?(\S{1,256}?):(?:\s+(.*))?"
)
#: Address, symbol with its offset, file; without ambiguity, so that no line takes long.
_FRAME = re.compile(r"\s*[0-9a-f]{1,16} (.*) \(([^()]*(?: \(deleted\))?)\)")
_OFFSET = re.compile(r"\+0x[0-9a-f]{1,16}\Z")
#: Events whose periods are nanoseconds; others count something.
_CLOCKS = ("cpu-clock", "task-clock")


def looks_like_perf_script(head: str) -> bool:
    """Tell whether a file that begins so is one."""
    lines = (line for line in head.split("\n") if line.strip() and not line.startswith("#"))
    return _EVENT.fullmatch(next(lines, "").rstrip()) is not None


def read_perf_script(content: bytes, where: str, kind: str = "") -> Trace:
    """Read it; each thread is a track, on which equal stacks are drawn as one.

    Args:
        content: Of the file, unpacked.
        where: Its name, for messages.
        kind: Which event's samples to read; the first one's without it.

    Raises:
        InputError: If it has no such event.
    """
    builder = TraceBuilder()
    events: dict[str, dict[Track, Counter[tuple[str, ...]]]] = {}
    unit, factor = SAMPLES, SAMPLES.scale
    for sample in _samples(content.decode("utf-8", "replace"), builder):
        kind = kind or sample.event
        if sample.period and sample.event == kind:
            base = kind.split(":")[0]
            unit, factor = (TIME, 1) if base in _CLOCKS else (Unit(kind, 1), 1)
        stacks = events.setdefault(sample.event, defaultdict(Counter))[sample.thread]
        stacks[tuple(reversed(sample.frames))] += int(sample.period or 1)
    if not content.endswith(b"\n"):
        builder.lose("it breaks off within a line", "its end")
    kind = chosen(kind, [*events], f"{where} has no event")
    for thread, stacks in events[kind].items():
        track = builder.track(thread.process, thread.thread)
        add_stacks(builder, track, ((one, n * factor) for one, n in sorted(stacks.items())))
    return builder.sampled(unit, (one for one in events if one != kind))


@dataclass(slots=True)
class _Sample:
    """An event with its frames, the innermost first."""

    thread: Track
    event: str
    period: str
    frames: list[str] = field(default_factory=list[str])


def _samples(text: str, builder: TraceBuilder) -> Iterator[_Sample]:
    sample = None
    for number, line in enumerate(text.split("\n"), 1):
        if found := _EVENT.fullmatch(line.rstrip()):
            if sample:
                yield sample
            command, pid, tid, period, event, rest = found.groups(default="")
            sample = _Sample(Track(f"process {pid or tid}", f"{command} {tid}"), event, period)
            line = rest  # noqa: PLW2901 - a sample without callers has its frame here
        if frame := _FRAME.fullmatch(line.rstrip()):
            if sample:
                sample.frames.append(_named(*frame.groups()))
        elif line.strip() and not found and not line.startswith("#"):
            builder.lose("no event and no frame", f"line {number:,}")
    if sample:
        yield sample


def _named(symbol: str, file: str) -> str:
    name = _OFFSET.sub("", symbol)
    known = file.rpartition("/")[2].strip("[]")
    return f"[{known}]" if name == "[unknown]" and known else name
