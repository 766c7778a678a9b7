"""Measurements of other tools as runs, so that whatever takes runs takes them."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import zip_longest

from benchyard.catalogue.formats.measurements import Measurement, Measurements
from benchyard.core.model import Outcome, point_suffix
from benchyard.results.record import Attempt, Repetition, RunRecord, StepRecord

#: Metrics of other tools that Benchyard measures too, under its names.
_OUR_NAMES = {"user": "cpu_user_s", "system": "cpu_system_s", "peak memory": "peak_rss_bytes"}

#: What other tools call the time, Bencher's ``latency``.
_TIMES = {"latency": "wall"}


def records_of(title: str, measured: Measurements) -> Iterator[RunRecord]:
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
