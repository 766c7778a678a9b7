"""Measurements of other tools as runs, so that whatever takes runs takes them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from itertools import zip_longest

from benchyard.catalogue.formats.measurements import Measurement, Measurements
from benchyard.core.model import Json, Outcome, point_suffix
from benchyard.results.record import Attempt, Repetition, RunRecord, StepRecord
from benchyard.results.subject import digested
from benchyard.results.summary_metrics import LARGER, SMALLER

#: Metrics of other tools that Benchyard measures too, under its names.
OUR_NAMES = {"user": "cpu_user_s", "system": "cpu_system_s", "peak memory": "peak_rss_bytes"}

#: What of a unit is better.
_DIRECTIONS: Mapping[str, str] = {"s": SMALLER, "B": SMALLER, "1/s": LARGER, "B/s": LARGER}
#: What other tools call the time, Bencher's ``latency``.
_TIMES = {"latency": "wall"}


def records_of(title: str, measured: Measurements) -> Iterator[RunRecord]:
    """Yield a run for each execution of the benchmarks: what is independent is a run.

    The nth values of all benchmarks are those of the nth run. Of a benchmark without single values
    its median, else its mean, is the only one.
    """
    steps = [
        list(_steps(index, name, metrics))
        for index, (name, metrics) in enumerate(benchmarks(measured.rows).items())
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


def campaign_of(title: str, measured: Measurements, began: float) -> list[RunRecord]:
    """Return measurements as the runs of a campaign; none if they tell no times.

    Values that may be of one process are the repetitions of one run.

    Args:
        began: When, in seconds since the epoch, if they do not tell.
    """
    known = replace(measured, started_s=measured.commit_s or measured.started_s or began)
    records = [*records_of(title, known)]
    if measured.one_process and (one := as_one(records)):
        records = [one]
    commit: Json = {"commit": measured.commit, "changes": "none"}
    subject = digested(
        {
            "case": {"hash": None, "point": ""},
            "host": measured.host or None,
            "repositories": {"repository": commit} if measured.commit else {},
        }
    )
    # The digest leaves out what depends on Benchyard's version (units, notes), and the date of a
    # file that has no time in it: a copy has another date.
    values = [(row.name, row.metric, [*row.values]) for row in measured.rows]
    content = sha256(repr((title, subject["digest"], measured.started_s, values)).encode())
    session: dict[str, Json] = {"id": content.hexdigest()[:32], "order": "case"}
    told = {"subject": subject, "session": session, "collector": {**measured.about}}
    return [replace(one, case={**one.case, "imported": True}, **told) for one in records]


def as_one(records: Iterable[RunRecord]) -> RunRecord | None:
    """Return runs as the repetitions of one; None if there are none."""
    steps: dict[str, list[StepRecord]] = {}
    first = None
    for record in records:
        first = first or record
        for step in record.steps:
            steps.setdefault(step.id, []).append(step)
    return first and replace(first, steps=tuple(map(_repeated, steps.values())))


def _repeated(steps: Sequence[StepRecord]) -> StepRecord:
    made = tuple(step.attempts[0].repetitions[0] for step in steps)
    return replace(steps[0], attempts=(replace(steps[0].attempts[0], repetitions=made),))


def benchmarks(rows: Iterable[Measurement]) -> dict[str, dict[str, Measurement]]:
    """Return the metrics of each benchmark, by its name with its parameters; times are ``wall``.

    What is there twice gets a name of its own.
    """
    found: dict[str, dict[str, Measurement]] = {}
    for row in rows:
        name, suffix = row.name, point_suffix(row.parameters)
        metric = _TIMES.get(row.metric, row.metric)
        while metric in found.get(name + suffix, ()):
            name += " (again)"
        found.setdefault(name + suffix, {})[metric] = replace(row, name=name, metric=metric)
    return found


def _steps(index: int, name: str, metrics: dict[str, Measurement]) -> Iterator[StepRecord]:
    wall = metrics["wall"]
    values = {metric: values_of(row) for metric, row in metrics.items()}
    times = values.pop("wall")
    # Which value is of which execution is known only where none is missing.
    whole = {metric: found for metric, found in values.items() if len(found) == len(times)}
    used = {OUR_NAMES[metric] for metric in whole if metric in OUR_NAMES}
    kinds = {metric: _kind(metrics[metric]) for metric in whole if metric not in OUR_NAMES}
    parameters = {**wall.parameters, **({"metrics": kinds} if kinds else {})}
    # Which executions failed is not known, so none of them is to be trusted.
    doubts = (wall.note,) if "failed" in wall.note else ()
    for at, seconds in enumerate(times):
        told = {OUR_NAMES.get(metric, metric): found[at] for metric, found in whole.items()}
        ours = {metric: value for metric, value in told.items() if metric in used}
        theirs: dict[str, Json] = {m: value for m, value in told.items() if m not in used}
        made = Repetition("measured", 0.0, seconds, Outcome.COMPLETED, ours, theirs, suspect=doubts)
        attempt = Attempt(1, "", 0.0, seconds, Outcome.COMPLETED, (made,))
        about = (index + 1, name, name, "", "", parameters, True, Outcome.COMPLETED)
        yield StepRecord(*about, attempts=(attempt,))


def _kind(row: Measurement) -> Json:
    """Return unit and direction of a metric, as a step declares them."""
    told = {"unit": row.unit, "direction": row.direction or _DIRECTIONS.get(row.unit)}
    return {name: value for name, value in told.items() if value}


def values_of(row: Measurement) -> list[float]:
    """Return the values of a measurement; of one without single values its median, or mean."""
    if row.values:
        return list(row.values)
    known = (row.statistic("median"), row.statistic("mean"))
    return [one for one in known if one is not None][:1]
