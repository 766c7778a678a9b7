"""After a run: from the sampler's raw file to ``metrics.csv`` and ``resources.csv``, in one pass.

Memory does not grow with the number of samples.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from heapq import merge
from math import inf
from operator import itemgetter
from pathlib import Path
from typing import IO

from benchyard.core.clock import seconds
from benchyard.core.errors import MeasurementError
from benchyard.core.files import writing_atomically
from benchyard.core.model import Json
from benchyard.host.collector import MeasuredRun
from benchyard.host.sampler.owned import HEADER, Decoded
from benchyard.host.sampler.raw import Gone, Late, Opened, RawNote, Stopped, Tick, read_raw
from benchyard.host.sampler.rows import Booking, MetricsRows, StepLevels, StepSpan, Values
from benchyard.results.folders import METRICS_FILE, RESOURCES_FILE
from benchyard.results.metrics_csv import COLUMNS as METRICS_COLUMNS

#: So many gaps, and remarks, are kept word for word.
MOST_TOLD = 100


@dataclass(slots=True)
class CurvesAccount:
    """What the curves of a run are made of.

    Args:
        samples: How many the sampler took.
        missed: Deadlines without a sample.
        gaps: When (s since the run's start) deadlines were missed, and how many.
        notes: What could not be recorded.
        stops: When the sampler itself was stopped (monotonic ns): at the earliest, and until when.
        files: Names of the files written.
        sampled: Index of a step to its ``samples`` and ``levels``: of the rows booked on it, from
            the start of the attempt that decided it on.
    """

    samples: int = 0
    missed: int = 0
    gaps: list[tuple[float, int]] = field(default_factory=list[tuple[float, int]])
    notes: list[str] = field(default_factory=list[str])
    stops: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    files: list[str] = field(default_factory=list[str])
    sampled: Mapping[int, Mapping[str, Json]] = field(default_factory=dict[int, Mapping[str, Json]])


def write_curves(
    raw: Path, run: MeasuredRun, executions: Sequence[StepSpan], began: Mapping[int, int]
) -> CurvesAccount:
    """Write ``metrics.csv``, and ``resources.csv`` if anything was owned; then remove ``raw``.

    Args:
        executions: In any order; their edges become rows of ``metrics.csv`` among the samples.
        began: As ``Collector.stop`` takes it.

    Raises:
        MeasurementError: If a file cannot be read or written; the raw one is kept then.
    """
    try:
        with ExitStack() as files:
            account = _Writing(run, executions, began, files).write(raw)
    except OSError as error:
        where = error.filename or run.folder / METRICS_FILE
        raise MeasurementError(
            f"{where}: the curves cannot be written: {error.strerror or error}; "
            f"the samples are kept in {raw}"
        ) from error
    raw.unlink(missing_ok=True)
    return account


class _Writing:
    """One pass over the raw file; ``resources.csv`` is there only if it has a row."""

    def __init__(
        self,
        run: MeasuredRun,
        executions: Sequence[StepSpan],
        began: Mapping[int, int],
        files: ExitStack,
    ) -> None:
        self._run, self._files = run, files
        edges = ((one.step, edge) for one in executions for edge in (one.begins, one.ends))
        rows = [(edge.at_ns, step, edge.parts) for step, edge in edges]
        self._edges = sorted(rows, key=itemgetter(0))
        self._began = began
        self._booking = Booking(executions)
        self._rows = MetricsRows(run)
        self._decoded = Decoded()
        self._levels = {step: StepLevels() for step in began}
        self._account = CurvesAccount()
        self._metrics = self._opened(METRICS_FILE, METRICS_COLUMNS)
        #: Opened with the first row.
        self._resources: IO[bytes] | None = None

    def _opened(self, name: str, columns: Sequence[str]) -> IO[bytes]:
        stream = self._files.enter_context(writing_atomically(self._run.folder / name))
        stream.write((",".join(columns) + "\n").encode())
        self._account.files.append(name)
        return stream

    def write(self, raw: Path) -> CurvesAccount:
        for one in merge(self._ticks(raw), self._edges, key=itemgetter(0)):
            if isinstance(one, Tick):
                self._sample(one)
            else:
                self._row(*one)
        self._account.sampled = {step: levels.to_json() for step, levels in self._levels.items()}
        return self._account

    def _ticks(self, raw: Path) -> Iterator[Tick]:
        """Yield the samples; take in all the rest."""
        for record in read_raw(raw):
            if isinstance(record, Tick):
                yield record
            else:
                self._take_in(record)

    def _take_in(self, record: Opened | Gone | Late | RawNote | Stopped) -> None:
        account = self._account
        match record:
            case Opened():
                self._decoded.open(record)
            case Gone():
                self._decoded.close(record)
            case Late(due_ns, missed):
                account.missed += missed
                account.gaps.append((seconds(due_ns - self._run.origin_ns), missed))
                del account.gaps[MOST_TOLD:]
            case RawNote(text):
                account.notes = [*account.notes, text][:MOST_TOLD]
            case Stopped(since_ns, until_ns):
                account.stops = [*account.stops, (since_ns, until_ns)][-MOST_TOLD:]

    def _sample(self, tick: Tick) -> None:
        self._account.samples += 1
        self._decoded.take(tick.changed)
        step = self._booking.step(tick.at_ns)
        if step is None:
            return
        self._row(tick.at_ns, step, self._decoded.host.parts)
        head = f"{self._run.run},{step},{seconds(tick.at_ns - self._run.origin_ns)!r},"
        curves = self._decoded.curves.read(tick.classes)
        if curves:
            lines = "".join([f"{head}{curve.text()}\n" for curve in curves])
            self._resources = self._resources or self._opened(RESOURCES_FILE, HEADER)
            self._resources.write(lines.encode(errors="replace"))

    def _row(self, at_ns: int, step: int, parts: Sequence[Values]) -> None:
        line = self._rows.line(at_ns, step, parts)
        self._metrics.write(line.encode(errors="replace"))
        if line and self._began.get(step, inf) <= at_ns:
            self._levels[step].add(parts[1])
