"""Executions: each is one step in one try of a run, with all its attempts.

They come from the logs of attempts, and from the records of runs that no log tells of. Damaged
files and lines are named and left out.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from benchyard.core.errors import RecordError
from benchyard.core.model import Json, Outcome
from benchyard.results.attempts import FailedAttempt, RunAttempt, TriedStep, read_tries, try_of
from benchyard.results.campaigns import with_earlier
from benchyard.results.excerpt import read_excerpt
from benchyard.results.folders import Results, RunFolder
from benchyard.results.krown import surely_krowns
from benchyard.results.record import ErrorRecord, RunRecord, read_record

#: Stands for the step where the failure belongs to none.
WHOLE_RUN = "the run"
NO_END = "its end was not recorded: its process was killed, or its host went down"
_BROKEN = (Outcome.FAILED, Outcome.TIMED_OUT)


@dataclass(frozen=True, slots=True)
class StepTry:
    """One step in one try of a run, after all its attempts.

    Args:
        step: Its label, such as ``03-load``; ``WHOLE_RUN`` if no step is to blame.
        id: The step's own; empty for the whole run.
        started_at: When the try of the run began.
        attempts: How often the command was tried.
        failed: The attempts that failed.
        outcome: After the retries; None if its end was not recorded.
        duration_s: All attempts and the delays between them (s); None if not known.
        error: What went wrong where no attempt tells.
        flow_run: Prefect's ``id``, ``name`` and ``attempt``; empty without Prefect.
    """

    case: str
    run: int
    step: str
    id: str
    host: str
    started_at: str
    attempts: int
    failed: tuple[FailedAttempt, ...]
    outcome: Outcome | None
    duration_s: float | None
    error: ErrorRecord | None = None
    flow_run: Mapping[str, Json] = field(default_factory=dict[str, Json])

    @property
    def began(self) -> datetime:
        """When the try of the run began."""
        return datetime.fromisoformat(self.started_at)

    @property
    def in_trouble(self) -> bool:
        """Whether anything failed, even if it worked in the end."""
        broken = self.outcome is None or self.outcome in (*_BROKEN, Outcome.TOLERATED)
        return bool(self.failed) or broken

    @property
    def recovered(self) -> bool:
        """Whether it worked after a failed attempt."""
        return bool(self.failed) and self.outcome is Outcome.COMPLETED

    @property
    def same_errors(self) -> bool:
        """Whether all its failed attempts failed of the same."""
        return len({one.error for one in self.failed}) <= 1

    @property
    def first_error(self) -> ErrorRecord | None:
        """The error of the first attempt that failed."""
        return self.failed[0].error if self.failed else self.error

    @property
    def last_error(self) -> ErrorRecord | None:
        """The error of the last attempt that failed."""
        return self.failed[-1].error if self.failed else self.error


def executions(tries: Iterable[RunAttempt]) -> Iterator[StepTry]:
    """Yield what was executed; steps that never began because of others are none."""
    for one in tries:
        if one.under_way:
            continue
        steps = [_of_step(one, s) for s in one.steps if s.attempts > 0 or s.outcome in _BROKEN]
        yield from steps
        broke = one.error is not None and not any(step.in_trouble for step in steps)
        if one.outcome is None or broke:
            yield _of_run(one)


def _of_step(one: RunAttempt, step: TriedStep) -> StepTry:
    return replace(
        _of_run(one),
        step=step.label,
        id=step.id,
        attempts=step.attempts,
        failed=step.failed,
        outcome=step.outcome,
        duration_s=step.duration_s if step.attempts else None,
        error=ErrorRecord("", step.reason) if step.reason else None,
    )


def _of_run(one: RunAttempt) -> StepTry:
    return StepTry(
        case=one.case,
        run=one.run,
        step=WHOLE_RUN,
        id="",
        host=one.host,
        started_at=one.started_at,
        attempts=0,
        failed=(),
        outcome=one.outcome,
        duration_s=one.duration_s,
        error=one.error or ErrorRecord("", NO_END),
        flow_run=one.flow_run,
    )


@dataclass(frozen=True, slots=True)
class Collected:
    """The tries of some cases.

    Args:
        tries: In the order of their beginnings.
        problems: A sentence for each file, or line of one, that cannot be read.
    """

    tries: tuple[RunAttempt, ...]
    problems: tuple[str, ...] = ()

    def since(self, moment: datetime | None) -> "Collected":
        """Return the same without the tries that began before a moment."""
        if moment is None:
            return self
        return Collected(tuple(t for t in self.tries if t.began >= moment), self.problems)


def collect(folders: Iterable[Path], read: Callable[[Path], RunRecord] = read_record) -> Collected:
    """Read what was tried of the cases whose runs are in ``folders``.

    Args:
        read: Reads the record of a run that no log tells of; an excerpt of it serves.
    """
    tries: list[RunAttempt] = []
    problems: list[str] = []
    for folder in folders:
        noted, unreadable = read_tries(folder)
        found, damaged = _with_recorded(noted, Results(folder).recorded(), read)
        tries += found
        problems += [*unreadable, *damaged]
    return Collected(tuple(sorted(tries, key=lambda one: one.began)), tuple(problems))


def collect_recent(
    folder: Path, since: datetime, count: int, others: Callable[[set[int]], Iterable[int]]
) -> Collected:
    """Read what was tried of one case since a moment, and nothing older.

    Args:
        count: How many runs there are since then.
        others: Returns the numbers of those whose records are to be read, without those that it is
            given; asked only if the log tells of fewer.
    """
    noted, unreadable = read_tries(folder, since=since)
    ended = {one.run for one in noted if one.outcome}
    there = Results(folder)
    missing = others(ended) if len(ended) < count else ()
    runs = {n: run for n in missing if (run := there.run(n)).is_recorded}
    found, damaged = _with_recorded(noted, runs, read_excerpt)
    tries = tuple(sorted(found, key=lambda one: one.began))
    return Collected(tries, (*unreadable, *damaged)).since(since)


def results_below(base: Path) -> list[Path]:
    """Return the results folders of a case: the one given, those of its matrix's points.

    Earlier campaigns are included: their failures count as well.
    """
    points = [base, *sorted(base.glob("*/"))]
    folders = [folder for point in points for folder in with_earlier(point)]
    return [folder for folder in folders if _has_tries(folder)]


def _has_tries(folder: Path) -> bool:
    results = Results(folder)
    return results.tries.is_file() or bool(results.recorded())


def _with_recorded(
    noted: list[RunAttempt], runs: Mapping[int, RunFolder], read: Callable[[Path], RunRecord]
) -> tuple[list[RunAttempt], list[str]]:
    """Add the tries that the log lacks, from the records; return what is wrong with these too."""
    tries: list[RunAttempt] = []
    problems: list[str] = []
    ended = {one.run for one in noted if one.outcome}
    for number in sorted(runs.keys() - ended):
        run = runs[number]
        if not run.record.exists() and surely_krowns(run.path):
            continue  # it tells of no attempts
        try:
            record = read(run.path)
        except RecordError as error:
            problems.append(str(error))
            continue
        if record.started_at:
            tries.append(try_of(record))
    # The record tells the end where the log has none.
    known = {(one.run, one.started_at) for one in tries}
    kept = [one for one in noted if one.outcome or (one.run, one.started_at) not in known]
    return kept + tries, problems
