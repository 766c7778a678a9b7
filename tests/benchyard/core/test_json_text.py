"""Texts that the fast library does not take go through Python's, and both refuse NaN."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchyard.core.json_text import decoded, encoded
from benchyard.core.model import Json

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    # Lone surrogates stand for bytes of file names that are no Unicode.
    | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(values)
@example(-(2**63) - 1)
@example([2**64, 10**40])
@example(0.1234567890123456789)
def test_what_was_written_reads_back(value: Json) -> None:
    text = encoded(value)
    assert json.loads(text) == value
    assert decoded(text.encode(errors="backslashreplace")) == value


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}'])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no number"):
        decoded(text.encode())


def test_who_does_not_need_exact_integers_gets_them_fast() -> None:
    assert decoded(b"[36893488147419103232, 5, 0.5]", exact=False) == [2.0**65, 5, 0.5]


def test_broken_text_is_an_error() -> None:
    for content in (b"", b"{", b"\xff"):
        with pytest.raises(ValueError, match=r"."):
            decoded(content)
