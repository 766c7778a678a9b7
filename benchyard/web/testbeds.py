"""What the catalogue and the records tell of testbeds: what they measured, what they are."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from benchyard.analysis.comparison.comparability import leaves_of, shown_value
from benchyard.analysis.comparison.facts import PLACES_OF_FACTS, TESTBED_FACTS
from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.entry import RUNS, Entry
from benchyard.catalogue.query import EntryQuery
from benchyard.core.errors import NotFoundError, RecordError
from benchyard.core.model import Json, Outcome
from benchyard.core.quantity import amount
from benchyard.core.wording import quote
from benchyard.results.record import RunRecord, read_record
from benchyard.results.trust import doubts
from benchyard.web.explorer import Current
from benchyard.web.report.comparisons import UNITS

#: Runs that are sampled of a host's history, and those that are read to find where facts changed.
_SAMPLES, _MOST_READ = 24, 80
#: Newest runs that are tried for one whose record can be read.
_MOST_TRIED = 20
#: What any two runs differ in, or tells nothing of the host.
_PASSING = ("boot", "git", "host", "benchyard")
#: Records whose facts are remembered; each takes about 3 kB.
_REMEMBERED = 2_000

Facts = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class KnownTestbed:
    """A host, and what it measured.

    Args:
        failed: Runs that failed or timed out.
        first: The oldest run; ``newest`` likewise.
    """

    name: str
    runs: int
    failed: int
    cases: int
    first: Entry
    newest: Entry


def testbed_names(catalogue: Catalogue) -> list[str]:
    """Return the names of all hosts that executed runs, sorted."""
    return sorted(name for name in catalogue.values("host", EntryQuery(formats=RUNS)) if name)


def find_testbed(catalogue: Catalogue, name: str) -> KnownTestbed:
    """Return what a host measured.

    Raises:
        NotFoundError: If it measured nothing.
    """
    query = EntryQuery(hosts=(name,), limit=1)
    newest = catalogue.page(query)
    if not newest.entries:
        raise NotFoundError(f"no run of the catalogue is of a host '{quote(name)}'")
    broken = replace(query, outcomes=(Outcome.FAILED, Outcome.TIMED_OUT))
    return KnownTestbed(
        name=name,
        runs=newest.total,
        failed=catalogue.page(broken).total,
        cases=catalogue.count_cases(query),
        first=catalogue.page(replace(query, sort="started_s")).entries[0],
        newest=newest.entries[0],
    )


def newest_record(explorer: Current, name: str) -> RunRecord:
    """Return the record of a host's newest run whose record can be read.

    Raises:
        NotFoundError: If there is none.
    """
    query = EntryQuery(hosts=(name,), limit=_MOST_TRIED)
    for entry in explorer.catalogue.page(query).entries:
        with suppress(RecordError):
            return read_record(entry.place)
    raise NotFoundError(f"no record of a host '{quote(name)}' can be read")


def facts_of(record: RunRecord) -> dict[str, Json]:
    """Return what is compared of testbeds, by how it is called."""
    return {fact.what: fact.of(record) for fact in TESTBED_FACTS}


def other_facts_of(record: RunRecord) -> dict[str, Json]:
    """Return what else the environment tells of a testbed, by its place in the record."""
    compared = tuple(".".join(at) for _, at, _ in PLACES_OF_FACTS)
    return {
        name: value
        for name, value in leaves_of(dict(record.environment)).items()
        if name.partition(".")[0] not in _PASSING
        and not any(name == place or name.startswith(f"{place}.") for place in compared)
    }


def fact_words(what: str, value: Json) -> str:
    """Write a fact for people."""
    if value is None:
        return "-"
    if what in UNITS and isinstance(value, int | float):
        return amount(value, UNITS[what])
    if isinstance(value, dict):
        return " ".join(map(shown_value, value.values()))
    return shown_value(value)


# -- how a host changed


@dataclass(frozen=True, slots=True)
class FactChange:
    """A fact that is another one since some run.

    Args:
        last: The newest run that was read before it.
        first: The oldest run that was read after it.
        exact: Whether no run lies between the two.
    """

    what: str
    before: Json
    after: Json
    last: Entry
    first: Entry
    exact: bool


@dataclass(frozen=True, slots=True)
class History:
    """How the facts of a host changed.

    Args:
        changes: The newest first.
        runs: How many runs there are.
        read: How many of them were read.
    """

    changes: Sequence[FactChange]
    runs: int
    read: int


def history_of(catalogue: Catalogue, name: str) -> History:
    """Find what changed on a host: runs at even distances are read, and where two differ more."""
    reading = _Reading(catalogue, name)
    total = reading.total
    places = _places(total)
    changes: list[FactChange] = []
    # The newest first: there the budget is worth most.
    for late, early in zip(reversed(places), reversed(places[:-1]), strict=False):
        changes += reading.between(early, late)
    return History(changes, total, reading.read)


def _places(total: int) -> list[int]:
    """Return evenly spaced places; most stay the same when runs are added."""
    step = 1
    while total / step > _SAMPLES:
        step *= 2
    return sorted({*range(0, total, step), max(total - 1, 0)})


class _Reading:
    """Reads runs of a host by their place in time, each once."""

    def __init__(self, catalogue: Catalogue, name: str) -> None:
        self._query = EntryQuery(hosts=(name,), sort="started_s", limit=1)
        self._page = catalogue.page
        self._known: dict[int, tuple[Entry, Facts]] = {}
        self.total = self._page(self._query).total

    @property
    def read(self) -> int:
        """How many runs were read."""
        return len(self._known)

    def between(self, early: int, late: int) -> list[FactChange]:
        """Return what changed between two places, the newest first."""
        (last, before), (first, after) = self._at(early), self._at(late)
        changed = [what for what in after if _differ(before.get(what), after[what])]
        if not changed:
            return []
        if late - early > 1 and self.read < _MOST_READ:
            middle = (early + late) // 2
            return [*self.between(middle, late), *self.between(early, middle)]
        exact = late - early == 1
        return [FactChange(what, before[what], after[what], last, first, exact) for what in changed]

    def _at(self, place: int) -> tuple[Entry, Facts]:
        if place not in self._known:
            entries = self._page(replace(self._query, offset=place)).entries
            if not entries:  # runs were removed meanwhile
                raise NotFoundError("the runs of this host are not what they were; load it again")
            self._known[place] = entries[0], _facts_at(entries[0].place, entries[0].updated_s)
        return self._known[place]


def _differ(one: Json, other: Json) -> bool:
    """Tell whether two values differ; one that is not known differs from none."""
    return None not in (one, other) and one != other


@lru_cache(_REMEMBERED)
def _facts_at(folder: Path, _updated_s: float) -> Facts:
    """Return the facts that a record told at some time; none of one that cannot be read."""
    try:
        return facts_of(read_record(folder))
    except RecordError:
        return {}


# -- two hosts


@dataclass(frozen=True, slots=True)
class Contrast:
    """One fact of two hosts.

    Args:
        because: Why it matters; may be empty.
    """

    what: str
    one: Json
    other: Json
    because: str = ""

    @property
    def differs(self) -> bool:
        """Whether both are known and are not the same."""
        return _differ(self.one, self.other)


def contrasts(one: RunRecord, other: RunRecord) -> list[Contrast]:
    """Return the facts of two hosts, those that differ first."""
    facts = [fact for fact in TESTBED_FACTS if fact.what != "host"]
    found = [Contrast(f.what, f.of(one), f.of(other), f.because) for f in facts]
    told = [list[Json](sorted(doubts(record.preflight))) for record in (one, other)]
    found.append(Contrast("doubts about the testbed", told[0], told[1], "found before the run"))
    return sorted(found, key=lambda contrast: not contrast.differs)


def other_contrasts(one: RunRecord, other: RunRecord) -> Iterator[Contrast]:
    """Yield what else differs between the environments of two hosts, by its place in the record."""
    sides = [other_facts_of(record) for record in (one, other)]
    for name in dict.fromkeys(name for side in sides for name in side):
        found = Contrast(name, sides[0].get(name), sides[1].get(name))
        if found.one != found.other:
            yield found
