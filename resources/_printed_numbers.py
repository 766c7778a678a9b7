"""Numbers as programs print them: with thousands separated, with a unit, inside of other text."""

import re
from contextlib import suppress
from decimal import Decimal

from benchyard.core.amounts import UNITS, unit_size
from benchyard.core.wording import quote

#: What stands between digits of one number.
BETWEEN = (
    ".,'_\N{RIGHT SINGLE QUOTATION MARK}\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}"
)
_SIGN = "[-+\N{MINUS SIGN}]"
#: A number with its thousands separated; Indian ones have groups of two as well.
_GROUPED = r"[-+]?\d{{1,3}}({0}\d{{2,3}})*{0}\d{{3}}([.,]\d*)?([eE][-+]?\d+)?"


class MissingError(Exception):
    """Why a metric is not there.

    Args:
        odd: Whether something is there that is no number.
    """

    def __init__(self, text: str, *, odd: bool = False) -> None:
        super().__init__(text)
        self.odd = odd


def whole_number(before: str, raw: str, after: str, unit: str | None, thousands: str) -> object:
    """Return a printed number, in its base unit.

    Args:
        before: What stands before it; empty where the pattern itself names that.
        raw: What the pattern's group holds.
        after: What stands behind it, likewise.
        unit: As printed; empty or None for none.
        thousands: What separates thousands; where it is a point, a comma is the decimal point.

    Returns:
        A text that ``float`` reads, or else the ``MissingError`` that says why there is no number.
    """
    value = raw.strip()
    lead, trail = raw[: len(raw) - len(raw.lstrip())], raw[len(raw.rstrip()) :]
    more = _more(before + lead, trail + after, thousands)
    if any(more):
        side = "to both sides" if all(more) else "to the left" if more[0] else "to the right"
        whole = quote(f"{more[0]}{value}{more[1]}")
        return MissingError(f"the number goes on {side}: {whole}; let the group match all of it")
    if thousands and thousands in value:
        if not re.fullmatch(_GROUPED.format(re.escape(thousands)), value):
            return MissingError(f"{quote(value)} has no groups of three digits", odd=True)
        value = value.replace(thousands, "")
    value = value.replace(",", ".") if thousands == "." else value
    if not unit:
        return value
    size = unit_size(unit)
    if size is None:
        known = ", ".join(UNITS)
        return MissingError(f"'{quote(unit)}' is no known unit; known: {known}", odd=True)
    with suppress(ArithmeticError):
        return str(Decimal(value) * size)
    return value


def _more(before: str, after: str, thousands: str) -> tuple[str, str]:
    """Return what of the same number stands before and behind its match."""
    between = f"[{re.escape(BETWEEN + thousands)}]"
    left = re.search(
        rf"\d{between}?\Z|(?<![\w.])\.\Z|\d\.?[eE]{_SIGN}?\Z|(?<![^\W_]){_SIGN}\Z", before
    ) and re.search(rf"{_SIGN}?(\d|{between})*([eE]{_SIGN}?)?\Z", before)
    right = re.match(rf"{between}?\d|\.?[eE]{_SIGN}?\d", after) and re.match(
        rf"(\d|{between})*([eE]{_SIGN}?\d+)?", after
    )
    return left[0] if left else "", right[0] if right else ""
