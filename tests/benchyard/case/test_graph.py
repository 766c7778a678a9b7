"""Cycles and ancestors among steps."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from benchyard.case.graph import ancestors, find_cycle

IDS = st.sampled_from("abcdef")
GRAPHS = st.dictionaries(IDS, st.lists(IDS, max_size=4))


def test_a_chain_has_no_cycle() -> None:
    assert find_cycle({"a": [], "b": ["a"], "c": ["b", "a"]}) is None
    assert find_cycle({}) is None


def test_a_cycle_is_named_from_a_step_back_to_itself() -> None:
    cycle = find_cycle({"a": ["c"], "b": ["a"], "c": ["b"], "d": ["a"]})
    assert cycle is not None
    assert cycle[0] == cycle[-1]
    assert sorted(cycle[1:]) == ["a", "b", "c"]


def test_a_step_that_waits_for_itself_is_a_cycle() -> None:
    assert find_cycle({"a": ["a"]}) == ["a", "a"]


def test_a_long_chain_is_no_trouble() -> None:
    chain = {str(n): [str(n - 1)] if n else [] for n in range(5_000)}
    assert find_cycle(chain) is None
    assert len(ancestors(chain, "4999")) == 4_999


def test_ancestors_are_everything_waited_for_however_far() -> None:
    needs = {"a": [], "b": ["a"], "c": ["b"], "d": [], "e": ["c", "d"]}
    assert ancestors(needs, "e") == {"a", "b", "c", "d"}
    assert ancestors(needs, "a") == set()
    assert ancestors(needs, "nobody") == set()


def reaches(needs: Mapping[str, Sequence[str]], start: str, end: str) -> bool:
    return end in ancestors(needs, start)


@settings(deadline=None)
@given(needs=GRAPHS)
def test_there_is_a_cycle_where_a_step_is_its_own_ancestor(
    needs: Mapping[str, Sequence[str]],
) -> None:
    cycle = find_cycle(needs)
    assert (cycle is not None) == any(reaches(needs, name, name) for name in needs)
    if cycle:
        assert cycle[0] == cycle[-1]
        assert all(first in needs[second] for first, second in pairwise(cycle))
