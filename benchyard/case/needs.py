"""The graph of steps: ids, ``needs``, and what is wrong with them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any, cast

from benchyard.case.problems import MOST_PROBLEMS, Finding, JsonPath
from benchyard.core.wording import Sentence, hint, near_miss, quote

#: Most cycles that are reported; the next ones show once these are mended.
MOST_CYCLES = 20


@dataclass(frozen=True, slots=True)
class StepOrder:
    """Which steps wait for which, by their positions.

    Args:
        cycles: Each from a step back to itself; what closes one is left out of all else.
        before: Of each step the set of those that it waits for, directly or not, as bits.
        ranks: Of each step a number above those of all that it waits for.
    """

    before: list[int]
    ranks: list[int]
    cycles: list[list[int]]

    def waits(self, later: int, earlier: int) -> bool:
        """Tell whether a step waits for another one, directly or not."""
        return bool(self.before[later] >> earlier & 1)


def order_of(needs: Sequence[Sequence[int]]) -> StepOrder:
    """Return the order of a graph.

    Args:
        needs: Of each step the positions of those that it waits for.
    """
    graph = [[*each] for each in needs]
    cycles: list[list[int]] = []
    while True:
        try:
            ranked = [*TopologicalSorter(dict(enumerate(graph))).static_order()]
            break
        except CycleError as error:
            cycles.append(_from_least(error.args[1][:0:-1]))
            *_, last, first = cycles[-1]
            graph[last] = [needed for needed in graph[last] if needed != first]
        if len(cycles) == MOST_CYCLES:
            graph = [[n for n in each if n < position] for position, each in enumerate(graph)]
    before = [0] * len(graph)
    for position in ranked:
        for needed in graph[position]:
            before[position] |= before[needed] | 1 << needed
    ranks = {position: rank for rank, position in enumerate(ranked)}
    return StepOrder(before, [ranks[position] for position in range(len(graph))], cycles)


def _from_least(cycle: list[int]) -> list[int]:
    """Return a cycle from its first step in the case back to that."""
    at = cycle.index(min(cycle))
    return [*cycle[at:], *cycle[: at + 1]]


#: Names of so many neighbours are compared with an unknown one.
_NEIGHBOURS = 25
#: Longest cycle that a message shows in full.
_SHOWN = 20


class StepNeeds:
    """The steps of one case and their order; some may lack keys."""

    def __init__(self, steps: Sequence[dict[str, Any]]) -> None:
        self._steps = steps
        self.ids = [step_id(step, index) for index, step in enumerate(steps, 1)]
        self._places: dict[str, int] = {}
        self.findings: list[Finding] = [*self._twins()]
        needs = [[*dict.fromkeys(self._needed(position))] for position in range(len(steps))]
        self.order: StepOrder = order_of(needs)
        for cycle in self.order.cycles:
            self.findings.append((("steps",), self._circle(cycle)))

    def _twins(self) -> Iterator[Finding]:
        for position, identifier in enumerate(self.ids):
            if self._places.setdefault(identifier, position) != position:
                message = Sentence("'{}' is the id of an earlier step too", quote(identifier))
                yield ("steps", position, "@id"), message

    def place(self, identifier: object) -> int | None:
        """Return the position of the step with an id."""
        return self._places.get(identifier) if isinstance(identifier, str) else None

    def _needed(self, position: int) -> Iterator[int]:
        """Yield the positions of what a step needs; note what is no step."""
        compared = answer_wanted(self._steps[position])
        found = self.place(compared)
        if found is not None and found != position:
            yield found
        elif found is None and compared is not None:
            yield from self._unknown(position, ("check", "equal_to"), compared)
        needs = self._steps[position].get("needs")
        if needs is None:
            yield from (position - 1,) if position else ()
            return
        for place, needed in enumerate(needs):
            found = self.place(needed)
            if found is not None:
                yield found
            elif isinstance(needed, str):
                yield from self._unknown(position, ("needs", place), needed)

    def _unknown(self, position: int, place: JsonPath, needed: str) -> Iterator[int]:
        """Note an unknown need; yield the step that was most likely meant."""
        if len(self.findings) > MOST_PROBLEMS:
            return
        around = self.ids[max(0, position - _NEIGHBOURS) : position + _NEIGHBOURS]
        form = "there is no step with the id '{}'{near}"
        message = Sentence(form, quote(needed), near=hint(needed, around))
        self.findings.append((("steps", position, *place), message))
        near = self._places.get(near_miss(needed, around) or "")
        if near is not None and near < position:
            yield near

    def _circle(self, cycle: list[int]) -> Sentence:
        names = [quote(self.ids[position]) for position in cycle]
        if len(names) > _SHOWN:
            names[_SHOWN // 2 : -_SHOWN // 2] = ["…"]
        return Sentence("the steps wait for each other: " + " → ".join(["{}"] * len(names)), *names)


def answer_wanted(step: Mapping[str, Any]) -> str | None:
    """Return the id of the step whose answer a step must equal."""
    check = step.get("check")
    wanted = cast("dict[str, Any]", check).get("equal_to") if isinstance(check, dict) else None
    return wanted if isinstance(wanted, str) else None


def step_id(fields: Mapping[str, Any], index: int) -> str:
    """Return the step's ``@id``, or ``step<index>`` where it has none."""
    return str(fields.get("@id", f"step{index}"))
