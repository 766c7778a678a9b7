"""Rounding by the interval, and units."""

from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchyard.show.export.paper import Scale, rounded, scale_of, words_of

SECONDS = Scale(1.0, "s")


def statistics(median: float, low: float | None, high: float | None) -> dict[str, object]:
    return {"median": median, "median_interval": {"low": low, "high": high}}


@pytest.mark.parametrize(
    ("median", "low", "high", "expected"),
    [
        (12.3456, 12.1, 12.5, "12.35 +0.15 -0.25"),
        (12.3456, 12.3456, 12.4452, "12.35 +0.10 -0.00"),
        (0.00123456, 0.0012, 0.00124, "0.001235 +0.000005 -0.000035"),
        (7.55, 7.36, 18.46, "7.6 +10.9 -0.2"),
        (7.0, 6.999999, 8.0, "7.000 +1.000 -0.000"),
        (0.0, 0.0, 0.01, "0.000 +0.010 -0.000"),
        (0.0, 0.0, 0.0, "0 +0 -0"),
        (1234567.0, 1234567.0, 1234567.0, "1234567 +0 -0"),
        (-1.2345, -1.3, -1.2, "-1.234 +0.034 -0.066"),
        (1.23456, None, None, "1.23"),
        (123456.0, None, None, "123000"),
    ],
)
def test_the_farther_end_has_two_digits_and_the_nearer_at_least_one(
    median: float, low: float | None, high: float | None, expected: str
) -> None:
    assert str(rounded(statistics(median, low, high), SECONDS)) == expected


def test_what_is_not_known_has_no_figure() -> None:
    assert rounded({}, SECONDS) is None


_NUMBERS = st.floats(1e-9, 1e12)


@given(_NUMBERS, _NUMBERS, _NUMBERS)
def test_rounding_keeps_within_half_of_the_last_place(one: float, two: float, three: float) -> None:
    low, median, high = sorted((one, two, three))
    ends = (high - median, median - low)
    assume(max(ends) > 1e-12)
    figure = rounded(statistics(median, low, high), SECONDS)
    assert figure is not None
    assert figure.interval is not None
    place = Decimal(1).scaleb(int(figure.value.as_tuple().exponent))
    for made, exact in zip((figure.value, *figure.interval), (median, *ends), strict=True):
        assert made.as_tuple().exponent == figure.value.as_tuple().exponent
        assert abs(made - Decimal(repr(exact))) <= place / 2
    assert max(figure.interval) < 10_001 * place


@pytest.mark.parametrize(
    ("metric", "medians", "unit"),
    [
        ("duration_s", [0.002, 0.5], "ms"),
        ("duration_s", [0.002, 1.5], "s"),
        ("duration_s", [2e-7], "ns"),
        ("duration_s", [0.0], "s"),
        ("peak_bytes", [1500.0, 2.5e9], "GB"),
        ("peak_bytes", [999_999.0], "MB"),
        ("read_bytes_per_s", [1500.0], "kB/s"),
        ("peak_bytes", [0.0], "B"),
        ("rows_per_s", [1e6], "1/s"),
        ("row_count", [1e6], None),
        ("accuracy", [0.5], None),
        ("power_j", [5.0], "J"),
        ("duration_s", [], "s"),
    ],
)
def test_the_unit_suits_the_largest(metric: str, medians: list[float], unit: str | None) -> None:
    assert scale_of(metric, medians).unit == unit


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("duration_s", "duration"),
        ("rows_per_s", "rows"),
        ("resource_memory_peak_bytes", "resource memory peak"),
        ("row_count", "row count"),
        ("_s", "_s"),
    ],
)
def test_names_become_words_without_the_unit(metric: str, words: str) -> None:
    assert words_of(metric) == words
