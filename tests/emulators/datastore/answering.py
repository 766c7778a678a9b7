"""Queries answered from indexes that are made for them when they first come."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.emulators.datastore.messages import Message, PropertyFilter
from tests.emulators.datastore.ordering import Row, values_of
from tests.emulators.datastore.planning import Condition, Either, Plan
from tests.emulators.datastore.store import Shelf
from tests.emulators.datastore.values import encoded_key, split, successor, turned

_UPWARDS = (PropertyFilter.GREATER_THAN, PropertyFilter.GREATER_THAN_OR_EQUAL)
_PAST = (PropertyFilter.GREATER_THAN, PropertyFilter.LESS_THAN_OR_EQUAL)


@dataclass(frozen=True, slots=True)
class Found:
    """One result.

    Args:
        place: Its entry in the index.
        cursor: The place after which the next result is.
    """

    place: bytes
    cursor: bytes
    row: Row


class Search:
    """One query on all entities of a kind.

    Args:
        shelf: The entities; an index for the query is made there if there is none yet.
    """

    def __init__(self, plan: Plan, shelf: Shelf) -> None:
        self._plan = plan
        self._columns = plan.columns()
        self._index = shelf.index(plan.signature())
        first = self._columns[0].name
        self._bounding = [each for each in plan.ranges if each.name == first]
        self._filters = [each for each in plan.ranges if each.name != first] + plan.others
        whole = [False] * len(plan.equal)
        self._turned = whole + [column.descending for column in self._columns]

    def results(self, start: bytes = b"", end: bytes | None = None) -> Iterator[Found]:
        """Yield the results that come after one place and not after another one."""
        number, last = self._bounds()
        number = max(number, self._index.after(start)) if start else number
        last = last if end is None else min(last, self._index.after(end))
        seen: set[bytes] = set()
        while number < last:
            place, row = self._index[number]
            number += 1
            if not self._wants(row, seen):
                continue
            cursor = place
            if self._plan.distinct:
                cursor = successor(place[: self._group_length(place)])
                number = self._index.after(cursor) if cursor else last
            yield Found(place, cursor, row)

    def projected(self, found: Found) -> dict[str, bytes]:
        """Return the values of a result that its index entry has, by property."""
        names = [each.name for each in self._plan.equal]
        names.extend(column.name for column in self._columns)
        return dict(zip(names, split(found.place, self._turned), strict=True))

    def _bounds(self) -> tuple[int, int]:
        """Return the numbers of the first entry in question and of the one after the last."""
        beginning = self._plan.beginning()
        starts, ends = [self._index.after(beginning)], [self._at(successor(beginning))]
        descending = self._columns[0].descending
        for each in self._bounding:
            value = turned(each.values[0]) if descending else each.values[0]
            edge = beginning + value
            if (each.operator in _PAST) != descending:
                edge = successor(edge)
            is_start = (each.operator in _UPWARDS) != descending
            (starts if is_start else ends).append(self._at(edge))
        return max(starts), min(ends)

    def _at(self, edge: bytes) -> int:
        return self._index.after(edge) if edge else len(self._index)

    def _wants(self, row: Row, seen: set[bytes]) -> bool:
        """Tell whether an entry is a result: an entity is one once, however often it is there."""
        if not self._plan.projection:
            if row.identity in seen:
                return False
            seen.add(row.identity)
        if self._plan.ancestor and not encoded_key(row.key()).startswith(self._plan.ancestor):
            return False
        return not self._filters or _holds(self._filters, row.entity())

    def _group_length(self, place: bytes) -> int:
        columns = len(self._plan.equal) + len(self._plan.distinct)
        return sum(map(len, split(place, self._turned[:columns])))


def _holds(filters: Sequence[Condition | Either], entity: Message) -> bool:
    return all(_holds_one(each, entity) for each in filters)


def _holds_one(given: Condition | Either, entity: Message) -> bool:
    if isinstance(given, Either):
        return any(_holds(branch, entity) for branch in given.branches)
    return given.admits(values_of(entity, given.name))
