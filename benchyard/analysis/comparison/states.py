"""What is said of changes of level, and which of them belong together.

Changes of several steps and metrics of a case that began together are one item. Where most cases
of a host changed together, the host did. An item stays open until somebody accepts it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from benchyard.analysis.comparison.levels import home_of
from benchyard.analysis.comparison.moves import StepMove, history_of, moves, step_move
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

    moves: Sequence[StepMove]
    annotation: Annotation | None = None
    cases: int = 0

    @property
    def case(self) -> str:
        """Title of the case."""
        return self.moves[0].case

    @property
    def since(self) -> datetime:
        """When the first campaign at the new level began."""
        return self.moves[0].move.since

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

    @property
    def in_short(self) -> str:
        """It without its case: "duration_s of Load +5.2 % since … (9 campaigns); open"."""
        first = self.moves[0]
        return f"{first.what} {first.move.in_short}; {printable(self.state)}"

    def __str__(self) -> str:
        """Say it as a sentence."""
        others = [one.what for one in self.moves[1:]]
        also = f"; also {some(others, 3)}" if others else ""
        return f"{self.moves[0]}{also}; {printable(self.state)}"

    def to_json(self) -> JsonObject:
        """Return it for a document."""
        moved: list[Json] = [one.to_json() for one in self.moves]
        return {"case": self.case, "state": self.state, "open": self.is_open, "moves": moved}


def cases_of(names: Sequence[str], places: Places) -> dict[str, RunSet]:
    """Return the named cases by title; all with results below the root if none is named."""
    sides = read_sides(names or (str(places.results or places.root),), places)
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
    """Return the changes of level in the candidates' histories: see ``items_of``."""
    return items_of(moves(comparison), _cases(comparison), now)


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
    return items_of(_suspicions(comparison, threshold), _cases(comparison), now)


def _suspicions(comparison: Comparison, threshold: float) -> Iterator[StepMove]:
    for row in comparison.asked:
        said = _annotations_of(row)
        known = [datetime.fromisoformat(one.since) for one in said if one.accepts or one.alarms]
        base = max(known, default=None)
        move = history_of(comparison, row).suspicion(threshold, base)
        if move and move.change.size > 0:
            yield step_move(row, move)


def _annotations_of(row: Row) -> list[Annotation]:
    side = row.pair.candidate
    known = row.candidate.id, row.metric, str(host_of(side) or "")
    return annotations_of(home_of(side.folder), *known)


def _cases(comparison: Comparison) -> int:
    return len({one.title for one in comparison.pairs})


def items_of(
    found: Iterable[StepMove], cases: int, now: datetime | None = None
) -> list[ChangeItem]:
    """Return changes of level as items, case by case and host by host, oldest first.

    Args:
        cases: How many were looked at.
        now: When annotations have to hold.
    """
    moment = now or datetime.now(UTC)
    items = [_annotated(item, moment) for item in _grouped(found)]
    return [
        replace(item, cases=many if many >= max(_CASES, cases / 2) else 0)
        for item in items
        for many in [len({other.case for other in items if _together(item, other)})]
    ]


def _grouped(found: Iterable[StepMove]) -> Iterator[ChangeItem]:
    group: list[StepMove] = []
    for one in sorted(found, key=lambda one: (one.case, one.host, one.move.since)):
        first = group[0] if group else one
        apart = (first.case, first.host) != (one.case, one.host)
        if apart or one.move.since > first.move.near[1]:
            yield _item(group)
            group = []
        group.append(one)
    if group:
        yield _item(group)


def _item(group: Sequence[StepMove]) -> ChangeItem:
    return ChangeItem(sorted(group, key=lambda one: abs(one.move.change.size), reverse=True))


def _together(one: ChangeItem, other: ChangeItem) -> bool:
    first, last = one.moves[0].move.near
    return one.moves[0].host == other.moves[0].host and first <= other.since <= last


def _annotated(item: ChangeItem, now: datetime) -> ChangeItem:
    moved = item.moves[0]
    first, last = moved.move.near
    said = [
        one
        for one in annotations_of(moved.home, moved.step, moved.metric, moved.host)
        if one.holds(now) and first <= datetime.fromisoformat(one.since) <= last
    ]
    return replace(item, annotation=said[-1] if said else None)


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
