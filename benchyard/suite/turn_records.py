"""Where turns are executed, what they leave there, and what their flow runs say of themselves.

The suite cannot look where the results of another testbed lie: the flow run reports as one text.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path

from benchyard.analysis.regressions import Looked
from benchyard.case.testbeds import Testbed, unmet
from benchyard.core.errors import RecordError
from benchyard.core.json_text import decoded, read_as
from benchyard.core.model import Outcome, Requires
from benchyard.results.folders import Results
from benchyard.results.reasons import failure_of
from benchyard.results.record import RunRecord, read_record
from benchyard.suite.plan import done_since

#: One flow run that is executed, and one that waits: a queue that is seen and stays short.
MOST_OUTSTANDING = 2
#: The testbed of what is executed nowhere.
NOWHERE = Testbed("")


@dataclass(frozen=True, slots=True)
class Place:
    """One testbed, or a queue whose testbed nobody knows.

    Args:
        name: Of the testbed; "" for one that nobody knows.
        queue: Work queue that is its own; None for the one of the deployment.
        outstanding: Turns that are executed or wait on its host.
        seconds: How long these will still take; unknown ones count as nothing.
    """

    name: str
    testbed: Testbed
    queue: str | None = None
    outstanding: int = 0
    seconds: float = 0.0

    @property
    def host(self) -> str:
        """What it shares with other testbeds: only one run at a time is executed on a host."""
        return self.testbed.host or self.name

    def why_not(self, requires: Requires) -> list[str]:
        """Say what of the requirements it does not meet; nothing is known of the unknown one."""
        return unmet(requires, self.testbed)


def with_room(places: Sequence[Place], left: int) -> list[Place]:
    """Return the places that may be given another turn, the idlest first.

    A second one is only put behind another while there are turns enough for all hosts: at the end
    of a suite it would wait for one host while another has nothing to do.

    Args:
        left: Turns that are still to be given away.
    """
    hosts = len({place.host for place in places})
    most = MOST_OUTSTANDING if left > hosts else 1
    free = [place for place in places if place.outstanding < most]
    return sorted(free, key=lambda place: (place.outstanding, place.seconds, place.name))


def why_nowhere(requires: Requires, places: Sequence[Place]) -> str:
    """Say why no testbed will do, testbed by testbed."""
    if not places:
        return "no testbed is there"
    told = [
        f"{place.name or place.host or 'the testbed'}: {', '.join(place.why_not(requires))}"
        for place in places
    ]
    return f"no testbed is what it requires: {'; '.join(told)}"


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


# -- reports

#: More are in the comparison's page; the text is kept in the server's database.
_MOST_REGRESSIONS = 100


@dataclass(frozen=True, slots=True)
class CaseReport:
    """What became of one turn.

    Args:
        runs: Numbers of the finished runs that the flow run executed.
        looked: What it came to against the baseline; None if it was not compared.
        failure: How it failed, if it did.
    """

    runs: tuple[int, ...]
    looked: Looked | None = None
    failure: TurnFailure = NO_FAILURE

    def to_text(self) -> str:
        """Write it."""
        looked = self.looked
        if looked is not None:
            worse = looked.regressions[:_MOST_REGRESSIONS]
            looked = replace(looked, regressions=worse, page="", before=None)
        return json.dumps(asdict(replace(self, looked=looked)))

    @classmethod
    def from_text(cls, text: object) -> "CaseReport | None":
        """Read a report; None if there is none that can be read."""
        try:
            return read_as(cls, decoded(str(text).encode()))
        except ValueError:
            return None
