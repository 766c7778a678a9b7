"""Joining columns comes to what matching name by name comes to."""

import math
import random
from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as st

from benchyard.show.shipyard.joining import join
from benchyard.show.shipyard.ledger import columns_of
from benchyard.show.shipyard.matching import End, match_one

NONE: tuple[tuple[int, ...], ...] = ((), (), ())
PLACES = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 12).map(float))


@given(
    st.lists(PLACES, max_size=14), st.lists(PLACES, max_size=14), st.randoms(use_true_random=False)
)
def test_columns_are_joined_as_names_are_matched(
    starts: list[tuple[int, int, float]],
    ends: list[tuple[int, int, float]],
    chance: random.Random,
) -> None:
    begun = defaultdict[tuple[int, int], list[float]](list)
    ended = defaultdict[tuple[int, int], list[End]](list)
    for node, image, at in starts:
        begun[node, image].append(at)
    for node, image, at in ends:
        ended[node, image].append((at + 0.5, None, None))
    expected, strays = set[tuple[int, int, float, float | None, bool]](), 0
    for key in begun.keys() | ended.keys():
        spans, alone = match_one("", begun[key], ended[key])
        strays += alone
        expected |= {(*key, one.start, one.duration, one.superseded) for one in spans}

    chance.shuffle(starts)
    moved = join(
        columns_of(*(zip(*starts, strict=True) if starts else ((), (), ()))),
        columns_of(
            *(zip(*[(n, i, a + 0.5) for n, i, a in ends], strict=True) if ends else ((),) * 3)
        ),
    )
    found = [
        (node, image, start, None if math.isnan(length) else length, given_up)
        for node, image, start, length, given_up in zip(
            moved.node.tolist(),
            moved.image.tolist(),
            moved.start.tolist(),
            moved.length.tolist(),
            moved.superseded.tolist(),
            strict=True,
        )
    ]
    assert (set(found), sum(moved.strays.values())) == (expected, strays)
    assert [row[0::2][:2] for row in found] == sorted(row[0::2][:2] for row in found)
