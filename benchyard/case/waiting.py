"""Which steps wait for which: ids, ``needs``, and what is wrong with them."""

from collections.abc import Iterator, Sequence
from typing import Any

from benchyard.case.building import step_id
from benchyard.case.graph import Order, order_of
from benchyard.case.problems import MOST_PROBLEMS
from benchyard.case.schema_errors import Finding
from benchyard.core.wording import hint, near_miss, quote

#: Names of so many neighbours are compared with an unknown one.
_NEIGHBOURS = 25
#: Longest cycle that a message shows in full.
_SHOWN = 20


class Waiting:
    """The steps of one case and their order; some may lack keys."""

    def __init__(self, steps: Sequence[dict[str, Any]]) -> None:
        self._steps = steps
        self.ids = [step_id(step, index) for index, step in enumerate(steps, 1)]
        self._places: dict[str, int] = {}
        self.findings: list[Finding] = [*self._twins()]
        needs = [[*dict.fromkeys(self._needed(position))] for position in range(len(steps))]
        self.order: Order = order_of(needs)
        for cycle in self.order.cycles:
            message = "the steps wait for each other: " + self._shown(cycle)
            self.findings.append((("steps",), message))

    def _twins(self) -> Iterator[Finding]:
        for position, identifier in enumerate(self.ids):
            if self._places.setdefault(identifier, position) != position:
                message = f"'{quote(identifier)}' is the id of an earlier step too"
                yield ("steps", position, "@id"), message

    def _needed(self, position: int) -> Iterator[int]:
        """Yield the positions of what a step needs; note what is no step."""
        needs = self._steps[position].get("needs")
        if needs is None:
            yield from (position - 1,) if position else ()
            return
        for place, needed in enumerate(needs):
            found = self._places.get(needed) if isinstance(needed, str) else None
            if found is not None:
                yield found
            elif isinstance(needed, str):
                yield from self._unknown(position, place, needed)

    def _unknown(self, position: int, place: int, needed: str) -> Iterator[int]:
        """Note an unknown need; yield the step that was most likely meant."""
        if len(self.findings) > MOST_PROBLEMS:
            return
        around = self.ids[max(0, position - _NEIGHBOURS) : position + _NEIGHBOURS]
        message = f"there is no step with the id '{quote(needed)}'{hint(needed, around)}"
        self.findings.append((("steps", position, "needs", place), message))
        near = self._places.get(near_miss(needed, around) or "")
        if near is not None and near < position:
            yield near

    def _shown(self, cycle: list[int]) -> str:
        names = [quote(self.ids[position]) for position in cycle]
        if len(names) > _SHOWN:
            names[_SHOWN // 2 : -_SHOWN // 2] = ["…"]
        return " → ".join(names)
