"""The graph of steps that ``needs`` makes."""

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter


def find_cycle(needs: Mapping[str, Sequence[str]]) -> list[str] | None:
    """Return one cycle, first and last id the same, or None."""
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        return list(error.args[1])
    return None


def ancestors(needs: Mapping[str, Sequence[str]], of: str) -> set[str]:
    """Return every id that ``of`` waits for, directly or not; the graph may have cycles."""
    found: set[str] = set()
    open_ids = list(needs.get(of, ()))
    while open_ids:
        current = open_ids.pop()
        if current not in found:
            found.add(current)
            open_ids.extend(needs.get(current, ()))
    return found
