"""What a turn left in the results folder of its case: finished runs, a failure, its last length."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from benchyard.core.errors import RecordError
from benchyard.core.model import Outcome
from benchyard.results.folders import Results
from benchyard.results.reasons import failure_of
from benchyard.results.record import RunRecord, read_record
from benchyard.suite.plan import done_since


@dataclass(frozen=True, slots=True)
class TurnFailure:
    """How a turn failed.

    Args:
        why: Its last run failed, without what names the run; empty if that is not known.
        not_begun: Runs of it that were not begun because of that.
    """

    why: str = ""
    not_begun: tuple[int, ...] = ()


#: Nothing is known of a failure, or there was none.
NO_FAILURE = TurnFailure()


@dataclass(frozen=True, slots=True)
class TurnRecords:
    """What a turn made.

    Args:
        done: Numbers of the runs that are done.
        failure: Known only if its last run failed.
        last_s: Length of its last run (s); 0 without one.
    """

    done: tuple[int, ...] = ()
    failure: TurnFailure = NO_FAILURE
    last_s: float = 0.0


def records_of_turn(results: Path | None, runs: Sequence[int], moment: str) -> TurnRecords:
    """Look at what a turn made.

    Args:
        results: The case's folder with runs; None if nobody knows it.
        runs: Numbers of the turn's runs, ascending.
        moment: When it began, as ISO 8601.
    """
    if results is None:
        return TurnRecords()
    done = done_since(results, runs, moment)
    last = _last(Results(results), runs, datetime.fromisoformat(moment))
    if last is None:
        return TurnRecords(done)
    return TurnRecords(done, failure_after(last, runs), last.duration_s)


def failure_after(last: RunRecord, runs: Sequence[int]) -> TurnFailure:
    """Return how a turn failed by its last run; nothing where that run did not fail."""
    if last.outcome is Outcome.COMPLETED:
        return NO_FAILURE
    return TurnFailure(failure_of(last), tuple(run for run in runs if run > last.run))


def _last(results: Results, runs: Sequence[int], since: datetime) -> RunRecord | None:
    for run in reversed(runs):
        with suppress(RecordError, OSError):
            record = read_record(results.run(run).path)
            if record.began >= since:
                return record
    return None
