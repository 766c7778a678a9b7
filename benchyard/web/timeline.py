"""When what happened in a run: a row of bars for each resource's phases and each step.

The picture is as wide as the page: places are percentages, so letters and heights stay as they are
on any screen. Colours come from the style sheet.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from benchyard.core.quantity import duration, shorten
from benchyard.core.wording import printable
from benchyard.results.record import RunRecord, StepRecord
from benchyard.show.curves.plot import seconds, ticks
from benchyard.statistics.measures import median_of_sorted

#: More rows are no picture any more; the tables have all of them.
MOST_ROWS = 200
#: Pixels: of a row with its label, from its top to the bars, of a bar.
_ROW, _LABEL, _BAR = 34, 18, 11
_AXIS = 22
#: Longest label.
_LONGEST = 90
#: Bars that begin in the same part of so many are drawn as the longest of them.
_PARTS = 1000
_MARKS = 5
#: Share of the width beyond which a mark has no room for its text.
_LAST_MARK = 0.95


class TimelineBar(NamedTuple):
    """A bar.

    Args:
        x: Percent of the width; so is ``width``.
        kind: Class that colours it.
        title: What is told where a pointer rests on it.
    """

    x: float
    width: float
    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """Bars with their label (y in pixels)."""

    label: str
    y: int
    bars: Sequence[TimelineBar]

    @property
    def bars_y(self) -> int:
        """Where the bars begin."""
        return self.y + _LABEL


class AxisMark(NamedTuple):
    """A mark of the time axis (x in percent)."""

    x: float
    text: str


@dataclass(frozen=True, slots=True)
class RunTimeline:
    """What the picture shows.

    Args:
        left_out: How many rows are not shown.
    """

    rows: Sequence[TimelineRow]
    marks: Sequence[AxisMark]
    left_out: int
    bar_height: int = _BAR

    @property
    def height(self) -> int:
        """Of the picture (pixels)."""
        return _AXIS + _ROW * len(self.rows)

    @property
    def summary(self) -> str:
        """What it shows, for who does not see it."""
        labels = "; ".join(row.label for row in self.rows)
        return f"Timeline of the run. {labels}. The tables below have all times."


class _Span(NamedTuple):
    start_s: float
    length_s: float
    kind: str
    title: str


def timeline(record: RunRecord) -> RunTimeline:
    """Arrange the phases and steps of a run."""
    resources = dict.fromkeys(one.resource for one in record.phases)
    shown = [(name, _phases(record, name)) for name in resources][:MOST_ROWS]
    shown += [(_label(one), _attempts(one)) for one in record.steps[: MOST_ROWS - len(shown)]]
    ends = [span.start_s + span.length_s for _, spans in shown for span in spans]
    length = max([record.duration_s, *ends]) or 1.0
    rows = [
        TimelineRow(shorten(printable(label), _LONGEST), _AXIS + _ROW * place, _bars(spans, length))
        for place, (label, spans) in enumerate(shown)
    ]
    shown_at = (at for at in ticks(length, _MARKS) if at < _LAST_MARK * length)
    marks = [AxisMark(100 * at / length, seconds(at)) for at in shown_at]
    return RunTimeline(rows, marks, len(resources) + len(record.steps) - len(shown))


def _label(step: StepRecord) -> str:
    took = step.durations_s
    times = f", {len(took)} times" if len(took) > 1 else ""
    length = f", {duration(median_of_sorted(sorted(took)))}{times}" if took else ""
    tries = f", {len(step.attempts)} attempts" if len(step.attempts) > 1 else ""
    return f"{step.index} {step.name}: {step.outcome.value.replace('_', ' ')}{length}{tries}"


def _phases(record: RunRecord, resource: str) -> list[_Span]:
    return [
        _Span(
            one.start_s,
            one.duration_s,
            "phase" if one.error is None else "failed",
            f"{one.phase} {resource}: {one.outcome.value}, {duration(one.duration_s)}",
        )
        for one in record.phases
        if one.resource == resource
    ]


def _attempts(step: StepRecord) -> list[_Span]:
    """Return the attempts, and upon each of them its repetitions."""
    spans: list[_Span] = []
    for attempt in step.attempts:
        length = attempt.end_s - attempt.start_s
        name = f"attempt {attempt.number}: {attempt.outcome.value}, {duration(length)}"
        spans.append(_Span(attempt.start_s, length, "attempt", name))
        for number, one in enumerate(attempt.repetitions, 1):
            kind = "warmup" if one.kind == "warmup" else one.outcome.value
            told = f"{one.kind} {number}: {one.outcome.value}, {duration(one.duration_s)}"
            spans.append(_Span(one.start_s, one.duration_s, kind, told))
    return spans


def _bars(spans: Iterable[_Span], length_s: float) -> list[TimelineBar]:
    alike = groupby(spans, key=lambda span: (span.kind, int(_PARTS * span.start_s / length_s)))
    longest = (max(several, key=lambda span: span.length_s) for _, several in alike)
    return [
        TimelineBar(
            round(100 * span.start_s / length_s, 3),
            round(max(100 * span.length_s / length_s, 0.15), 3),
            span.kind,
            printable(span.title),
        )
        for span in longest
    ]
