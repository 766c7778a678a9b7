"""Speedscope's format: profiles of sampled stacks, or of opened and closed frames.

Source: speedscope.app/file-format-schema.json.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

import msgspec

from benchyard.core.errors import InputError
from benchyard.traces.building import TraceBuilder
from benchyard.traces.model import Trace
from benchyard.traces.stacks import SAMPLE_NS, add_stacks

_NS = {
    "nanoseconds": 1.0,
    "microseconds": 1e3,
    "milliseconds": 1e6,
    "seconds": 1e9,
}
Index = Annotated[int, msgspec.Meta(ge=0)]
#: Nanoseconds; sums of some stay below 2^63.
_MOST_NS = 4e18


class _Frame(msgspec.Struct):
    name: str


class _Shared(msgspec.Struct):
    frames: list[_Frame]


class _Moment(msgspec.Struct, gc=False):
    type: Literal["O", "C"]
    frame: Index
    at: float


class _Profile(msgspec.Struct):
    type: Literal["sampled", "evented"]
    name: str = ""
    unit: str = "none"
    startValue: float = 0.0  # noqa: N815 - as it stands in the file
    samples: list[list[Index]] = []
    weights: list[float] = []
    events: list[_Moment] = []


class _File(msgspec.Struct):
    shared: _Shared
    profiles: list[_Profile]


def read_speedscope(content: bytes, where: str) -> Trace:
    """Read a file; each of its profiles is a track. A sample without a unit is a millisecond.

    Args:
        content: Of the file, unpacked.
        where: Its name, for messages.

    Raises:
        InputError: If it is no such file.
    """
    try:
        file = msgspec.json.decode(content, type=_File)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise InputError(f"{where}: not in Speedscope's format: {error}") from error
    builder = TraceBuilder()
    names = [frame.name for frame in file.shared.frames]
    for number, profile in enumerate(file.profiles, 1):
        track = builder.track("profile", _title(profile, number, file.profiles))
        _Reader(builder, track, names, profile, f"profile {number}").read()
    return builder.trace()


def _title(profile: _Profile, number: int, profiles: Sequence[_Profile]) -> str:
    name = profile.name or f"profile {number}"
    shared = sum(one.name == profile.name for one in profiles) > 1
    return f"{name} {number}" if profile.name and shared else name


class _Reader:
    def __init__(
        self, builder: TraceBuilder, track: int, names: Sequence[str], profile: _Profile, where: str
    ) -> None:
        self._builder = builder
        self._track = track
        self._names = names
        self._profile = profile
        self._where = where
        self._factor = _NS.get(profile.unit, SAMPLE_NS)

    def read(self) -> None:
        if self._profile.type == "sampled":
            start = self._ns(self._profile.startValue) or 0
            add_stacks(self._builder, self._track, self._samples(), start)
        else:
            self._events()

    def _samples(self) -> Iterator[tuple[Sequence[str], int]]:
        weights = self._profile.weights or [1.0] * len(self._profile.samples)
        if len(weights) != len(self._profile.samples):
            self._lose("samples and weights differ in number", "its end")
        for place, (stack, weight) in enumerate(
            zip(self._profile.samples, weights, strict=False), 1
        ):
            time = self._ns(weight)
            if time is None or time < 0:
                self._lose("a weight is out of range", f"sample {place:,}")
            elif any(frame >= len(self._names) for frame in stack):
                self._lose("a frame that the file does not list", f"sample {place:,}")
            else:
                yield [self._names[frame] for frame in stack], time

    def _events(self) -> None:
        waiting: list[tuple[int, int, int]] = []
        last = 0
        for place, moment in enumerate(self._profile.events, 1):
            time = self._ns(moment.at)
            if time is None:
                self._lose("a time is out of range", f"event {place:,}")
            elif moment.frame >= len(self._names):
                self._lose("a frame that the file does not list", f"event {place:,}")
            elif moment.type == "O":
                begun = self._builder.begin(self._track, self._names[moment.frame], time)
                waiting.append((moment.frame, time, begun))
            elif waiting and waiting[-1][0] == moment.frame and waiting[-1][1] <= time:
                self._builder.end(waiting.pop()[2], time)
            else:
                self._lose("closed and not open", f"event {place:,}")
            last = max(last, time or 0)
        for _, start, begun in reversed(waiting):
            self._lose("opened and never closed; taken to last until the end", "its end")
            self._builder.end(begun, max(last, start))

    def _ns(self, value: float) -> int | None:
        time: Any = value * self._factor
        return round(time) if abs(time) < _MOST_NS else None

    def _lose(self, reason: str, where: str) -> None:
        self._builder.lose(reason, f"{self._where}, {where}")
