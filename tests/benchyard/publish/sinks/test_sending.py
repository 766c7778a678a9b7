"""Batches, and delays before what failed is sent again."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from benchyard.publish.sinks.sending import RetryPolicy, batches


@given(st.lists(st.integers(0, 120)), st.integers(1, 9), st.integers(1, 200))
def test_nothing_is_lost_or_moved_and_no_batch_is_too_large(
    sizes: list[int], most: int, most_bytes: int
) -> None:
    things = list(enumerate(sizes))
    made = list(batches(things, lambda thing: thing[1], most, most_bytes))
    assert [thing for batch in made for thing in batch] == things
    for batch in made:
        assert 1 <= len(batch) <= most
        assert len(batch) == 1 or sum(size for _, size in batch) <= most_bytes


def test_batches_are_as_large_as_they_may_be() -> None:
    assert [len(batch) for batch in batches(range(1001), lambda _: 1, 500, 10**6)] == [500, 500, 1]
    assert [len(batch) for batch in batches(range(5), lambda _: 4, 500, 8)] == [2, 2, 1]


def test_delays_grow_to_a_bound_and_differ() -> None:
    policy = RetryPolicy(retries=8, first_s=1, longest_s=30)
    for number, delay in enumerate(policy.delays()):
        full = min(2.0**number, 30)
        assert 0.75 * full <= delay <= full
    assert len(list(policy.delays())) == 8
    assert list(RetryPolicy(retries=0).delays()) == []
    assert max(RetryPolicy(retries=2000).delays()) <= 30
    firsts = [next(policy.delays()) for _ in range(50)]
    assert any(one != other for one, other in pairwise(firsts))
