"""Figures as people read them: plain, with few digits, never with an exponent."""

import math
from decimal import Decimal

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def plain(value: float, digits: int = 2) -> str:
    """Write a number with so many digits that count: 240, 0.051, 12,000.

    Python's own ``g`` turns to exponents (2.4e+02) as soon as a number has more digits before its
    point than were asked for.

    Args:
        value: May be infinite.
        digits: 1 or more; zeros at the end are left out.
    """
    if not math.isfinite(value):
        return "∞" if value > 0 else "-∞"
    return f"{Decimal(f'{value:.{digits}g}'):,f}"


def plural(count: float, noun: str) -> str:
    """Return ``3 times`` or ``1 time``."""
    return f"{count:,.0f} {noun}{'s' * (count != 1)}"


def percent(relative: float, digits: int = 2) -> str:
    """Write a relative number in percent: 2.4 is ``240 %``."""
    return f"{plain(100 * relative, digits)} %"


def short_seconds(value: float) -> str:
    """Write a time for an axis: three digits that count, no zeros behind them."""
    size = abs(value)
    scale, unit = next((one for one in _UNITS if size >= 0.9995 * one[0]), _UNITS[-1])
    return f"{plain(value / scale, 3)} {unit}" if value else "0"
