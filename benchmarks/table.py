"""What every benchmark prints: figures beside what they must be, and the machine they are of."""

import argparse
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from benchyard.core.clock import now
from benchyard.core.model import Json, JsonObject
from benchyard.host.facts import environment
from benchyard.statistics import median, quantile

#: How many of a unit there are in the SI unit that values are kept in.
_SCALES = {"s": 1.0, "ms": 1e3, "µs": 1e6, "%": 100.0, "": 1.0}


class Statistic(Enum):
    """Which value of a figure is held against its limit."""

    MEDIAN = "median"
    P99 = "p99"


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of a table.

    Args:
        what: Of what, in a few words.
        values: All that were measured, in SI units; none if it could not be.
        unit: What it is shown in.
        limit: What the statistic must not exceed, in SI units; None for a figure to compare with.
        literature: Where the value was read, if it was not measured here.
    """

    what: str
    values: Sequence[float]
    unit: str = "s"
    limit: float | None = None
    statistic: Statistic = Statistic.MEDIAN
    literature: str | None = None

    @property
    def value(self) -> float | None:
        """The statistic."""
        if not self.values:
            return None
        if self.statistic is Statistic.P99:
            return quantile(self.values, 0.99)
        return median(self.values)

    @property
    def holds(self) -> bool | None:
        """Whether the limit is kept; None without one."""
        if self.limit is None:
            return None
        return self.value is not None and self.value <= self.limit

    def row(self) -> tuple[str, str, str, str]:
        """Return the cells of the table."""
        return self.what, self._must_be(), self._measured(), self._verdict()

    def to_json(self) -> JsonObject:
        """Return everything, unrounded and in SI units."""
        return {
            "what": self.what,
            "statistic": self.statistic.value,
            "value": self.value,
            "limit": self.limit,
            "holds": self.holds,
            "shown_in": self.unit,
            "literature": self.literature,
            "values": list(self.values),
        }

    def _must_be(self) -> str:
        return "-" if self.limit is None else f"≤ {self._shown(self.limit)}"

    def _measured(self) -> str:
        if self.value is None:
            return "nothing"
        if self.literature is not None:
            return f"{self._shown(self.value)} (literature: {self.literature})"
        name = "p99 " if self.statistic is Statistic.P99 else ""
        least, most = (self._scaled(f(self.values)) for f in (min, max))
        return f"{name}{self._shown(self.value)} [{least}..{most}] of {len(self.values)}"

    def _verdict(self) -> str:
        if self.holds is None:
            return "-"
        if self.holds:
            return "yes"
        if not self.value or not self.limit:
            return "NO"
        return f"NO, {self.value / self.limit:.2f} times the limit"

    def _shown(self, value: float) -> str:
        return f"{self._scaled(value)} {self.unit}".rstrip()

    def _scaled(self, value: float) -> str:
        scaled = value * _SCALES[self.unit]
        return f"{scaled:,.0f}" if scaled >= 100 else f"{scaled:.3g}"


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured.

    Args:
        quick: Only so much that every line of the program is executed.
    """

    quick: bool

    def of(self, full: int, quick: int = 1) -> int:
        """Return how often or how many."""
        return quick if self.quick else full


def run_program(purpose: str | None, measure: Callable[[Size], Sequence[Figure]]) -> None:
    """Read the command line, measure, and print; a figure that misses is told, never an exit code.

    Args:
        purpose: The program's docstring.
    """
    parser = argparse.ArgumentParser(description=(purpose or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="One JSON document on stdout.")
    parser.add_argument("--quick", action="store_true", help="Very small; its figures mean little.")
    given = parser.parse_args()
    machine = machine_facts()
    figures = measure(Size(given.quick))
    machine["ended_at"] = now()
    machine["load_average_after"] = list(os.getloadavg())
    if given.json:
        rows = [figure.to_json() for figure in figures]
        document = {"quick": given.quick, "machine": machine, "figures": rows}
        print(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        print(rendered(figures))
        print(_sentences(figures, machine))


def machine_facts() -> JsonObject:
    """Return what the figures depend on."""
    known = environment()
    facts = {name: known[name] for name in ("cpu", "kernel", "memory_bytes", "python")}
    facts["cores"] = len(os.sched_getaffinity(0))
    facts["started_at"] = now()
    facts["load_average"] = list(os.getloadavg())
    return facts


def rendered(figures: Sequence[Figure]) -> str:
    """Return the table, as Markdown that reads well as it stands."""
    head = ("what", "must be", "measured: median [min..max] of N", "holds?")
    cells = [head, *(figure.row() for figure in figures)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [_line(row, widths) for row in cells]
    return "\n".join([lines[0], _line(["-" * width for width in widths], widths), *lines[1:]])


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
    return f"| {' | '.join(padded)} |"


def _sentences(figures: Sequence[Figure], machine: JsonObject) -> str:
    missed = [figure.what for figure in figures if figure.holds is False]
    verdict = f"MISSED: {'; '.join(missed)}." if missed else "Every limit holds."
    cpu = machine["cpu"]
    model = cpu["model"] if isinstance(cpu, dict) else cpu
    return (
        f"\n{verdict}\nMachine: {model}, {machine['cores']} cores, {machine['kernel']}, "
        f"{machine['python']}; load average {_first(machine['load_average'])} before and "
        f"{_first(machine['load_average_after'])} after; {machine['ended_at']}"
    )


def _first(averages: Json) -> Json:
    first = averages[0] if isinstance(averages, list) else averages
    return round(first, 1) if isinstance(first, float) else first
