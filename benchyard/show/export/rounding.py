"""Medians rounded by their intervals, and the units that suit them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

from benchyard.core import quantity
from benchyard.results.summary_metrics import unit_and_direction

#: Digits of a median whose interval is not known or has no width.
_DIGITS = 3
#: Source: JCGM 100:2008 (GUM), 7.2.6: an uncertainty has two significant digits at most, and the
#: value is rounded to the same place.
_DIGITS_OF_HALF_WIDTH = 2
#: Endings that a metric's unit says again.
_ENDINGS = ("_bytes_per_s", "_per_s", "_s", "_bytes", "_hz", "_j")


@dataclass(frozen=True, slots=True)
class Figure:
    """A rounded median.

    Args:
        half_width: How far the farther end of its interval is; None if too few runs tell it.
    """

    value: Decimal
    half_width: Decimal | None = None

    def __str__(self) -> str:
        """Write it for people: ``12.34 ± 0.56``."""
        value = f"{self.value:f}"
        return value if self.half_width is None else f"{value} ± {self.half_width:f}"


@dataclass(frozen=True, slots=True)
class Scale:
    """A unit, and its size in the unit that values are stored in."""

    size: float = 1.0
    unit: str | None = None


def scale_of(metric: str, medians: Iterable[float], declared: str | None = None) -> Scale:
    """Return the unit in which the largest of some medians has one to three digits and a point.

    Args:
        declared: The unit that the case gives to the metric; without one the name tells it.
    """
    unit = declared or unit_and_direction(metric)[0]
    most = max((abs(median) for median in medians), default=0.0)
    return Scale(*quantity.scale(most, unit)) if unit not in (None, "1") else Scale()


def words_of(metric: str) -> str:
    """Return a metric's name as words, without its unit: ``resource memory peak``."""
    ending = next((one for one in _ENDINGS if metric.endswith(one)), "")
    return metric.removesuffix(ending).replace("_", " ").strip() or metric


def rounded(statistics: Mapping[str, Any], scale: Scale) -> Figure | None:
    """Return the median of ``statistics`` in the unit of a scale; None if there is none."""
    median = statistics.get("median")
    if median is None:
        return None
    interval: Mapping[str, Any] = statistics.get("median_interval") or {}
    low, high = interval.get("low"), interval.get("high")
    value = _scaled(median, scale)
    if low is None or high is None:
        return Figure(_to_digits(value, _DIGITS))
    half_width = _scaled(max(median - low, high - median), scale)
    if not half_width:
        return Figure(_to_digits(value, max(_DIGITS, value.adjusted() + 1)), Decimal(0))
    half_width = _to_digits(half_width, _DIGITS_OF_HALF_WIDTH)
    return Figure(value.quantize(_place(half_width), ROUND_HALF_EVEN), half_width)


def _scaled(value: float, scale: Scale) -> Decimal:
    # repr, not the exact binary value: its digits are those that were measured.
    return Decimal(repr(float(value))) / Decimal(repr(scale.size))


def _to_digits(value: Decimal, digits: int) -> Decimal:
    """Round to a number of significant digits; zeros before the point stay zeros."""
    if not value:
        return Decimal(0)
    place = Decimal(1).scaleb(value.adjusted() - digits + 1)
    made = value.quantize(place, ROUND_HALF_EVEN)
    if made.adjusted() > value.adjusted():  # 0.0996 to two digits is 0.10, not 0.100
        made = made.quantize(place.scaleb(1), ROUND_HALF_EVEN)
    return made


def _place(half_width: Decimal) -> Decimal:
    return Decimal(1).scaleb(int(half_width.as_tuple().exponent))
