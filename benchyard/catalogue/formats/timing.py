"""What ``benchyard time --export-json`` writes: commands against each other, each execution."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct, field

from benchyard.catalogue.formats.benchmark_file import BenchmarkFile, decoded
from benchyard.catalogue.formats.measurements import (
    Measurement,
    Measurements,
    facts,
    known,
)
from benchyard.core.model import Json

_METRICS = {
    "wall_s": ("wall", "s"),
    "user_s": ("user", "s"),
    "system_s": ("system", "s"),
    "peak_rss_bytes": ("peak memory", "B"),
}


class _Execution(Struct):
    wall_s: float | None = None
    user_s: float | None = None
    system_s: float | None = None
    peak_rss_bytes: float | None = None
    exit_code: int | None = None


class _Command(Struct):
    name: str
    command: str = ""
    executions: list[_Execution] = []
    parameters: dict[str, str] = field(default_factory=dict[str, str])


class _File(Struct):
    commands: list[_Command]
    version: str = ""
    rounds: int | None = None
    stopped: str | None = None
    warnings: list[str] = []


def _read(content: bytes, _place: Path) -> Measurements:
    file = decoded(content, _File)
    about = facts(
        benchyard=file.version,
        rounds=file.rounds,
        stopped=file.stopped,
        warnings="; ".join(file.warnings),
    )
    return Measurements([row for one in file.commands for row in _rows(one)], about=about)


def _rows(one: _Command) -> Iterator[Measurement]:
    parameters: dict[str, Json] = {**one.parameters}
    failed = sum(bool(execution.exit_code) for execution in one.executions)
    note = f"{failed:,} of {len(one.executions):,} executions failed" if failed else ""
    for member, (metric, unit) in _METRICS.items():
        values = known(getattr(execution, member) for execution in one.executions)
        if values or member == "wall_s":
            yield Measurement(one.name, metric, unit, values, {}, parameters, note)


TIMING = BenchmarkFile(
    "benchyard-time",
    "benchyard time",
    lambda head: head.has("seed", "rounds", "stopped", "commands"),
    _read,
)
