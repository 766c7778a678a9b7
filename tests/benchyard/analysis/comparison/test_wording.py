"""A comparison in words and figures."""

import pytest

from benchyard.analysis.comparison.tables import table
from benchyard.analysis.comparison.wording import change, change_between, p_value, signed
from tests.benchyard.analysis.comparison.conftest import BASE, compared, queries


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (1.0, "+0.0 %"),
        (0.99999, "+0.0 %"),
        (1.0214, "+2.1 %"),
        (0.5, "-50.0 %"),
        (9.0, "+800.0 %"),
        (12.0, "12-fold"),
        (None, "-"),
    ],
)
def test_a_ratio_reads_as_a_change(ratio: float | None, text: str) -> None:
    assert change(ratio) == text


@pytest.mark.parametrize(
    ("ratio", "before", "after", "text"),
    [
        (2.379, 1.05, 2.46, "+137.9 % of pairs"),
        (2.343, 1.05, 2.46, "+134.3 %"),
        (1.0, 1.0, 1.004, "+0.0 %"),
        (None, 1.0, 2.0, "-"),
        (2.0, None, None, "+100.0 %"),
    ],
)
def test_a_change_agrees_with_the_medians_beside_it_or_says_what_it_is(
    ratio: float | None, before: float | None, after: float | None, text: str
) -> None:
    assert change_between(ratio, before, after) == text


def test_a_difference_has_its_sign() -> None:
    assert [signed(v, "s") for v in (0.5, -0.5, 0.0, None)] == [
        "+500.0 ms",
        "-500.0 ms",
        "0 s",
        "-",
    ]
    assert [p_value(p) for p in (1.0, 0.0123, 1e-9)] == ["1", "0.012", "<0.0001"]


def test_the_table_draws_the_size_of_a_change() -> None:
    base = queries(dict.fromkeys("abcd", BASE))
    factors = dict(zip("abcd", (1.02, 1.1, 2, 0.9), strict=True))
    other = queries({name: [f * v for v in BASE] for name, f in factors.items()})
    drawn = table(compared(base, other))
    assert drawn.heads[-1] == "Verdict"
    assert {row[0]: row[-2] for row in drawn.texts()[1:]} == {
        "A": "▲",
        "B": "▲▲",
        "C": "▲▲▲",
        "D": "▼▼",
    }
