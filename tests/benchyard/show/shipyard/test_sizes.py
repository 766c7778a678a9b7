"""Sizes in every form that was ever written."""

from typing import Any

import pytest

from benchyard.show.shipyard.events import read_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("125.1 MB", 125_100_000),  # docker of 2016
        ("123MB", 123_000_000),  # docker since 2017
        ("ago 125MB", 125_000_000),  # the last two columns of a later listing
        ("2 weeks ago 1.25GB", 1_250_000_000),
        ("222000111", 222_000_111),  # singularity, and what was saved
        ("0B", 0),
        ("1e+03MB", 1_000_000_000),  # docker rounds 999.9 to three digits
        ("1.5GiB", 1_610_612_736),
        ("", None),
        ("<none>", None),
        ("-5", None),
        ("nan MB", None),
        ("sha256:0a1b", None),
        ("9e99GB", None),
    ],
)
def test_a_size_is_read_in_each_form_and_units_are_decimal(text: str, size: int | None) -> None:
    assert read_size(text) == size


def test_what_a_message_tells_as_a_number_is_taken_as_it_is() -> None:
    told: list[Any] = [5, "5 kB", None, True, -1, 2.5, [], "x"]
    assert list(map(read_size, told)) == [5, 5000, *[None] * 6]
