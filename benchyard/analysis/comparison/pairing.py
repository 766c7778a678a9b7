"""Which cases and steps of several sides are held against each other."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import combinations, pairwise

from benchyard.analysis.comparison.run_sets import Pairs, RunSet, pair
from benchyard.analysis.comparison.sides import Side, point_of
from benchyard.core.errors import InputError
from benchyard.core.model import plain, point_suffix
from benchyard.core.wording import hint


class Against(StrEnum):
    """What each side is compared with."""

    REFERENCE = "reference"
    PREVIOUS = "previous"
    ALL = "all"


def with_reference(sides: Sequence[Side], reference: str | None) -> list[Side]:
    """Return the sides, the reference first.

    Raises:
        InputError: If none of them is called so.
    """
    if reference is None:
        return list(sides)
    found = [side for side in sides if reference in (side.name, side.whole)]
    if len(found) != 1:
        names = [side.name for side in sides]
        raise InputError(f"no side is {reference!r}{hint(reference, names)}")
    return found + [side for side in sides if side is not found[0]]


def pair_sides(
    sides: Sequence[Side], steps: Mapping[str, str], against: Against = Against.REFERENCE
) -> list[Pairs]:
    """Pair the cases of the sides: of the first one with those of each other one by default.

    Cases are paired by title; where the sides have no title in common, by the point of the matrix.

    Args:
        steps: Id of a step of the first side to that of the same step on the other sides.
        against: What each side is paired with: the first one, the one before it, or all.

    Raises:
        InputError: If nothing pairs up, a run is on both sides, or a step is not there.
    """
    keyed = _by_point(sides) if _are_apart(sides) else [side.cases for side in sides]
    named = [_named_steps(cases, steps, first=not at) for at, cases in enumerate(keyed)]
    _refuse_unknown(sides, steps)
    return [
        _called(pair(named[one], named[other]), sides[one], sides[other])
        for one, other in _places(len(sides), against)
    ]


def _places(count: int, against: Against) -> Iterable[tuple[int, int]]:
    match against:
        case Against.REFERENCE:
            return ((0, other) for other in range(1, count))
        case Against.PREVIOUS:
            return pairwise(range(count))
        case Against.ALL:
            return combinations(range(count), 2)


def _called(two: Pairs, one: Side, other: Side) -> Pairs:
    # A single case needs no name that all sides have for it.
    keys = two.keys if len(one.cases) > 1 or len(other.cases) > 1 else ("",)
    return replace(two, baseline=one.name, candidate=other.name, keys=keys)


def _are_apart(sides: Sequence[Side]) -> bool:
    first = sides[0].cases.keys()
    return not any(first & side.cases.keys() for side in sides[1:])


def _by_point(sides: Sequence[Side]) -> list[dict[str, RunSet]]:
    """Return the cases of each side by those values of their points that its sides share."""
    values: dict[str, list[set[str]]] = {}
    for side in sides:
        points = [point_of(one) for one in side.cases.values()]
        for name in {name for point in points for name in point}:
            values.setdefault(name, []).append({plain(p[name]) for p in points if name in p})
    fixed = {name for name, of_sides in values.items() if all(len(v) == 1 for v in of_sides)}
    return [_keyed(side, fixed) for side in sides]


def _keyed(side: Side, fixed: set[str]) -> dict[str, RunSet]:
    names = {str(one.everything[-1].case.get("name")) for one in side.cases.values()}
    found: dict[str, RunSet] = {}
    for title, one in side.cases.items():
        rest = {name: value for name, value in point_of(one).items() if name not in fixed}
        found[point_suffix(rest)[1:-1] if rest and len(names) == 1 else title] = one
    return found


def _named_steps(
    cases: Mapping[str, RunSet], steps: Mapping[str, str], *, first: bool
) -> Mapping[str, RunSet]:
    """Let the steps of a side be paired by the ids that the first side has for them."""
    if first or not steps:
        return cases
    theirs = {other: one for one, other in steps.items()}
    return {
        # A step of theirs that is called like one of ours is no partner of ours any more.
        key: replace(
            one,
            compared_as={
                i: theirs.get(i, i) for i in one.step_ids if i in theirs or i not in steps
            },
        )
        for key, one in cases.items()
    }


def _refuse_unknown(sides: Sequence[Side], steps: Mapping[str, str]) -> None:
    if steps and sides[0].step is not None:
        raise InputError("--pair and steps behind the sides exclude each other")
    here, *others = [{i for one in side.cases.values() for i in one.step_ids} for side in sides]
    there = {i for ids in others for i in ids}
    problems = [
        *_unknown(steps, here, sides[0].name),
        *_unknown(steps.values(), there, "the others"),
    ]
    if problems:
        raise InputError("; ".join(problems))


def _unknown(wanted: Iterable[str], known: set[str], where: str) -> Iterator[str]:
    for step in wanted:
        if step not in known:
            yield f"--pair: no step of {where} is {step!r}{hint(step, known)}"
