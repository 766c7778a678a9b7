"""Files that sides of a comparison may be: packs, and what other benchmark tools wrote."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path

from benchyard.analysis.comparison.run_sets import RunSelection, RunSet, read_run_sets
from benchyard.catalogue.formats import OTHERS
from benchyard.catalogue.formats.contract import Candidate
from benchyard.catalogue.formats.measurements import ENDINGS as JSON_ENDINGS
from benchyard.catalogue.formats.measurements import BenchmarkFile, Measurement, Measurements
from benchyard.core.errors import BenchyardError, InputError
from benchyard.core.files import shown
from benchyard.core.model import Outcome, point_suffix
from benchyard.publish.packs.archives import ENDINGS as PACK_ENDINGS
from benchyard.publish.packs.manifest import RESULTS
from benchyard.publish.packs.unpacking import unpacked_to_check
from benchyard.results.record import Attempt, Repetition, RunRecord, StepRecord

#: Metrics of other tools that Benchyard measures too, under its names.
_OUR_NAMES = {"user": "cpu_user_s", "system": "cpu_system_s", "peak memory": "peak_rss_bytes"}

#: What other tools call the time, Bencher's ``latency``.
_TIMES = {"latency": "wall"}


def open_file(place: Path) -> dict[str, RunSet] | None:
    """Read the runs of each case in a file, by title; None if it is of no known format.

    Raises:
        InputError: If it is damaged, or tells no times.
    """
    if place.name.lower().endswith(PACK_ENDINGS):
        return _packed(place)
    found = _measured(place) if place.name.lower().endswith(JSON_ENDINGS) else None
    if found is None:
        return None
    tool, measured = found
    runs = RunSet(
        tool,
        place,
        tuple(_records(tool, measured)),
        one_process=measured.one_process,
        in_turns=measured.in_turns,
    )
    if not runs.has_values:
        raise InputError(f"{shown(place)} tells no times; only these can be a side")
    return {tool: runs}


def _packed(place: Path) -> dict[str, RunSet]:
    with unpacked_to_check(place) as (folder, _):
        found = read_run_sets(RunSelection(folder / RESULTS))
    # The folder is gone; what stands for it tells which cases are of the same runs.
    return {
        title: replace(runs, folder=place / runs.folder.relative_to(folder))
        for title, runs in found.items()
    }


def _measured(place: Path) -> tuple[str, Measurements] | None:
    """Return the tool that wrote a file, and what it measured."""
    found = Candidate("", place.parent, place.name)
    for one in OTHERS:
        if isinstance(one, BenchmarkFile) and (entry := one.describe(found)):
            try:
                return one.tool, one.load(entry)
            except BenchyardError as error:
                raise InputError(f"{shown(place)}: {error}") from error
    return None


def _records(title: str, measured: Measurements) -> Iterator[RunRecord]:
    """Yield a run for each execution of the benchmarks: what is independent is a run.

    The nth values of all benchmarks are those of the nth run. Of a benchmark without single values
    its median, else its mean, is the only one.
    """
    steps = [
        list(_steps(index, name, metrics))
        for index, (name, metrics) in enumerate(_benchmarks(measured.rows).items())
        if "wall" in metrics
    ]
    began = measured.started_s
    started = "" if began is None else datetime.fromtimestamp(began, UTC).isoformat()
    for number, executed in enumerate(zip_longest(*steps), 1):
        yield RunRecord(
            case={"title": title, "name": title, "hash": None},
            run=number,
            outcome=Outcome.COMPLETED,
            started_at=started,
            ended_at="",
            duration_s=0.0,
            steps=tuple(step for step in executed if step is not None),
            environment={"host": measured.host or None},
        )


def _benchmarks(rows: Iterable[Measurement]) -> dict[str, dict[str, Measurement]]:
    """Return the metrics of each benchmark; what is there twice gets a name of its own."""
    found: dict[str, dict[str, Measurement]] = {}
    for row in rows:
        name, metric = row.name + point_suffix(row.parameters), _TIMES.get(row.metric, row.metric)
        while metric in found.get(name, ()):
            name += " (again)"
        found.setdefault(name, {})[metric] = row
    return found


def _steps(index: int, name: str, metrics: dict[str, Measurement]) -> Iterator[StepRecord]:
    wall = metrics["wall"]
    values = {metric: _values(row) for metric, row in metrics.items()}
    times = values.pop("wall")
    # Which value is of which execution is known only where none is missing.
    whole = {metric: found for metric, found in values.items() if len(found) == len(times)}
    # Which executions failed is not known, so none of them is to be trusted.
    doubts = (wall.note,) if "failed" in wall.note else ()
    for at, seconds in enumerate(times):
        used = {_OUR_NAMES.get(metric, metric): found[at] for metric, found in whole.items()}
        made = Repetition("measured", 0.0, seconds, Outcome.COMPLETED, used, suspect=doubts)
        attempt = Attempt(1, "", 0.0, seconds, Outcome.COMPLETED, (made,))
        about = (index + 1, name, name, "", "", wall.parameters, True, Outcome.COMPLETED)
        yield StepRecord(*about, attempts=(attempt,))


def _values(row: Measurement) -> list[float]:
    if row.values:
        return list(row.values)
    known = (row.statistic("median"), row.statistic("mean"))
    return [one for one in known if one is not None][:1]
