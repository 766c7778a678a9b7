"""What the catalogue and the records tell of testbeds: what they measured, what they are."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from benchyard.analysis.comparison.comparability import leaves_of
from benchyard.analysis.comparison.facts import PLACES_OF_FACTS, TESTBED_FACTS
from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.entry import Entry
from benchyard.catalogue.query import EntryQuery
from benchyard.core.errors import NotFoundError, RecordError
from benchyard.core.model import Json
from benchyard.core.wording import quote
from benchyard.results.record import RunRecord, read_record
from benchyard.results.trust import doubts
from benchyard.web.explorer import Current

#: Runs that are sampled of a host's history, and those that are read to find where facts changed.
_SAMPLES, _MOST_READ = 24, 80
#: Newest runs that are tried for one whose record can be read.
_MOST_TRIED = 20
#: What any two runs differ in, or tells nothing of the host.
_PASSING = ("boot", "git", "host", "benchyard")
#: Records whose facts are remembered; each takes about 3 kB.
_REMEMBERED = 2_000

Facts: TypeAlias = Mapping[str, Json]
#: A fact, its values on two hosts, and why it matters.
Contrast: TypeAlias = tuple[str, Json, Json, str]


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


class FactHistory:
    """How the facts of a host changed: runs at even distances are read, where two differ more.

    Attributes:
        runs: How many runs there are.
        changes: The newest first.
    """

    def __init__(self, catalogue: Catalogue, name: str) -> None:
        self._query = EntryQuery(hosts=(name,), sort="started_s", limit=1)
        self._page = catalogue.page
        self._known: dict[int, tuple[Entry, Facts]] = {}
        self.runs = self._page(self._query).total
        self.changes: list[FactChange] = []
        places = _places(self.runs)
        # The newest first: there the budget is worth most.
        for late, early in zip(reversed(places), reversed(places[:-1]), strict=False):
            self.changes += self._between(early, late)

    @property
    def read(self) -> int:
        """How many runs were read."""
        return len(self._known)

    def _between(self, early: int, late: int) -> list[FactChange]:
        (last, before), (first, after) = self._at(early), self._at(late)
        changed = [what for what in after if differ(before.get(what), after[what])]
        if changed and late - early > 1 and self.read < _MOST_READ:
            middle = (early + late) // 2
            return [*self._between(middle, late), *self._between(early, middle)]
        exact = late - early == 1
        return [FactChange(what, before[what], after[what], last, first, exact) for what in changed]

    def _at(self, place: int) -> tuple[Entry, Facts]:
        if place not in self._known:
            entries = self._page(replace(self._query, offset=place)).entries
            if not entries:  # runs were removed meanwhile
                raise NotFoundError("the runs of this host are not what they were; load it again")
            self._known[place] = entries[0], _facts_at(entries[0].place, entries[0].updated_s)
        return self._known[place]


def _places(total: int) -> list[int]:
    """Return evenly spaced places; most stay the same when runs are added."""
    step = 1
    while total / step > _SAMPLES:
        step *= 2
    return sorted({*range(0, total, step), max(total - 1, 0)})


def differ(one: Json, other: Json) -> bool:
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


def contrasts(one: RunRecord, other: RunRecord) -> Sequence[Contrast]:
    """Return the facts of two hosts, those that differ first."""
    found = [
        (fact.what, fact.of(one), fact.of(other), fact.because)
        for fact in TESTBED_FACTS
        if fact.what != "host"
    ]
    told = [list[Json](sorted(doubts(record.preflight))) for record in (one, other)]
    found.append(("doubts about the testbed", told[0], told[1], "found before the run"))
    return sorted(found, key=lambda contrast: not differ(contrast[1], contrast[2]))


def other_contrasts(one: RunRecord, other: RunRecord) -> Sequence[Contrast]:
    """Return what else differs between the environments, by its place in the record."""
    a, b = other_facts_of(one), other_facts_of(other)
    return [(name, a.get(name), b.get(name), "") for name in a | b if a.get(name) != b.get(name)]
