"""Numbers, times, sizes, shares and moments as people read them, in the same form everywhere.

Whatever shows a quantity to people (terminal, explorer, Markdown, reports, pictures) writes it with
these functions. JSON and CSV hold the numbers themselves.
"""

import math
from datetime import UTC, datetime
from decimal import Decimal

#: Stands for what is not known.
UNKNOWN = "-"
#: From here on a number has so many zeros that only an exponent can be read.
_HUGE, _TINY = 1e15, 1e-6
#: Units that take a prefix, alone and per second; 12 krows/s is no form that anybody writes.
_PREFIXED = frozenset({"B", "bit", "Hz", "J", "W"})
_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def number(value: float, digits: int = 2) -> str:
    """Write a number with so many digits that count: 240, 0.051, 12,000, 3.2e-16, 6e+23.

    Python's own ``g`` turns to exponents (2.4e+02) as soon as a number has more digits before its
    point than were asked for.

    Args:
        value: May be infinite.
        digits: 1 or more; zeros at the end are left out.
    """
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞" if value > 0 else "-∞"
    text = f"{value:.{digits}g}"
    return f"{Decimal(text):,f}" if not value or _TINY <= abs(value) < _HUGE else text


def plural(count: float, noun: str) -> str:
    """Return ``3 times`` or ``1 time``."""
    return f"{count:,.0f} {noun}{'s' * (count != 1)}"


def percent(relative: float, digits: int = 2) -> str:
    """Write a relative number in percent: 2.4 is ``240 %``."""
    return f"{number(100 * relative, digits)} %"


def scale(value: float, unit: str, digits: int = 4, *, every: bool = False) -> tuple[float, str]:
    """Return the size and the name of the unit in which a value has one to three whole digits.

    Args:
        digits: That are shown: what they round to a thousand has the next unit.
        every: Whether every unit takes a prefix, as there is little room.
    """
    rounded = abs(float(f"{value:.{digits}g}"))
    if unit == "s":
        found = next((one for one in _TIMES if rounded >= one[0]), _TIMES[-1])
        return found if value else _TIMES[0]
    if not every and unit.removesuffix("/s") not in _PREFIXED:
        return 1.0, unit
    size, prefix = next((one for one in _PREFIXES if rounded >= one[0]), _PREFIXES[-1])
    return size, f"{prefix}{unit}"


def amount(value: float | None, unit: str | None = None, digits: int = 4) -> str:
    """Write a value with the unit that suits it: ``2.5 ms``, ``12.3 MB``, ``240/s``.

    Args:
        value: ``-`` is written for None.
        unit: That the value is stored in; None and 1 for a mere number.
    """
    if value is None:
        return UNKNOWN
    if unit == "s":
        return duration(value)
    size, name = scale(value, "" if unit in (None, "1") else unit, digits)
    return number(value / size, digits) + ("/s" if name == "1/s" else f" {name}" if name else "")


def tick(value: float, unit: str) -> str:
    """Write a value for an axis, with three digits and as short as it can be."""
    if not value:
        return "0"
    if unit == "cores":
        return f"{number(value, 3)} {'core' if value == 1 else 'cores'}"
    size, name = scale(value, "" if unit == "1/s" else unit, 3, every=True)
    return f"{number(value / size, 3)} {name}".rstrip() + ("/s" if unit == "1/s" else "")


def duration(seconds: float | None) -> str:
    """Write a length of time with the unit that suits it; ``-`` for None."""
    if seconds is None:
        return UNKNOWN
    if seconds < 0:
        return f"-{duration(-seconds)}"
    # The next unit begins where rounding would show a thousand of this one.
    if not 0 < seconds < 1e9:
        return f"{number(seconds, 3)} s"
    if seconds < 999.5e-6:
        size, unit = (1e6, "µs") if seconds >= 999.5e-9 else (1e9, "ns")
        return f"{seconds * size:#.3g}".rstrip(".") + f" {unit}"
    if seconds < 0.99995:
        return f"{seconds * 1e3:.1f} ms"
    if seconds < 119.995:
        return f"{seconds:.2f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def day_and_time(at: datetime | float | None) -> str:
    """Write a moment in UTC, to the second, for a place that says itself that it is UTC.

    Args:
        at: Or seconds since 1970; ``-`` is written for None and for what no calendar has.
    """
    try:
        known = at if isinstance(at, datetime) or at is None else datetime.fromtimestamp(at, UTC)
        return f"{known.astimezone(UTC):%Y-%m-%d %H:%M:%S}" if known else UNKNOWN
    except (ValueError, OverflowError, OSError):
        return UNKNOWN


def moment(at: datetime | float | None) -> str:
    """Write a moment with its time zone, which is UTC; see ``day_and_time``."""
    text = day_and_time(at)
    return text if text == UNKNOWN else f"{text} UTC"


def shorten(text: str, longest: int, head: int = 1) -> str:
    """Cut off the end of a text that has more characters than ``longest``, or cut out its middle.

    Args:
        head: One character in so many of what is kept comes from the beginning.
    """
    if len(text) <= longest:
        return text
    first = (longest - 1) // head
    return f"{text[:first]}…{text[len(text) - (longest - 1 - first) :]}"
