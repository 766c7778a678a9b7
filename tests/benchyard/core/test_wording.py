"""Shortened texts."""

import pickle

import pytest

from benchyard.core.quantity import shorten
from benchyard.core.wording import Sentence


@pytest.mark.parametrize(
    ("text", "end", "middle"),
    [("12345", "12345", "12345"), ("123456", "1234…", "12…56"), ("1" * 99, "1111…", "11…11")],
)
def test_a_text_has_at_most_so_many_characters(text: str, end: str, middle: str) -> None:
    assert (shorten(text, 5), shorten(text, 5, 2)) == (end, middle)
    assert len(shorten(text, 6, 2)) == min(len(text), 6)


def test_a_sentence_is_its_text_and_knows_its_form() -> None:
    said = Sentence("2: no '{}' here{more}", "2", more=" but 2 and {x}")
    assert said == "2: no '2' here but 2 and {x}"
    assert said.form == "2: no '{}' here{more}"


def test_a_sentence_travels_as_plain_text() -> None:
    assert pickle.loads(pickle.dumps(Sentence("is '{}'", "{x}"))) == "is '{x}'"  # noqa: S301 - ours
