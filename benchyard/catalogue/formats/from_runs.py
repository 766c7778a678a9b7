"""Our runs as measurements, so that they can be written as files of other tools."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.analysis.comparison.samples import DURATION, StepSample, sampled
from benchyard.catalogue.formats.as_runs import OUR_NAMES
from benchyard.catalogue.formats.measurements import Measurement, Measurements, facts
from benchyard.core.model import Json
from benchyard.core.quantity import plural
from benchyard.results.record import RunRecord
from benchyard.results.trust import Suspect

_THEIR_NAMES = {DURATION: "wall"} | {ours: theirs for theirs, ours in OUR_NAMES.items()}
#: The same, where the command itself reports none.
_OF_RESOURCE = {"resource_cpu_user_s": "cpu_user_s", "resource_cpu_system_s": "cpu_system_s"}
#: Metrics that the lab measures of all that it can; they are taken where they are asked for.
_NOT_OF_IT = ("host_", "lab_", "resource_")
#: Of ``Measurements.about``, and where a record has it.
_FACTS = (
    *(("system", "kernel"), ("os", "os name"), ("os_version", "os version")),
    *(("machine", "architecture"), ("cpu", "cpu model"), ("memory", "memory_bytes")),
    *(("processors", "cpu logical_cores"), ("cores", "cpu physical_cores")),
)


def measurements_of(
    cases: Sequence[Sequence[RunRecord]], rule: Suspect = Suspect.AUTO, metrics: Sequence[str] = ()
) -> Measurements:
    """Return a benchmark for each measured step, with one value a run: that of ``summary.json``.

    Args:
        cases: Records of the finished runs of each case; at least one.
        rule: Which suspect executions count.
        metrics: Globs of those to take beside the duration, if every run that counts has them.
            Without any: CPU time, peak memory, and what the command reports with a unit.
    """
    records = [record for runs in cases for record in runs]
    several = len({str(record.case.get("name")) for record in records}) > 1
    first = min(records, key=lambda record: record.began)
    return Measurements(
        [row for runs in cases for row in _rows(runs, rule, metrics, several=several)],
        host=_same(str(record.fact("host") or "") for record in records),
        commit=_same((record.commit or ("", None))[0] for record in records),
        started_s=first.began.timestamp() if first.started_at else None,
        about=_about(records[-1]),
    )


def _same(texts: Iterable[str]) -> str:
    """Return what all texts are; empty if they differ."""
    found = set(texts)
    return found.pop() if len(found) == 1 else ""


def _about(record: RunRecord) -> Mapping[str, str]:
    told = {name: record.fact(*path.split()) for name, path in _FACTS}
    changed = "yes" if (record.commit or ("", None))[1] else None
    return facts(benchyard=record.benchyard_version, uncommitted_changes=changed, **told)


def _rows(
    runs: Sequence[RunRecord], rule: Suspect, metrics: Sequence[str], *, several: bool
) -> Iterator[Measurement]:
    found = runs[-1].case.get("point")
    point = found if isinstance(found, dict) else {}
    start = f"{runs[-1].case.get('name')}: " if several else ""
    for step in sampled(RunSet("", Path(), tuple(runs)), rule).of_one_side():
        if step.measured:
            yield from _of_step(start + step.name, step, point, metrics)


def _of_step(
    name: str, step: StepSample, point: Mapping[str, Json], metrics: Sequence[str]
) -> Iterator[Measurement]:
    times = step.values.get(DURATION, ())
    if not times:
        note = "failed" if step.failed else "skipped: no run counts"
        yield Measurement(name, "wall", "s", parameters=point, note=note)
    for metric, values in step.values.items():
        reported = _OF_RESOURCE.get(metric, metric)
        ours = metric if reported in step.values else reported
        unit, direction = step.unit_and_direction(metric)
        if metric == DURATION or (len(values) == len(times) and _wanted(ours, unit, metrics)):
            row = Measurement(name, _THEIR_NAMES.get(ours, ours), unit or "", values)
            yield replace(row, parameters=point, note=_doubts(step), direction=direction)


def _wanted(metric: str, unit: str | None, globs: Sequence[str]) -> bool:
    if globs:
        return any(fnmatchcase(metric, glob) for glob in globs)
    return unit is not None and not metric.startswith(_NOT_OF_IT)


def _doubts(step: StepSample) -> str:
    left = step.left_out.get("suspect")
    if isinstance(left, int) and left:
        return f"{left:,} of {plural(left + step.counted, 'run')} suspect, and left out"
    return f"{step.suspect:,} of {plural(step.counted, 'run')} suspect" if step.suspect else ""
