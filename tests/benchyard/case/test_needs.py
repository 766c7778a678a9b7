"""Cycles and the order of steps."""

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from benchyard.case.needs import MOST_CYCLES, order_of

SIZE = 6
GRAPHS = st.lists(st.lists(st.integers(0, SIZE - 1), max_size=4), min_size=SIZE, max_size=SIZE)


def ancestors(needs: Sequence[Sequence[int]], of: int) -> set[int]:
    """Find them the plain way."""
    found: set[int] = set()
    left = [*needs[of]]
    while left:
        current = left.pop()
        if current not in found:
            found.add(current)
            left.extend(needs[current])
    return found


def test_a_long_chain_is_no_trouble() -> None:
    order = order_of([[n - 1] if n else [] for n in range(5_000)])
    assert order.cycles == []
    assert order.before[4_999].bit_count() == 4_999


def test_ten_thousand_steps_that_all_wait_for_themselves_are_told_of_a_few() -> None:
    assert len(order_of([[n, 0] for n in range(10_000)]).cycles) == MOST_CYCLES


@settings(deadline=None)
@given(needs=GRAPHS)
def test_there_is_a_cycle_where_a_step_is_its_own_ancestor(needs: list[list[int]]) -> None:
    order = order_of(needs)
    assert bool(order.cycles) == any(step in ancestors(needs, step) for step in range(SIZE))
    for cycle in order.cycles:
        assert cycle[0] == cycle[-1]
        assert all(later in needs[earlier] for earlier, later in pairwise(cycle))


@settings(deadline=None)
@given(needs=GRAPHS)
def test_without_a_cycle_steps_wait_for_all_their_ancestors(needs: list[list[int]]) -> None:
    order = order_of(needs)
    if not order.cycles:
        for step in range(SIZE):
            found = {other for other in range(SIZE) if order.waits(step, other)}
            assert found == ancestors(needs, step)
            assert all(order.ranks[other] < order.ranks[step] for other in found)
