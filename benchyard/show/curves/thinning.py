"""From samples to as many points as a screen has: nothing that was counted, and no peak, is lost.

Of few samples each one is a point. Of many, each span of time tells the mean of its samples, the
least and the most; the mean of a rate is what was counted in the span, by its length.

Source: U. Jugel, Z. Jerzak, G. Hackenbroich, V. Markl, M4: A Visualization-Oriented Time Series
Data Aggregation, VLDB 2014: the extremes of each column of pixels make the same picture as all.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchyard.results.samples import HOST, SampledSource, Values

#: Digits of a value that a screen can show.
_DIGITS = 5
#: Anything smaller is as good as nothing, and nothing is larger.
_LEAST, _LARGEST = 1e-9, 1e100
#: Name and unit of a panel to its lines: a word, and a counter; memory is no counter.
_PANELS: Sequence[tuple[str, str, Sequence[tuple[str, str | None]]]] = (
    ("CPU", "cores", (("", "cpu_s"),)),
    ("memory", "B", (("", None),)),
    ("disk", "B/s", (("read", "disk_read_bytes"), ("written", "disk_write_bytes"))),
    ("network", "B/s", (("received", "network_received_bytes"), ("sent", "network_sent_bytes"))),
)


@dataclass(frozen=True, slots=True, eq=False)
class ThinLine:
    """One curve; NaN is not known.

    Args:
        mean: Shape (points,); so have the next two, which are the same where each sample is a
            point.
    """

    name: str
    of_host: bool
    mean: Values
    least: Values
    most: Values

    @property
    def moves(self) -> bool:
        """Whether any value is above 0."""
        return bool((self.most > 0).any())


@dataclass(frozen=True, slots=True, eq=False)
class ThinPanel:
    """Curves that share an axis, in ``cores``, ``B`` or ``B/s``."""

    name: str
    unit: str
    lines: Sequence[ThinLine]

    def values(self, line: ThinLine) -> list[float]:
        """Return what a picture shows of a line: means of rates, and the most memory."""
        found: list[float] = (line.most if self.unit == "B" else line.mean).tolist()
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Thinned:
    """Curves between two moments.

    Args:
        at_s: Shape (points,): of each sample, or the middle of each span (s since the start).
        exact: Whether each point is a sample.
        samples: How many samples of the host lie there.
    """

    at_s: Values
    exact: bool
    samples: int
    panels: Sequence[ThinPanel]


def thinned(sources: Sequence[SampledSource], from_s: float, to_s: float, points: int) -> Thinned:
    """Thin curves.

    Args:
        from_s: Seconds since the run's start.
        to_s: Later than that.
        points: So many at most, but for one sample more at both ends.
    """
    parts = [_part(source, from_s, to_s) for source in sources]
    at_s = _moments(sources, parts, points + 2)
    exact = at_s is not None
    if at_s is None:
        edges = np.linspace(from_s, to_s, points + 1)
        at_s = (edges[:-1] + edges[1:]) / 2
        lines = [_spans(source, edges) for source in sources]
    else:
        lines = [_samples(source, part, at_s) for source, part in zip(sources, parts, strict=True)]
    panels = [
        ThinPanel(name, unit, [*_lines(sources, lines, words)]) for name, unit, words in _PANELS
    ]
    count = sum(p.stop - p.start for s, p in zip(sources, parts, strict=True) if s.name == HOST)
    return Thinned(at_s, exact, count, panels)


def _part(source: SampledSource, from_s: float, to_s: float) -> slice:
    """Return which samples lie between two moments, and one at each side of them."""
    first = int(np.searchsorted(source.at_s, from_s)) - 1
    last = int(np.searchsorted(source.at_s, to_s, "right")) + 1
    return slice(max(first, 0), min(last, len(source.at_s)))


def _moments(sources: Sequence[SampledSource], parts: Sequence[slice], most: int) -> Values | None:
    """Return when samples were taken; None if that was too often."""
    if any(part.stop - part.start > most for part in parts):
        return None
    times = [source.at_s[part] for source, part in zip(sources, parts, strict=True)]
    found = np.unique(np.concatenate([np.empty(0), *times]))
    return found if len(found) <= most else None


#: Makes mean, least and most of a counter, or of memory.
_Thin = Callable[[str | None], tuple[Values, Values, Values]]


def _lines(
    sources: Sequence[SampledSource], thin: Sequence[_Thin], words: Sequence[tuple[str, str | None]]
) -> Iterator[ThinLine]:
    for source, make in zip(sources, thin, strict=True):
        for word, counter in words:
            mean, least, most = make(counter)
            if np.isfinite(most).any():
                name = f"{source.name} {word}".strip()
                yield ThinLine(name, source.name == HOST, mean, least, most)


def _samples(source: SampledSource, part: slice, at_s: Values) -> _Thin:
    where = np.searchsorted(at_s, source.at_s[part])

    def thin(counter: str | None) -> tuple[Values, Values, Values]:
        values = np.full(len(at_s), np.nan)
        values[where] = (source.memory if counter is None else source.rate(counter))[part]
        return values, values, values

    return thin


def _spans(source: SampledSource, edges: Values) -> _Thin:
    places = np.searchsorted(source.at_s, edges)
    full = np.flatnonzero(np.diff(places))
    first, last = int(places[0]), int(places[-1])
    starts = places[:-1][full] - first

    def reduced(function: Any, values: Values) -> Values:
        made = np.full(len(edges) - 1, np.nan)
        if len(full):
            made[full] = function.reduceat(values, starts)
        return made

    def thin(counter: str | None) -> tuple[Values, Values, Values]:
        values = (source.memory if counter is None else source.rate(counter))[first:last]
        least, most = reduced(np.fmin, values), reduced(np.fmax, values)
        if counter is not None:
            return _mean_rate(source, counter, edges), least, most
        with np.errstate(invalid="ignore"):  # a span without any known value has no mean
            known = reduced(np.add, np.isfinite(values) * 1.0)
            return reduced(np.add, np.nan_to_num(values)) / known, least, most

    return thin


def _mean_rate(source: SampledSource, counter: str, edges: Values) -> Values:
    """Return what was counted in each span by its length; an increase is spread over its time."""
    total, at_s = source.total(counter), source.at_s
    if not len(at_s) or np.isnan(total[0]):
        return np.full(len(edges) - 1, np.nan)
    counted = np.diff(np.interp(edges, at_s, total))
    seen = np.minimum(edges[1:], at_s[-1]) - np.maximum(edges[:-1], at_s[0])
    # Of a span that was seen in part only: but a moment makes no rate, counters have ticks.
    lengths = np.maximum(seen, (edges[1] - edges[0]) / 2)
    return np.where(seen > 0, counted / lengths, np.nan)


def short(values: Values) -> list[float]:
    """Return values without the digits that a screen cannot show."""
    power = np.floor(np.log10(np.clip(np.nan_to_num(np.abs(values)), _LEAST, _LARGEST)))
    scale = 10.0 ** (_DIGITS - 1 - power)
    found: list[float] = (np.round(values * scale) / scale).tolist()
    return found
