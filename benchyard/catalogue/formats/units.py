"""What other tools write of one number: its unit, its missing values; rows of one benchmark."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from benchyard.catalogue.formats.measurements import (
    IN_A_SECOND,
    Measurement,
    Measurements,
    known,
    number,
)
from benchyard.core.errors import InputError
from benchyard.core.model import Json
from benchyard.statistics.measures import mean

#: Bytes of each; ``KB`` is what people write for ``kB``, and ``MB`` is no ``MiB``.
_BYTES = {
    **dict.fromkeys(("B", "byte", "bytes", "Bytes"), 1),
    **{f"{prefix}B": 1000**power for power, prefix in enumerate("kMGT", 1)},
    **{f"{prefix}iB": 1024**power for power, prefix in enumerate("KMGT", 1)},
    "KB": 1000,
}
_NO_PARAMETERS: Mapping[str, Json] = {}
_ONE = {"", "op", "iter", "iteration", "run"}
_MANY = {"ops", "op", "iter", "iters", "iterations", "i"}
_MISSING = {"", "nan", "null", "none", "na", "n/a", "-", "inf", "-inf", "+inf", "infinity"}


def _in_si(value: float, unit: str) -> tuple[float, str, str]:
    """Return a number in SI units, its unit and what it measures: ``wall``, ``size``, …."""
    amount, _, each = unit.strip().replace("µ", "u").replace("μ", "u").partition("/")
    if amount.lower() in IN_A_SECOND and each.lower() in _ONE:
        return value / IN_A_SECOND[amount.lower()], "s", "wall"
    if is_rate(unit):
        parts = IN_A_SECOND[each.lower()]
        return (1 / (value * parts) if value else math.inf), "s", "wall"
    if amount in _BYTES and each.lower() in _ONE:
        return value * _BYTES[amount], "B", "size"
    if amount in _BYTES and each.lower() in ("s", "sec"):
        return value * _BYTES[amount], "B/s", "throughput"
    return value, unit, "value"


def is_rate(unit: str) -> bool:
    """Tell whether a unit is that of operations a time, such as ``ops/sec``."""
    amount, _, each = unit.strip().lower().partition("/")
    return amount in _MANY and each in IN_A_SECOND


def quantity(value: object, what: str) -> float | None:
    """Return a number, or the text of one, which may have commas; None for a missing value.

    Args:
        value: As the file tells it.
        what: Subject of a message about it.

    Raises:
        InputError: If it is another text.
    """
    if not isinstance(value, str):
        return number(value)
    text = value.strip().replace(",", "")
    try:
        return None if text.lower() in _MISSING else number(float(text))
    except ValueError:
        raise InputError(f"{what} is no number") from None


def measured(
    name: str,
    metric: str,
    unit: str,
    value: float | None,
    *,
    parameters: Mapping[str, Json] = _NO_PARAMETERS,
    note: str = "",
) -> Measurement:
    """Return a row of one value in SI units.

    Args:
        name: Of the benchmark.
        metric: Empty if the unit is to tell it.
        unit: As the file tells it.
        value: In this unit; None for a missing one.
        parameters: Of the benchmark.
        note: What else is to be said.
    """
    rate = is_rate(unit)
    # A rate is a time only where nobody says what else it is.
    keeps = rate and metric not in ("", "wall")
    number, si, what = (value, unit, "value") if keeps else _in_si(value or 0.0, unit)
    if value is None:
        return Measurement(name, metric or what, si, [], {}, parameters, note or "no value")
    if rate and not keeps:
        note = "; ".join(filter(None, (f"the file has {value:.15g} {unit}", note)))
    return Measurement(name, metric or what, si, known([number]), {}, parameters, note)


def gathered(rows: Iterable[tuple[str, Measurement]]) -> list[Measurement]:
    """Return one row for each metric of each benchmark, with the values of all of its rows.

    Args:
        rows: Each with the run that it is of. Values of one run are not independent: their mean
            stands for them. Without a run, a value stands for itself.
    """
    found: dict[object, list[tuple[str, Measurement]]] = {}
    for run, row in rows:
        key = (row.name, row.metric, row.unit, str(row.parameters))
        found.setdefault(key, []).append((run, row))
    return [one[0][1] if len(one) == 1 else _joined(one) for one in found.values()]


def _joined(rows: Sequence[tuple[str, Measurement]]) -> Measurement:
    runs: dict[object, list[float]] = {}
    for at, (run, row) in enumerate(rows):
        runs.setdefault(run or at, []).extend(row.values)
    values = [mean(one) for one in runs.values() if one]
    return replace(rows[0][1], values=values, note=_said([row.note for _, row in rows]))


def _said(notes: Sequence[str]) -> str:
    said = dict.fromkeys(note for note in notes if note)
    return "; ".join(said) if len(said) < 4 else f"{next(iter(said))}; and {len(said) - 1:,} more"


def newest(parts: Sequence[Measurements]) -> Measurements:
    """Return the newest of some measurements, which has the others as its earlier ones.

    Where one of them does not tell when it was, they are in the order of the file.
    """
    if None not in [one.started_s for one in parts]:
        parts = sorted(parts, key=lambda one: one.started_s or 0.0)
    return replace(parts[-1], earlier=tuple(parts[:-1])) if parts else Measurements(())
