"""Shortened texts."""

import pytest

from benchyard.core.wording import shorten, shorten_middle


@pytest.mark.parametrize(
    ("text", "end", "middle"),
    [("12345", "12345", "12345"), ("123456", "1234…", "12…56"), ("1" * 99, "1111…", "11…11")],
)
def test_a_text_has_at_most_so_many_characters(text: str, end: str, middle: str) -> None:
    assert (shorten(text, 5), shorten_middle(text, 5)) == (end, middle)
    assert len(shorten_middle(text, 6)) == min(len(text), 6)
