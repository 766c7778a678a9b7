"""What failed and was retried since a moment, over all cases of the catalogue or some."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from benchyard.analysis.executions import Collected, StepTry, collect_recent, executions
from benchyard.analysis.failure_rates import Fragile, by_fragility
from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.entry import CaseEntry, identified
from benchyard.catalogue.query import EntryQuery
from benchyard.core.amounts import parse_since
from benchyard.core.quantity import plural
from benchyard.results.attempts import RunAttempt
from benchyard.results.folders import run_folder

#: Runs that are looked at, newest cases first: reading the log of so many takes about 0.2 s.
MOST_RUNS = 3_000
#: Records that are read where no log tells of a run: about 1 ms each.
MOST_RECORDS = 300
SINCE = "30d"


@dataclass(frozen=True, slots=True)
class Found:
    """What was tried since a moment.

    Args:
        executions: In the order in which they began.
        steps: The most fragile first.
        left_out: A sentence for each thing that was not looked at.
    """

    since: datetime
    collected: Collected
    executions: Sequence[StepTry]
    steps: Sequence[Fragile]
    left_out: Sequence[str]
    _cases: dict[tuple[str, int, str], CaseEntry] = field(repr=False)

    def run_href(self, one: StepTry) -> str:
        """Return the page of the run of an execution, as it is now: it may have been done again."""
        return f"/run/{identified(run_folder(self._case(one).results, one.run))}"

    def case_href(self, one: StepTry) -> str:
        """Return the page of the case of an execution."""
        return f"/case/{self._case(one).id}"

    def _case(self, one: StepTry) -> CaseEntry:
        return self._cases[one.case, one.run, one.started_at]


def beginning(text: str) -> datetime:
    """Read since when failures count; of days and weeks the first one counts whole (UTC).

    Raises:
        InputError: If it is no date and no length of time.
    """
    moment = parse_since(text, datetime.now(UTC))
    whole_days = text.strip()[-1:] in ("d", "w")
    return moment.replace(hour=0, minute=0, second=0, microsecond=0) if whole_days else moment


def find_failures(catalogue: Catalogue, query: EntryQuery) -> Found:
    """Read what was tried.

    Args:
        query: Which runs; with ``since_s``.
    """
    since = datetime.fromtimestamp(query.since_s or 0.0, UTC)
    cases = catalogue.cases(query)
    chosen = _newest(cases)
    reading = _Reading(catalogue, query, since)
    for case in chosen:
        reading.read(case)
    tries = sorted(reading.tries, key=lambda one: one.began)
    collected = Collected(tuple(tries), tuple(reading.problems))
    found = list(executions(tries))
    left_out = [*_unread(cases[len(chosen) :]), *reading.unread]
    return Found(since, collected, found, by_fragility(found), left_out, reading.cases)


def _newest(cases: Sequence[CaseEntry]) -> list[CaseEntry]:
    chosen: list[CaseEntry] = []
    for case in cases:
        if chosen and sum(one.runs for one in chosen) + case.runs > MOST_RUNS:
            break
        chosen.append(case)
    return chosen


def _unread(cases: Sequence[CaseEntry]) -> Iterable[str]:
    if cases:
        runs = plural(sum(case.runs for case in cases), "run")
        what = f"{plural(len(cases), 'case')} with {runs}"
        yield f"{what} not looked at: only the newest cases with up to {MOST_RUNS:,} runs are"


class _Reading:
    """Reads case by case, and counts the records that it reads."""

    def __init__(self, catalogue: Catalogue, query: EntryQuery, since: datetime) -> None:
        self._catalogue, self._query, self._since = catalogue, query, since
        self._records = self._missed = 0
        self.tries = list[RunAttempt]()
        self.problems = list[str]()
        self.cases = dict[tuple[str, int, str], CaseEntry]()

    def read(self, case: CaseEntry) -> None:
        """Read what was tried of one case."""
        found = collect_recent(
            *(case.results, self._since, case.runs),
            lambda known: self._others(case, known),
        )
        hosts = self._query.hosts
        for one in found.tries:
            if not hosts or one.host in hosts:
                self.tries.append(one)
                self.cases[one.case, one.run, one.started_at] = case
        self.problems += found.problems

    def _others(self, case: CaseEntry, known: set[int]) -> list[int]:
        """Return the newest runs that are not known, as many as may still be read."""
        left = MOST_RECORDS - self._records
        asked = replace(self._query, results=(case.id,), limit=len(known) + left)
        entries = self._catalogue.page(asked).entries if left else ()
        numbers = [one.run for one in entries if one.run and one.run not in known][:left]
        self._records += len(numbers)
        self._missed += case.runs - len(known) - len(numbers)
        return numbers

    @property
    def unread(self) -> Iterable[str]:
        """What was not read."""
        if self._missed:
            runs = f"{plural(self._missed, 'run')} of which no log tells"
            yield f"{runs} not looked at: only the records of {MOST_RECORDS} are read"
