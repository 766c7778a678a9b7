"""The slices, instants and arrows of a run, out of its record."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate, count, pairwise
from math import isfinite
from typing import NamedTuple

from benchyard.core.errors import RecordError
from benchyard.core.model import Json, Outcome
from benchyard.results.events import Event, events_of
from benchyard.results.record import (
    Attempt,
    ErrorRecord,
    PhaseRecord,
    Repetition,
    RunRecord,
    StepRecord,
)
from benchyard.traces.building import TraceBuilder
from benchyard.traces.critical_path import critical_path
from benchyard.traces.model import Details, Flow

#: The thread of what the lab itself does.
LAB = "lab"
#: No run lasts longer, and none begins so long before its zero (s, 30 years).
_LATEST = 1e9
_KILLED = re.compile(r"killed by (SIG[A-Z0-9+]+|signal [0-9]+)")
#: What a repetition used that is worth a look beside its length.
_USED = (
    "resource_cpu_s",
    "resource_memory_peak_bytes",
    "resource_disk_read_bytes",
    "resource_disk_write_bytes",
)
_FAILED = {Outcome.FAILED: "failed", Outcome.TIMED_OUT: "timed out", Outcome.CANCELLED: "cancelled"}


class _Span(NamedTuple):
    """From when to when, in nanoseconds from the run's start."""

    start: int
    end: int


def _spanned(builder: TraceBuilder, start_s: float, end_s: float, where: str) -> _Span | None:
    """Return a span in nanoseconds; none, and a loss, of times that cannot be."""
    if not (-_LATEST <= start_s <= _LATEST and -_LATEST <= end_s <= _LATEST):
        builder.lose("times that no run can have", where)
        return None
    start, end = round(start_s * 1e9), round(end_s * 1e9)
    if end < start:
        builder.lose("ends before their beginnings, which are taken for both", where)
    return _Span(start, max(start, end))


class RunTelling:
    """What a record says: the lab's thread, and one for each resource.

    A resource that executes several steps at once has more threads, ``Process (2)``: steps side by
    side never share one, even where one lasts as long as the other at least.

    Args:
        record: Of the run.
        builder: It is added to; its zero is the run's start.
        process: The testbed.
    """

    def __init__(self, record: RunRecord, builder: TraceBuilder, process: str) -> None:
        self.record, self.builder, self.process = record, builder, process
        self.lab = builder.track(process, LAB)
        #: First thread of each resource.
        self.tracks: dict[str, int] = {}
        #: Thread and span of each step that began, by index.
        self.places: dict[int, tuple[int, _Span]] = {}
        began = _steps(record, builder)
        order = sorted(began, key=lambda one: (one[1].start, -one[1].end, one[0].index))
        self._place(order)

    def _place(self, steps: Sequence[tuple[StepRecord, _Span]]) -> None:
        """Make threads for steps by their starts, so that what overlaps is on different ones."""
        ends = defaultdict[str, list[int]](list)
        lanes: list[int] = []
        for step, span in steps:
            own = ends[step.resource]
            lanes.append(next((n for n, end in enumerate(own) if end <= span.start), len(own)))
            own[lanes[-1] : lanes[-1] + 1] = [span.end]
        threads: dict[tuple[str, int], int] = {}
        taken = {LAB}
        for one in (*self.record.steps, *self.record.phases):
            if one.resource not in self.tracks:
                for lane in range(max(len(ends[one.resource]), 1)):
                    name = _free(one.resource, lane, taken)
                    threads[one.resource, lane] = self.builder.track(self.process, name)
                self.tracks[one.resource] = threads[one.resource, 0]
        for (step, span), lane in zip(steps, lanes, strict=True):
            self.places[step.index] = threads[step.resource, lane], span

    def tell(self) -> None:
        """Add everything."""
        self._lab()
        for phase in self.record.phases:
            self._phase(phase)
        for step in self.record.steps:
            if step.index in self.places:
                self._step(step, *self.places[step.index])
            else:
                self._never_began(step)
        self._pulls()
        self._critical_path()
        self._sampling()

    # -- the lab

    def _lab(self) -> None:
        record, attempts = self.record, sorted(self._attempts())
        whole = _spanned(self.builder, 0.0, record.duration_s, "the run") or _Span(0, 0)
        self._slice(self.lab, "run", whole, _about_run(record))
        if record.tries:
            again: Details = {"earlier": [dict(one) for one in record.tries]}
            self.builder.instant(self.lab, "run tried again", 0, again)
        if not attempts:
            self._slice(self.lab, "set-up", whole)
            return
        first, last = attempts[0].start, max(one.end for one in attempts)
        self._slice(self.lab, "set-up", _Span(0, max(first, 0)))
        self._slice(self.lab, "steps", _Span(first, last))
        for pause in _pauses(attempts):
            self._slice(self.lab, "pause", pause)
        self._slice(self.lab, "wind-up", _Span(last, max(whole.end, last)))

    def _attempts(self) -> Iterator[_Span]:
        for step in self.record.steps:
            for one in step.attempts:
                if -_LATEST <= one.start_s <= one.end_s <= _LATEST:
                    yield _Span(round(one.start_s * 1e9), round(one.end_s * 1e9))

    def _never_began(self, step: StepRecord) -> None:
        last = max((span.end for _, span in self.places.values()), default=0)
        details: Details = {"step": step.name, "reason": step.reason}
        self.builder.instant(self.lab, step.outcome.value.replace("_", " "), last, details)

    def _sampling(self) -> None:
        facts = self.record.collector
        if error := facts.get("error"):
            self.builder.lose(f"the samples are not whole: {error}", "the collector's account")
        gaps = facts.get("gaps")
        for gap in gaps if isinstance(gaps, list) else []:
            match gap:
                case [int() | float() as at, int() as missed] if abs(at) <= _LATEST:
                    details: Details = {"missed": missed}
                    self.builder.instant(self.lab, "samples missed", round(at * 1e9), details)
                case _:
                    self.builder.lose("gaps of the samples that are none", "the record")

    # -- resources

    def _phase(self, phase: PhaseRecord) -> None:
        end_s = phase.start_s + phase.duration_s
        where = f"phase {phase.phase} of {phase.resource}"
        span = _spanned(self.builder, phase.start_s, end_s, where)
        if span is None:
            return
        track = self.tracks[phase.resource]
        if phase.step is not None and phase.step in self.places:
            track, _ = self.places[phase.step]
        details = {"resource": phase.resource, **_ended(phase.outcome, phase.error)}
        self._slice(track, phase.phase, span, details)
        self._failure(track, span.end, phase.outcome, phase.error, {"phase": phase.phase})

    def _step(self, step: StepRecord, track: int, span: _Span) -> None:
        self._slice(track, step.name, span, _about_step(step))
        spans = [(one, self._attempt(step, one, track)) for one in step.attempts]
        for (failed, before), (again, after) in pairwise(spans):
            if before is None or after is None:
                continue
            if after.start > before.end:
                self._slice(track, "delay", _Span(before.end, after.start))
            reason = failed.error.message if failed.error else failed.outcome.value
            details: Details = {"step": step.name, "attempt": again.number, "reason": reason}
            self.builder.instant(track, "retry", after.start, details)

    def _attempt(self, step: StepRecord, attempt: Attempt, track: int) -> _Span | None:
        name = f"attempt {attempt.number}"
        where = f"{name} of step {step.index}"
        span = _spanned(self.builder, attempt.start_s, attempt.end_s, where)
        if span is not None:
            self._slice(track, name, span, _ended(attempt.outcome, attempt.error))
            counts = Counter[str]()
            for made in attempt.repetitions:
                counts[made.kind] += 1
                self._repetition(step, made, counts[made.kind], track)
            whose: Details = {"step": step.name, "attempt": attempt.number}
            self._failure(track, span.end, attempt.outcome, attempt.error, whose)
        return span

    def _repetition(self, step: StepRecord, made: Repetition, number: int, track: int) -> None:
        where = f"an execution of step {step.index}"
        span = _spanned(self.builder, made.start_s, made.start_s + made.duration_s, where)
        if span is None:
            return
        self._slice(track, made.kind, span, _about_repetition(made, number))
        whose: Details = {"step": step.name, "execution": number}
        if made.suspect:
            details: Details = {**whose, "reasons": list(made.suspect)}
            self.builder.instant(track, "suspect", span.end, details)
        for prefix in ("host", "resource"):
            killed = made.used.get(f"{prefix}_oom_kill_count") or 0.0
            if killed > 0:
                details = {**whose, "of": prefix, "killed": killed}
                self.builder.instant(track, "out of memory", span.end, details)

    def _failure(
        self, track: int, at: int, outcome: Outcome, error: ErrorRecord | None, whose: Details
    ) -> None:
        """Mark where something failed, by what happened to it."""
        name = _FAILED.get(outcome)
        if name is None:
            return
        message = error.message if error else ""
        if "out of memory: the kernel killed it" in message:
            name = "out of memory"
        elif outcome is Outcome.FAILED and _KILLED.search(message):
            name = "killed"
        self.builder.instant(track, name, at, {**whose, "reason": message})

    # -- between threads

    def _pulls(self) -> None:
        told = self.record.resources.values()
        if not any(isinstance(facts, dict) and "pulls" in facts for facts in told):
            return
        try:
            events = events_of(self.record)
        except RecordError as error:
            self.builder.lose(str(error), "the record")
            return
        zero = self.record.began if self.record.started_at else None
        for event in events:
            if event.name == "pull-end" and zero is not None:
                self._pull(event, (event.at - zero).total_seconds())

    def _pull(self, event: Event, end_s: float) -> None:
        told, resource = event.message, str(event.message.get("resource"))
        length_s = told.get("diff")
        if not isinstance(length_s, int | float) or not 0 <= length_s <= _LATEST:
            self.builder.lose("pulls of images without a length", f"resource {resource}")
            return
        span = _spanned(self.builder, end_s - length_s, end_s, f"a pull of {resource}")
        if span is not None:
            # Its times are those of another clock: it need not lie inside of a phase.
            track = self.builder.track(self.process, f"{resource}: pulls")
            details: Details = {"image": told.get("img"), "bytes": told.get("size")}
            self._slice(track, "pull", span, details)

    def _critical_path(self) -> None:
        steps = [one for one in critical_path(self.record).steps if one.index in self.places]
        for before, after in pairwise(steps):
            from_track, ended = self.places[before.index]
            to_track, began = self.places[after.index]
            # Where a slice ends it is over already, and an arrow from there begins at nothing.
            leaves = max(ended.start, ended.end - 1)
            self.builder.flow(Flow("critical path", from_track, leaves, to_track, began.start))

    def _slice(self, track: int, name: str, span: _Span, details: Details | None = None) -> None:
        self.builder.slice(track, name, span.start, span.end - span.start, details)


def _free(resource: str, lane: int, taken: set[str]) -> str:
    names = (f"{resource} ({number})" if number > 1 else resource for number in count(lane + 1))
    name = next(name for name in names if name not in taken)
    taken.add(name)
    return name


def _steps(record: RunRecord, builder: TraceBuilder) -> Iterator[tuple[StepRecord, _Span]]:
    """Yield each step that began, once, with when."""
    seen: set[int] = set()
    for step in record.steps:
        if step.attempts and step.index in seen:
            builder.lose("steps of a number that another has", f"step {step.index}")
        elif step.attempts:
            seen.add(step.index)
            start_s = min(one.start_s for one in step.attempts)
            end_s = max(one.end_s for one in step.attempts)
            span = _spanned(builder, start_s, end_s, f"step {step.index}")
            if span is not None:
                yield step, span


def _pauses(spans: Sequence[_Span]) -> Iterator[_Span]:
    """Yield when no attempt was under way, between spans by their starts."""
    ends = accumulate((span.end for span in spans), max)
    for end, span in zip(ends, spans[1:], strict=False):
        if span.start > end:
            yield _Span(end, span.start)


# -- what is known beside times


def _ended(outcome: Outcome, error: ErrorRecord | None) -> dict[str, Json]:
    """Return how something ended, and why."""
    told: dict[str, Json] = {"outcome": outcome.value}
    return told if error is None else {**told, "error": error.message, "error_type": error.type}


def _about_run(record: RunRecord) -> Details:
    """Return what a viewer shows of a run."""
    commit, changes = record.commit or (None, None)
    told: dict[str, Json] = {
        "case": record.case.get("title") or record.case.get("name"),
        "run": record.run,
        **_ended(record.outcome, record.error),
        "started_at": record.started_at or None,
        "commit": commit,
        "changes": changes,
        "benchyard": record.benchyard_version or None,
        "warnings": list(record.warnings),
    }
    return {name: value for name, value in told.items() if value not in (None, [])}


def _about_step(step: StepRecord) -> Details:
    """Return what a viewer shows of a step."""
    told: dict[str, Json] = {
        name: getattr(step, name) for name in ("index", "id", "resource", "command")
    }
    told |= {"parameters": dict(step.parameters), "outcome": step.outcome.value}
    told["measured"] = step.measure
    return {**told, "suspect": list(step.suspect)} if step.suspect else told


def _about_repetition(made: Repetition, number: int) -> Details:
    """Return what a viewer shows of one execution of a command.

    Args:
        made: The execution.
        number: Its place among those of its kind, from 1.
    """
    told: dict[str, Json] = {"number": number, **_ended(made.outcome, made.error)}
    if made.values:
        told["values"] = dict(made.values)
    used = {name: made.used.get(name) for name in _USED}
    told |= {name: one for name, one in used.items() if one is not None and isfinite(one)}
    if made.suspect:
        told["suspect"] = list(made.suspect)
    return told
