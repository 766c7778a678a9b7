"""Sizes of memory as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.case.sizes import size


@pytest.mark.parametrize(
    ("given_size", "expected"),
    [
        (1, 1),
        (17_179_869_184, 2**34),
        (2.0, 2),
        ("16GiB", 2**34),
        ("16 GB", 2**34),
        ("16g", 2**34),
        ("1.5 GiB", 3 * 2**29),
        (" 512MB ", 2**29),
        ("1", 1),
        ("128PiB", 2**57),
    ],
)
def test_a_size_is_so_many_bytes(given_size: str | float, expected: int) -> None:
    assert size(given_size) == expected


@pytest.mark.parametrize(
    "wrong", ["", "much", "16 Gibibyte", "-1GB", "1e9", "16GiBs", "\u0661GiB", "nan", "9" * 5000]
)
def test_what_is_no_size_is_told_with_an_example(wrong: str) -> None:
    with pytest.raises(ValueError, match="is no size; write it like 512MB or 16GiB"):
        size(wrong)


@pytest.mark.parametrize(
    ("wrong", "what"),
    [(0, "nothing"), ("0GiB", "nothing"), (-5, "nothing"), ("129PiB", "more"), (2**60, "more")],
)
def test_what_no_host_can_have_is_refused(wrong: str | int, what: str) -> None:
    with pytest.raises(ValueError, match=f"is {what}"):
        size(wrong)


@given(st.text() | st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_whatever_is_given_it_is_a_size_or_a_sentence(anything: str | float) -> None:
    assert _size_or_sentence(anything)


def _size_or_sentence(anything: str | float) -> bool:
    try:
        return size(anything) >= 1
    except ValueError as error:
        return "write" in str(error) and len(str(error)) < 200
