"""Which composite indexes there are, and whether they answer a query.

The rules are those of the datastore_index module of App Engine's SDK: a query needs an index that
begins with the properties it holds equal, in any order, goes on with those that it sorts by and
compares, in this order and direction, and ends with the other ones that it projects. It may be
put together from several indexes with the same end. Queries on one property, and those that only
hold properties equal, need none.
Source: https://cloud.google.com/datastore/docs/concepts/indexes
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import grpc
import yaml

from tests.emulators.datastore.messages import PropertyFilter
from tests.emulators.datastore.ordering import KEY, Column
from tests.emulators.datastore.planning import Condition, Either, Plan
from tests.emulators.datastore.refusals import RefusedError

_EQUAL = (PropertyFilter.EQUAL, PropertyFilter.IN)


@dataclass(frozen=True, slots=True)
class Index:
    """A composite index.

    Args:
        ancestor: Whether it answers queries for what is below a key.
    """

    kind: str
    ancestor: bool
    columns: tuple[Column, ...]

    def __str__(self) -> str:
        ancestor = "  ancestor: yes\n" if self.ancestor else ""
        columns = "".join(
            f"  - name: {column.name}\n" + "    direction: desc\n" * column.descending
            for column in self.columns
        )
        return f"- kind: {self.kind}\n{ancestor}  properties:\n{columns}"


@dataclass(frozen=True, slots=True)
class Need:
    """The index that a query needs.

    Args:
        equal: What it begins with, in any order.
        sorted_by: What comes then.
        projected: What it ends with, in any order.
    """

    kind: str
    ancestor: bool
    equal: frozenset[str]
    sorted_by: tuple[Column, ...]
    projected: frozenset[str]

    def covered(self, index: Index) -> frozenset[str] | None:
        """Return which of the equal properties an index begins with; None if it is no use."""
        if index.kind != self.kind or index.ancestor > self.ancestor:
            return None
        length = len(index.columns) - len(self.sorted_by) - len(self.projected)
        if length < 0:
            return None
        beginning, rest = index.columns[:length], index.columns[length:]
        names = frozenset(column.name for column in beginning)
        end = frozenset(column.name for column in rest[len(self.sorted_by) :])
        fits = rest[: len(self.sorted_by)] == self.sorted_by and end == self.projected
        return names if fits and names <= self.equal else None

    def recommended(self) -> Index:
        """Return the one index that would do."""
        equal, projected = (map(Column, sorted(names)) for names in (self.equal, self.projected))
        return Index(self.kind, self.ancestor, (*equal, *self.sorted_by, *projected))


class Indexes:
    """All composite indexes of a database.

    Args:
        known: None if every query shall find the index that it needs.
    """

    def __init__(self, known: Iterable[Index] | None = ()) -> None:
        self._known = None if known is None else tuple(known)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read an index.yaml."""
        document: dict[str, Any] = yaml.safe_load(path.read_text("utf-8")) or {}
        listed: list[dict[str, Any]] = document.get("indexes") or []
        return cls(map(_index, listed))

    def check(self, plan: Plan) -> None:
        """Refuse a query that no index answers.

        Raises:
            RefusedError: If so; it says which index would.
        """
        for need in () if self._known is None else needs(plan):
            if not self._is_met(need):
                raise RefusedError(
                    grpc.StatusCode.FAILED_PRECONDITION,
                    f"no matching index found. recommended index is:\n{need.recommended()}",
                )

    def _is_met(self, need: Need) -> bool:
        covered: set[str] = set()
        useful = False
        below = not need.ancestor
        for index in self._known or ():
            names = need.covered(index)
            if names is not None:
                useful, below = True, below or index.ancestor
                covered |= names
        return useful and below and covered >= need.equal


def needs(plan: Plan) -> Iterator[Need]:
    """Yield the composite indexes without which a query has no answer; often there are none."""
    if plan.kind is None or plan.kind.startswith("__"):
        return
    for conditions in _alternatives(plan.others):
        need = _need(plan, plan.kind, [*plan.equal, *plan.ranges, *conditions])
        names = {each.name for each in need.sorted_by} | need.equal | need.projected
        simple = len(names) == 1 and not need.ancestor
        if (need.sorted_by or need.projected) and not (simple and names != {KEY}):
            yield need


def _need(plan: Plan, kind: str, conditions: Sequence[Condition]) -> Need:
    equal = frozenset(each.name for each in conditions if each.operator in _EQUAL)
    compared = sorted({each.name for each in conditions} - equal)
    ordered = [column for column in plan.orders if column.name not in equal]
    if not ordered and set(plan.distinct) != set(plan.projection):
        ordered = [Column(name) for name in plan.distinct]
    names = {column.name for column in ordered}
    ordered.extend(Column(name) for name in compared if name not in names)
    while ordered and ordered[-1] == Column(KEY):
        ordered.pop()
    projected = set(plan.projection) - equal - {KEY} - {column.name for column in ordered}
    return Need(
        kind, plan.ancestor is not None, equal - {KEY}, tuple(ordered), frozenset(projected)
    )


def _alternatives(others: Sequence[Condition | Either]) -> Iterator[list[Condition]]:
    """Yield each set of conditions that makes an entity a result."""
    if not others:
        yield []
        return
    first, rest = others[0], others[1:]
    branches = first.branches if isinstance(first, Either) else ((first,),)
    for branch in branches:
        for head in _alternatives(branch) if isinstance(first, Either) else [[first]]:
            for tail in _alternatives(rest):
                yield [*head, *tail]


def _index(given: dict[str, Any]) -> Index:
    columns = tuple(
        Column(each["name"], str(each.get("direction", "asc")).startswith("desc"))
        for each in given["properties"]
    )
    return Index(given["kind"], given.get("ancestor") in (True, "yes", "true"), columns)
