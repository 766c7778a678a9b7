"""Keys of artifacts: what Prefect takes, and one for each title."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.show.pages import key_of

VALID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


@pytest.mark.parametrize("title", ["words", "tpch-sqlite", "a1"])
def test_clean_title_is_its_key(title: str) -> None:
    assert key_of("result", title) == f"result-{title}"


@given(st.text())
def test_any_title_makes_a_key_that_prefect_takes(title: str) -> None:
    assert VALID.fullmatch(key_of("result", title))
    assert len(key_of("result", title)) <= 120


@given(st.text(), st.text())
def test_two_titles_never_share_a_key(one: str, other: str) -> None:
    assert (key_of("result", one) == key_of("result", other)) == (one == other)


@pytest.mark.parametrize(
    ("one", "other"), [("a_b", "a-b"), ("A", "a"), ("x[s=1]", "x[s=10]"), ("é", "è"), ("", "-")]
)
def test_titles_that_look_alike_have_keys_of_their_own(one: str, other: str) -> None:
    assert key_of("result", one) != key_of("result", other)


def test_title_that_looks_like_a_key_of_another_has_its_own() -> None:
    made = key_of("result", "A").removeprefix("result-")
    assert key_of("result", made) != key_of("result", "A")


def test_kinds_never_meet() -> None:
    assert key_of("retries", "table-a") != key_of("retry-table", "a")
