"""Speedscope's format: profiles of sampled stacks, or of opened and closed frames.

Source: speedscope.app/file-format-schema.json.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Annotated, Literal

import msgspec

from benchyard.core.errors import InputError
from benchyard.core.wording import quote
from benchyard.traces.building import OpenSlices, TraceBuilder
from benchyard.traces.model import BYTES, MOST_NS, SAMPLES, TIME, Trace, Unit
from benchyard.traces.stacks import add_stacks

_NS = {"nanoseconds": 1, "microseconds": 10**3, "milliseconds": 10**6, "seconds": 10**9}
Index = Annotated[int, msgspec.Meta(ge=0)]


class _Frame(msgspec.Struct):
    name: str


class _Shared(msgspec.Struct):
    frames: list[_Frame]


class _Moment(msgspec.Struct, gc=False):
    type: Literal["O", "C"]
    frame: Index
    at: Decimal


class _Profile(msgspec.Struct):
    type: Literal["sampled", "evented"]
    name: str = ""
    unit: str = "none"
    startValue: Decimal = Decimal()  # noqa: N815 - as it stands in the file
    samples: list[list[Index]] = []
    weights: list[Decimal] = []
    events: list[_Moment] = []

    @property
    def measured_in(self) -> Unit:
        return TIME if self.unit in _NS else BYTES if self.unit == "bytes" else SAMPLES


class _File(msgspec.Struct):
    shared: _Shared
    profiles: list[_Profile]


def read_speedscope(content: bytes, where: str, kind: str = "") -> Trace:
    """Read a file; each of its profiles is a track.

    Those that are measured in another unit are counted as not read.

    Args:
        content: Of the file, unpacked.
        where: Its name, for messages.
        kind: The unit, as the file says it, of profiles to read; the first one's without it.

    Raises:
        InputError: If it is no such file.
    """
    try:
        file = msgspec.json.decode(content, type=_File)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise InputError(f"{where}: not in Speedscope's format: {error}") from error
    builder = TraceBuilder()
    names = [frame.name for frame in file.shared.frames]
    units = {one.unit: one.measured_in for one in file.profiles}
    if kind and kind not in units:
        raise InputError(f"{where} has no profile of type {kind!r}; it has {', '.join(units)}")
    unit = units[kind] if kind else next(iter(units.values()), TIME)
    for number, profile in enumerate(file.profiles, 1):
        if profile.measured_in == unit:
            track = builder.track("profile", _title(profile, number, file.profiles))
            _Reader(builder, track, names, profile, f"profile {number}").read()
        else:
            why = (
                f"a profile in {quote(profile.unit)}, which is not added to others: --type shows it"
            )
            builder.lose(why, f"profile {number}")
    sampled = any(one.type == "sampled" and one.measured_in == unit for one in file.profiles)
    return replace(builder.trace(), unit=replace(unit, sampled=sampled))


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
        self._factor = _NS.get(profile.unit, profile.measured_in.scale)

    def read(self) -> None:
        if self._profile.type == "sampled":
            start = self._ns(self._profile.startValue) or 0
            add_stacks(self._builder, self._track, self._samples(), start)
        else:
            self._events()

    def _samples(self) -> Iterator[tuple[Sequence[str], int]]:
        weights = self._profile.weights or [Decimal(1)] * len(self._profile.samples)
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
        waiting: OpenSlices[tuple[int, int]] = OpenSlices()
        last = 0
        for place, moment in enumerate(self._profile.events, 1):
            time = self._ns(moment.at)
            if time is None:
                self._lose("a time is out of range", f"event {place:,}")
            elif moment.frame >= len(self._names):
                self._lose("a frame that the file does not list", f"event {place:,}")
            elif moment.type == "O":
                begun = self._builder.begin(self._track, self._names[moment.frame], time)
                waiting.begin(moment.frame, (time, begun))
            elif closed := waiting.end(moment.frame):
                self._close(closed[:-1], time, "closed with its caller", f"event {place:,}")
                self._builder.end(closed[-1][1], max(time, closed[-1][0]))
            else:
                self._lose("closed and not open", f"event {place:,}")
            last = max(last, time or 0)
        self._close(waiting.rest(), last, "taken to last until the end", "its end")

    def _close(self, opened: list[tuple[int, int]], time: int, how: str, where: str) -> None:
        """Close what is open and was never closed, and count it."""
        for start, begun in opened:
            self._lose(f"opened and never closed; {how}", where)
            self._builder.end(begun, max(time, start))

    def _ns(self, value: Decimal) -> int | None:
        """Return a value as a duration in the trace's unit."""
        scaled = value * self._factor
        return round(scaled) if abs(scaled) < MOST_NS else None

    def _lose(self, reason: str, where: str) -> None:
        self._builder.lose(reason, f"{self._where}, {where}")
