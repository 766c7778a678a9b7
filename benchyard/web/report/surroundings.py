"""Where runs were measured, and in what that differs: between sides, and between runs of one."""

from collections.abc import Iterable, Mapping, Sequence

from benchyard.analysis.comparison.facts import FACTS, Fact
from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.core.json_text import encoded
from benchyard.core.model import Json, plain
from benchyard.core.quantity import amount, plural, shorten
from benchyard.core.table import Cell, Column, Table, text_table
from benchyard.core.wording import named_runs, some
from benchyard.results.record import RunRecord

#: Names that a cell lists before it says how many more there are.
_LISTED = 4
_OF_CASES = ("point of the matrix", "case", "files of the case")
#: Names of facts that have a unit, to that unit.
UNITS = {
    "memory size": "B",
    "swap size": "B",
    "memory limit": "B",
    "highest frequency": "Hz",
    "sampling interval": "s",
}

#: Of each case of a side what it is called, and its runs.
Named = Sequence[tuple[str, RunSet]]


def environment(sides: Mapping[str, Named]) -> Table:
    """Return a row for each fact that is known; what differs is marked.

    What tells one case from another is none of them: that is in the subject of each.

    Args:
        sides: Name to the cases of a side; each side has a column.
    """
    heads = list(sides) if len(sides) > 1 else ["Value"]
    rows: list[list[Cell]] = []
    for fact in FACTS:
        if fact.what in _OF_CASES:
            continue
        found = [_by_value(fact, cases) for cases in sides.values()]
        values = {value for of_side in found for value in of_side}
        if values:
            mark = "doubtful" if len(values) > 1 else ""
            rows.append([Cell(text, mark=mark) for text in (fact.what, *map(_cell, found))])
    columns = [Column(head, head) for head in ("Fact", *heads)]
    return Table("facts", "Facts of the testbeds; those that differ are marked", columns, rows)


def _by_value(fact: Fact, cases: Named) -> dict[str, dict[str, list[int]]]:
    """Return each value, as text, to the runs of each case that have it."""
    found: dict[str, dict[str, list[int]]] = {}
    for title, runs in cases:
        for record in runs.everything:
            value = fact.of(record)
            if value is not None:
                where = found.setdefault(_text(value, UNITS.get(fact.what)), {})
                where.setdefault(title, []).append(record.run)
    return found


def _text(value: Json, unit: str | None) -> str:
    if unit and isinstance(value, int | float):
        return amount(value, unit)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(map(plain, value)) or "none"
    if isinstance(value, dict):
        return " ".join(map(plain, value.values()))
    return value if isinstance(value, str) else encoded(value)


def _cell(found: Mapping[str, Mapping[str, Sequence[int]]]) -> str:
    """Write values, and of several which runs have each."""
    if len(found) < 2:
        return "".join(found) or "-"
    told = [f"{value} ({_where(where)})" for value, where in list(found.items())[:_LISTED]]
    more = f"; and {len(found) - _LISTED} more values" if len(found) > _LISTED else ""
    return "; ".join(told) + more


def _where(where: Mapping[str, Sequence[int]]) -> str:
    told = [f"{title} {named_runs(sorted(set(runs)))}" for title, runs in where.items()]
    return some(told, _LISTED)


def doubts_table(records: Iterable[RunRecord]) -> Table:
    """Return what spoke against measuring just before the runs; each check once."""
    found: dict[str, list[Mapping[str, Json]]] = {}
    for record in records:
        for finding in record.preflight:
            if finding.get("status") in ("warn", "fail"):
                found.setdefault(str(finding.get("check")), []).append(finding)
    rows = [
        [
            check,
            plural(len(several), "run"),
            shorten(str(several[-1].get("finding") or "-"), 200),
            shorten(str(several[-1].get("advice") or "-"), 200),
        ]
        for check, several in found.items()
    ]
    return text_table(("Check", "Before", "Found, the last time", "What to do"), rows)
