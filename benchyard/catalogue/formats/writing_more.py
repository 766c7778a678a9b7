"""Measurements as files of pytest-benchmark and asv, as OpenMetrics, and for Conbench."""

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import product
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from benchyard.catalogue.formats.as_runs import values_of
from benchyard.catalogue.formats.measurements import STATISTICS, Measurement, Measurements
from benchyard.catalogue.formats.writing import WRITERS as SOME
from benchyard.catalogue.formats.writing import Benchmark, ToolWriter, date_of, has_numbers, middle
from benchyard.core.errors import InputError
from benchyard.core.model import point_suffix
from benchyard.statistics.intervals import median_interval
from benchyard.statistics.measures import quantile

# -- pytest-benchmark. Source: pytest-benchmark 5.3, src/pytest_benchmark/stats.py and plugin.py.


def _in_pytest(one: Benchmark, row: Measurement) -> bool:
    return row.metric == "wall" and has_numbers(one, row)


def _pytest(measured: Measurements, found: Sequence[Benchmark]) -> object:
    about = {"branch": "(unknown)", "project": "", "machine": ""} | dict(measured.about)
    python, _, version = about.get("python", "").partition(" ")
    system, _, release = about.get("system", "").partition(" ")
    machine = {"node": measured.host, "machine": about["machine"], "system": system}
    machine |= {"release": release, "python_implementation": python, "python_version": version}
    commit = {"id": measured.commit or "unversioned", "dirty": "uncommitted changes" in about}
    commit |= {name: about[name] for name in ("project", "branch")}
    return {
        "machine_info": machine,
        "commit_info": commit,
        "benchmarks": [_test(one) for one in found],
        "datetime": date_of(measured),
        "version": about.get("pytest benchmark", "5.3.1"),
    }


def _test(one: Benchmark) -> Mapping[str, object]:
    # Its names end in the parameters; without them, points of a matrix were one benchmark to it.
    name = one.first.name if one.first.name.endswith("]") else one.title
    param = "-".join(map(str, one.parameters.values())) or None
    names = {"group": None, "name": name.rpartition("::")[2], "fullname": name, "param": param}
    return {
        **names,
        "params": dict(one.wall.parameters) or None,
        "extra_info": {"note": one.wall.note} if one.wall.note else {},
        "options": {},
        "stats": _stats(one.wall),
    }


def _stats(wall: Measurement) -> Mapping[str, object]:
    told: dict[str, Any] = {name: wall.statistic(name) for name in STATISTICS}
    rounds, deviation = told.pop("n"), told.pop("stdev")
    told |= {"rounds": rounds and int(rounds), "stddev": deviation}
    told |= {"data": [*wall.values], "iterations": 1}
    if not wall.values:
        return told
    values, total = sorted(wall.values), sum(wall.values)
    q1, q3 = _quartile(values), _quartile(values[::-1])
    low, high = q1 - 1.5 * (q3 - q1), q3 + 1.5 * (q3 - q1)
    mean, deviation = told["mean"], deviation or 0.0
    far = sum(not mean - deviation <= value <= mean + deviation for value in values)
    beyond = sum(not low <= value <= high for value in values)
    told |= {"stddev": deviation, "q1": q1, "q3": q3, "iqr": q3 - q1, "total": total}
    told |= {"stddev_outliers": far, "iqr_outliers": beyond, "outliers": f"{far};{beyond}"}
    return {
        **told,
        "ld15iqr": next((value for value in values if value >= low), values[-1]),
        "hd15iqr": next((value for value in values[::-1] if value <= high), values[0]),
        "ops": len(values) / total if total else 0,
    }


def _quartile(values: Sequence[float]) -> float:
    """Return the quartile at the beginning of sorted values, as pytest-benchmark does.

    Its two methods come to the place (n - 2) / 4, from 0 on.
    """
    at, rest = divmod(max(0, len(values) - 2), 4)
    after = values[min(at + 1, len(values) - 1)]
    return values[at] * (1 - rest / 4) + after * (rest / 4)


# -- asv: results of one commit and environment, to lie at MACHINE/HASH-ENVIRONMENT.json.
# Source: asv 0.6, asv/results.py, format 2; asv_runner, statistics.py.

_STATISTICS = ("ci_99_a", "ci_99_b", "q_25", "q_75", "number", "repeat")
#: Metric to the beginning of a name by which asv, and its reader, know the unit.
_KINDS = {"wall": "time", "memory": "mem", "peak memory": "peakmem"}
_ASV = {"os": "system", "arch": "machine", "cpu": "cpu", "num_cpu": "processors", "ram": "memory"}
_EMPTY = ("requirements", "env_vars", "durations")


def _in_asv(one: Benchmark, row: Measurement) -> bool:
    return row.metric in _KINDS and (row.metric == "wall" or has_numbers(one, row))


def _asv(measured: Measurements, found: Sequence[Benchmark]) -> object:
    if not measured.commit:
        raise InputError("results of asv are of a commit, and none is known here")
    about = measured.about
    machine = {name: about.get(told, "") for name, told in _ASV.items()}
    began = None if measured.started_s is None else round(measured.started_s * 1000)
    groups: dict[str, list[Measurement]] = {}
    for row in (row for one in found for row in one.metrics.values()):
        groups.setdefault(_asv_name(row), []).append(row)
    return {
        "commit_hash": measured.commit,
        "env_name": about.get("environment", "benchyard"),
        # The commit's own date is not known; it was before.
        "date": began,
        "params": {**machine, "machine": measured.host},
        **{"python": "", "version": 2} | {name: dict[str, str]() for name in _EMPTY},
        "result_columns": [
            *("result", "params", "version", "started_at", "duration"),
            *(f"stats_{name}" for name in _STATISTICS),
            "samples",
        ],
        "results": {name: _asv_row(rows, began) for name, rows in groups.items()},
    }


def _asv_name(row: Measurement) -> str:
    head, dot, last = row.name.rpartition(".")
    kind = f"{_KINDS[row.metric]}_"
    return row.name if last.startswith(kind) else f"{head}{dot}{kind}{last}"


def _asv_row(rows: Sequence[Measurement], began: int | None) -> list[Any]:
    axes, ordered = _grid(rows)
    statistics = zip(*(_asv_statistics(row) for row in ordered), strict=True)
    samples = [[*row.values] or None for row in ordered]
    results = [
        middle(row) if values_of(row) else None if row.note.startswith("failed") else math.nan
        for row in ordered
    ]
    return [results, axes, None, began, None, *map(list, statistics), samples]


def _asv_statistics(row: Measurement) -> Iterable[float | None]:
    if not row.values:
        return [None] * len(_STATISTICS)
    low, high, *_ = median_interval(row.values, 0.99)
    ends = (-math.inf, math.inf) if low is None else (low, high)
    return (*ends, *(quantile(row.values, share) for share in (0.25, 0.75)), 1, len(row.values))


def _grid(rows: Sequence[Measurement]) -> tuple[list[list[str]], Sequence[Measurement]]:
    """Return the values of each parameter, and the rows in the order of their combinations.

    Where they are not all combinations, whole points are the values of one parameter.
    """
    points = {tuple(Benchmark("", {"": row}).parameters.items()): row for row in rows}
    axes = [list(dict.fromkeys(axis)) for axis in zip(*points, strict=False)]
    every = [*product(*axes)] if math.prod(map(len, axes)) == len(rows) else []
    if {*every} == {*points}:
        return [[str(value) for _, value in axis] for axis in axes], [points[one] for one in every]
    return [[point_suffix(row.parameters).strip("[]") for row in rows]], rows


# -- OpenMetrics: gauges in base units.
# Source: github.com/prometheus/OpenMetrics, specification/OpenMetrics.md, version 1.0.

_UNITS = {"s": "seconds", "B": "bytes", "J": "joules", "Hz": "hertz"}
_RATES = {"1/s": "per_second", "B/s": "bytes_per_second"}
#: Endings of our own names of metrics, in place of which the unit stands.
_ENDINGS = re.compile(r"_(s|bytes|j|hz|per_s|bytes_per_s)$")


def _open_metrics(measured: Measurements, found: Sequence[Benchmark]) -> str:
    about = {"host": measured.host, "commit": measured.commit, "started": date_of(measured)}
    families: dict[str, list[str]] = {"benchmark": ["# TYPE benchmark info"]}
    families["benchmark"] += [f"benchmark_info{{{_labels({**about, **measured.about})}}} 1"]
    for one, row in ((each, row) for each in found for row in each.metrics.values()):
        family = _family(row)
        start = [f"# TYPE {family} gauge"]
        start += [f"# UNIT {family} {_UNITS[row.unit]}"] if row.unit in _UNITS else []
        start += [f"# HELP {family} {_escaped(row.metric)} of each benchmark."]
        families.setdefault(family, start).extend(_samples(family, one, row))
    return "\n".join([*(line for lines in families.values() for line in lines), "# EOF", ""])


def _family(row: Measurement) -> str:
    ending = {**_UNITS, **_RATES}.get(row.unit, "")
    name = _ENDINGS.sub("", row.metric) if ending else row.metric
    return "_".join(filter(None, ("benchmark", re.sub("[^a-zA-Z0-9_]", "_", name), ending)))


def _samples(family: str, one: Benchmark, row: Measurement) -> Iterable[str]:
    told = {name: row.statistic(name) for name in STATISTICS if name != "n"}
    told |= {"median": middle(row)}
    labels = {"benchmark": one.title, "metric": row.metric}
    labels |= {f"parameter_{name}": str(value) for name, value in one.parameters.items()}
    for name, value in told.items():
        if value is not None:
            yield f"{family}{{{_labels({**labels, 'statistic': name})}}} {float(value)!r}"


def _labels(told: Mapping[str, str]) -> str:
    # Of names that differ in other characters alone, the last one stands.
    made = {re.sub("[^a-zA-Z0-9_]", "_", name): value for name, value in told.items()}
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in made.items())


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


# -- Conbench: what POST /api/benchmark-results/ takes, each element by a call of its own.
# Source: github.com/conbench/conbench, conbench/entities/benchmark_result.py and hardware.py.

_CONBENCH_UNITS = {"s": "s", "B": "B", "B/s": "B/s", "1/s": "i/s"}
_MACHINE = (
    *(("architecture_name", "machine"), ("kernel_name", "system"), ("os_name", "os")),
    *(("os_version", "os version"), ("cpu_model_name", "cpu")),
)
_COUNTS = {"cpu_core_count": "cores", "cpu_thread_count": "processors", "memory_bytes": "memory"}
_UNKNOWN = (
    *(f"cpu_{name}_cache_bytes" for name in ("l1d", "l1i", "l2", "l3")),
    *("cpu_frequency_max_hz", "gpu_count"),
)


def _in_conbench(_: Benchmark, row: Measurement) -> bool:
    return row.unit in _CONBENCH_UNITS


def _conbench(measured: Measurements, found: Sequence[Benchmark]) -> object:
    # As Conbench's own clients do. Source: benchadapt, result.py; benchconnect, README.
    repository = os.environ.get("CONBENCH_PROJECT_REPOSITORY", "")
    if not repository:
        raise InputError("Conbench requires a repository; set CONBENCH_PROJECT_REPOSITORY=ORG/NAME")
    address = repository if ":" in repository else f"https://github.com/{repository}"
    about, began = measured.about, date_of(measured)
    run = uuid5(NAMESPACE_URL, f"{measured.host} {measured.commit} {began}").hex
    machine = {name: about.get(told, "") for name, told in _MACHINE}
    machine |= {name: about.get(told, "0") for name, told in _COUNTS.items()}
    machine |= {"name": measured.host} | dict.fromkeys(_UNKNOWN, "0")
    shared: dict[str, Any] = {"run_id": run, "batch_id": run, "context": {}}
    shared |= {
        "timestamp": began or datetime.now(UTC).isoformat(),
        "github": {"repository": address} | _known(commit=measured.commit),
        "machine_info": {**machine, "gpu_product_names": []},
    }
    rows = ((one, row) for one in found for row in one.metrics.values())
    return [{**shared, **_conbench_result(one, row, about)} for one, row in rows]


def _known(**told: str) -> dict[str, str]:
    return {name: text for name, text in told.items() if text}


def _conbench_result(
    one: Benchmark, row: Measurement, about: Mapping[str, str]
) -> dict[str, object]:
    tags = {f"parameter_{k}" if k == "name" else k: v for k, v in one.parameters.items()}
    tags |= {"name": one.first.name} | ({} if row.metric == "wall" else {"metric": row.metric})
    made: dict[str, object] = {"tags": tags, "info": {**about, **_known(note=row.note)}}
    if values := values_of(row):
        return made | {"stats": {"data": values, "unit": _CONBENCH_UNITS[row.unit]}}
    return made | {"error": {"message": row.note}}


#: All of them, by the name of the format.
WRITERS = {
    **SOME,
    "pytest-benchmark": ToolWriter(_in_pytest, _pytest),
    "asv": ToolWriter(_in_asv, _asv),
    "openmetrics": ToolWriter(has_numbers, _open_metrics),
    "conbench": ToolWriter(_in_conbench, _conbench),
}
