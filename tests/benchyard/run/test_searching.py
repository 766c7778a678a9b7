"""A pattern in output that comes bit by bit."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from benchyard.run.searching import Looking


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=6))
def test_a_pattern_is_found_however_it_is_cut(text: bytes, cuts: list[int]) -> None:
    whole = text + b"\n it is ready now\n"
    edges = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    looking = Looking(b"it is ready")
    found = [looking.finds(0, whole[a:b]) for a, b in pairwise(edges) if a < b]
    assert any(found)


def test_streams_are_lines_of_their_own() -> None:
    looking = Looking(b"^ready$")
    assert not looking.finds(0, b"one\nre")
    assert not looking.finds(1, b"ady\n")
    assert looking.finds(0, b"ady\n")
