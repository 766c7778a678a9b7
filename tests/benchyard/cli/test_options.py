"""What ``--runs`` and ``--until`` take."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.cli.options import parse_runs
from benchyard.core.errors import InputError


def test_a_range_and_a_precision_are_a_rule_that_a_fixed_number_needs_not() -> None:
    assert parse_runs(" 5 ") == {"runs": 5}
    assert parse_runs("5..30", 0.01) == {"runs": 5, "most_runs": 30, "until": 0.01}
    assert parse_runs("7..7", 0.005) == {"runs": 7, "most_runs": 7, "until": 0.005}


@pytest.mark.parametrize(
    ("text", "until", "sentence"),
    [
        *((text, 0.01, "write a number such as 5") for text in ("", "5-30", "5..", "\u0665")),
        *((text, None, "there can be 1 to 100,000 runs") for text in ("9" * 5000, "0", "100001")),
        ("5..99999999999", 0.01, "there can be 1 to 100,000 runs"),
        ("30..5", 0.01, "a range goes up"),
        ("5", 0.01, "--until 1% needs a range of runs such as --runs 5..30"),
        ("5..30", None, "needs the precision to stop at, such as --until 1%"),
        ("2..5", 0.01, "5 runs tell no median at the 95 % level"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(
    text: str, until: float | None, sentence: str
) -> None:
    with pytest.raises(InputError) as refused:
        parse_runs(text, until)
    assert sentence in str(refused.value)


@given(st.text(), st.none() | st.floats(0.001, 0.999))
def test_no_text_breaks_the_reader(text: str, until: float | None) -> None:
    try:
        fields = parse_runs(text, until)
    except InputError:
        return
    assert all(value > 0 for value in fields.values())
