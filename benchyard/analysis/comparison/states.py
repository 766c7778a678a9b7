"""What is said of changes of level, and which of them belong together.

Changes of several steps and metrics of a case that began together are one item. Where most cases
of a host changed together, the host did. An item stays open until somebody accepts it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from benchyard.analysis.comparison.levels import home_of
from benchyard.analysis.comparison.moves import (
    Move,
    history_of,
    move_document,
    move_in_words,
    moves,
)
from benchyard.analysis.comparison.request import pair
from benchyard.analysis.comparison.rows import Comparison, Row, Rule
from benchyard.analysis.comparison.run_sets import RunSet, host_of
from benchyard.analysis.comparison.sides import Places, read_sides
from benchyard.analysis.comparison.verdicts import compare
from benchyard.core.model import Json, JsonObject
from benchyard.core.quantity import plural
from benchyard.core.wording import printable, some
from benchyard.results.annotations import Annotation, AnnotationKind, annotations_of
from benchyard.statistics.comparison import Verdict

#: So many cases of a host that changed together, and half of those that were compared, at least,
#: are a change of the host.
_CASES = 3
#: How the campaigns before and the newest one are called.
SIDES = ("the campaigns before", "the newest campaign")


@dataclass(frozen=True, slots=True)
class ChangeItem:
    """Changes of one case that began together.

    Args:
        moves: Of each step and metric, the largest first.
        annotation: What was said of it last; None while it is open.
        cases: How many cases of the host changed with it; 0 if it is no change of the host.
    """

    moves: Sequence[tuple[Row, Move]]
    annotation: Annotation | None = None
    cases: int = 0

    @property
    def case(self) -> str:
        """Title of the case."""
        return self.moves[0][0].case

    @property
    def since(self) -> datetime:
        """When the first campaign at the new level began."""
        return self.moves[0][1].since

    @property
    def is_open(self) -> bool:
        """Whether somebody has to look at it."""
        return not self.cases and not (self.annotation and self.annotation.closes)

    @property
    def state(self) -> str:
        """It in words: "accepted by Ada: new compiler", "open"."""
        if self.annotation is not None:
            return str(self.annotation)
        return f"with {plural(self.cases, 'case')} of this host" if self.cases else "open"

    def __str__(self) -> str:
        """Say it as a sentence."""
        others = [f"{row.metric} of {row.candidate.name}" for row, _ in self.moves[1:]]
        also = f"; also {printable(some(others, 3))}" if others else ""
        return f"{move_in_words(*self.moves[0])}{also}; {printable(self.state)}"

    def to_json(self) -> JsonObject:
        """Return it for a document."""
        moved: list[Json] = [move_document(*one) for one in self.moves]
        return {"case": self.case, "state": self.state, "open": self.is_open, "moves": moved}


def cases_of(names: Sequence[str], places: Places) -> dict[str, RunSet]:
    """Return the named cases by title; all with results below the root if none is named."""
    sides = read_sides(names or (str(places.root),), places)
    return {title: runs for side in sides for title, runs in side.cases.items()}


def against_level(
    before: Mapping[str, RunSet],
    found: Mapping[str, RunSet],
    rule: Rule,
    sides: tuple[str, str] = SIDES,
) -> Comparison:
    """Compare campaigns with those before; ``rule.campaigns`` tells with how many."""
    paired = replace(pair(before, found), baseline=sides[0], candidate=sides[1])
    return compare(paired, replace(rule, other_work=False, strict=True))


def change_items(comparison: Comparison, now: datetime | None = None) -> list[ChangeItem]:
    """Return the changes of level in the candidates' histories, case by case, oldest first.

    Args:
        now: When annotations have to hold.
    """
    return _as_items(comparison, moves(comparison), now or datetime.now(UTC))


def suspected_items(
    comparison: Comparison, threshold: float, now: datetime | None = None
) -> list[ChangeItem]:
    """Return what the newest campaigns make suspected of being slower, case by case.

    After a change that was accepted or raised an alarm, its level is the one to be held against.

    Args:
        comparison: By durations.
        threshold: |z| above which something is suspected.
        now: When annotations have to hold.
    """
    found = ((row, _suspicion(comparison, row, threshold)) for row in comparison.asked)
    slower = [(row, move) for row, move in found if move and move.change.size > 0]
    return _as_items(comparison, slower, now or datetime.now(UTC))


def _suspicion(comparison: Comparison, row: Row, threshold: float) -> Move | None:
    known = [one.since for one in _annotations_of(row) if one.accepts or one.alarms]
    base = max(map(datetime.fromisoformat, known), default=None)
    return history_of(comparison, row).suspicion(threshold, base)


def _as_items(
    comparison: Comparison, moved: Iterable[tuple[Row, Move]], now: datetime
) -> list[ChangeItem]:
    found = [_annotated(item, now) for item in _grouped(moved)]
    compared = len({pair.title for pair in comparison.pairs})
    return [
        replace(item, cases=cases if cases >= max(_CASES, compared / 2) else 0)
        for item in found
        for cases in [len({other.case for other in found if _together(item, other)})]
    ]


def _grouped(found: Iterable[tuple[Row, Move]]) -> Iterator[ChangeItem]:
    order = sorted(found, key=lambda one: (one[0].case, one[1].since))
    group: list[tuple[Row, Move]] = []
    for row, move in order:
        if group and (group[0][0].case != row.case or move.since > group[0][1].near[1]):
            yield _item(group)
            group = []
        group.append((row, move))
    if group:
        yield _item(group)


def _item(group: Sequence[tuple[Row, Move]]) -> ChangeItem:
    return ChangeItem(sorted(group, key=lambda one: abs(one[1].change.size), reverse=True))


def _together(one: ChangeItem, other: ChangeItem) -> bool:
    first, last = one.moves[0][1].near
    return first <= other.since <= last


def _annotated(item: ChangeItem, now: datetime) -> ChangeItem:
    row, move = item.moves[0]
    first, last = move.near
    said = [
        one
        for one in _annotations_of(row)
        if one.holds(now) and first <= datetime.fromisoformat(one.since) <= last
    ]
    return replace(item, annotation=said[-1] if said else None)


def _annotations_of(row: Row) -> list[Annotation]:
    home, host = home_of(row.pair.candidate.folder), host_of(row.pair.candidate)
    return annotations_of(home, row.candidate.id, row.metric, str(host or ""))


# -- the newest campaign


def without_accepted(comparison: Comparison, now: datetime | None = None) -> Comparison:
    """Call a change of the newest campaign that was accepted neither worse nor better."""
    moment = now or datetime.now(UTC)
    rows = (_unless_accepted(row, moment) for row in comparison.rows)
    return replace(comparison, rows=tuple(rows))


def _unless_accepted(row: Row, now: datetime) -> Row:
    if row.verdict not in (Verdict.REGRESSION, Verdict.IMPROVEMENT):
        return row
    before, newest = (side.records[-1].began for side in (row.pair.baseline, row.pair.candidate))
    for one in _annotations_of(row):
        since = datetime.fromisoformat(one.since)
        ignored = one.kind is AnnotationKind.IGNORED and since <= newest and one.holds(now)
        if ignored or (one.closes and before < since <= newest):
            return replace(row, judgement=replace(row.judgement, verdict=Verdict.CHANGE))
    return row
