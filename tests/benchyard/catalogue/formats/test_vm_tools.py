"""What JMH, BenchmarkDotNet, k6 and vitest wrote: units, names, statistics; what failed."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from benchyard.catalogue.entry import Entry
from benchyard.catalogue.formats.measurements import Measurement
from benchyard.statistics.measures import mean
from tests.benchyard.catalogue.formats.samples import DOTNET, JMH, K6, write
from tests.benchyard.catalogue.formats.test_others import loaded, only, rows, sample

# -- JMH


def _jmh(folder: Path, metric: dict[str, Any], **told: Any) -> Entry:
    one = {**JMH[0], "primaryMetric": metric, "secondaryMetrics": {}, **told}
    write(folder, "jmh.json", json.dumps([one]).encode())
    return only(folder)


def _wall(entry: Entry) -> Measurement:
    return loaded(entry).rows[0]


def test_jmh_has_a_value_a_fork(tmp_path: Path) -> None:
    entry = sample(tmp_path, "jmh")
    (row,) = loaded(entry).rows
    forks = JMH[0]["primaryMetric"]["rawData"]
    assert (row.values, row.unit) == ([mean(fork) / 1e9 for fork in forks], "s")
    assert row.parameters == {"same": "false", "shuffle": "true"}
    assert not loaded(entry).one_process


#: Of a public file, whole: jdziura/kotlinx.coroutines, jmh-result.json; ms/op, one fork each.
_SCHEDULERS = {
    "scheduler": (
        30.290942968894836,
        """30.70345924242424 30.365824151515152 29.797396352941178 30.97797803030303
        29.788329441176472 30.898381 30.480706757575756 30.425678636363635 30.3990816969697
        30.396032393939393 30.903978484848484 29.534175794117647 29.973139588235295
        30.297406352941177 30.456419666666665 30.004396970588235 29.81893479411765 30.1340105
        29.788415735294116 30.67511378787879""",
    ),
    "go_scheduler": (
        91.66370020110723,
        """92.96381336363636 81.51969846153847 94.55235854545455 93.71465281818182
        90.51936558333334 92.77331345454546 90.80267575 90.29108775 91.31225390909091
        92.65469909090909 93.54586445454545 91.11909272727273 92.62141790909091
        92.13078190909091 93.22939981818182 92.93796781818182 92.90873990909091 91.06084375
        90.128265 92.487712""",
    ),
}


def test_jmh_scores_are_the_means_of_a_single_fork(tmp_path: Path) -> None:
    means: list[float] = []
    for name, (score, text) in _SCHEDULERS.items():
        iterations = [float(one) for one in text.split()]
        metric = {"score": score, "scoreUnit": "ms/op", "rawData": [iterations]}
        entry = _jmh(tmp_path, metric, params={"dispatcher": name}, forks=1)
        assert loaded(entry).one_process
        assert _wall(entry).values == [one / 1e3 for one in iterations]
        means.append(_wall(entry).statistic("mean") or 0)
    assert means[0] == pytest.approx(30.290942968894836 / 1e3, rel=1e-12)
    assert means[1] / means[0] == pytest.approx(91.66370020110723 / 30.290942968894836, rel=1e-12)


@pytest.mark.parametrize(
    ("unit", "values", "seconds"),
    [
        ("us/op", [2.0, 4.0], [2e-6, 4e-6]),
        ("s/op", [2.0, 4.0], [2.0, 4.0]),
        ("ops/s", [2.0, 4.0], [0.5, 0.25]),
        ("ops/ms", [2.0, 4.0, 0.0], [5e-4, 2.5e-4]),
    ],
)
def test_jmh_units(tmp_path: Path, unit: str, values: list[float], seconds: list[float]) -> None:
    row = _wall(_jmh(tmp_path, {"score": 3.0, "scoreUnit": unit, "rawData": [values]}))
    assert (row.metric, row.unit, row.values) == ("wall", "s", seconds)
    assert ("inverses" in row.note) == unit.startswith("ops/")


def test_jmh_a_unit_that_is_not_known_is_told(tmp_path: Path) -> None:
    row = _wall(_jmh(tmp_path, {"score": 3.0, "scoreUnit": "ops/min", "rawData": [[3.0]]}))
    assert (row.metric, row.unit, row.values) == ("score", "ops/min", [3.0])
    assert row.note == "'ops/min' is no unit of time that is known"


def test_jmh_throughput_of_forks_is_that_of_their_means(tmp_path: Path) -> None:
    metric = {"score": 4.0, "scoreUnit": "ops/s", "rawData": [[2.0, 6.0], [8.0]]}
    assert _wall(_jmh(tmp_path, metric)).values == [0.25, 0.125]


def test_jmh_histograms_of_samples(tmp_path: Path) -> None:
    histogram = [[[[1.0, 3], [5.0, 1]], [[4.0, 2]], []], [[[6.0, 1]]]]
    metric = {"score": 3.0, "scoreUnit": "ms/op", "rawDataHistogram": histogram}
    row = _wall(_jmh(tmp_path, metric, mode="sample"))
    assert row.values == [(2.0 + 4.0) / 2 / 1e3, 6.0 / 1e3]


@pytest.mark.parametrize("raw", [[], [[]], [["NaN", "NaN"]]])
def test_jmh_without_values_has_its_score_or_failed(tmp_path: Path, raw: list[Any]) -> None:
    row = _wall(_jmh(tmp_path, {"score": 3.0, "scoreUnit": "ms/op", "rawData": raw}))
    assert (row.values, row.told, row.note) == ([], {"mean": 3.0 / 1e3}, "")
    row = _wall(_jmh(tmp_path, {"score": 4.0, "scoreUnit": "ops/s", "rawData": raw}))
    assert (row.values, row.told) == ([], {"mean": 0.25})
    row = _wall(_jmh(tmp_path, {"score": "NaN", "scoreUnit": "ms/op", "rawData": raw}))
    assert (row.told, row.note) == ({}, "failed: the score is no number")


def test_jmh_metrics_of_profilers(tmp_path: Path) -> None:
    secondary: dict[str, Any] = {
        "\u00b7gc.alloc.rate.norm": {"score": 24.0, "scoreUnit": "B/op", "rawData": [[24.0]]},
        "gc.time": {"score": 7.0, "scoreUnit": "ms", "rawData": [[7.0]]},
        "gc.alloc.rate": {"score": 9.0, "scoreUnit": "MB/sec", "rawData": [[9.0]]},
        "gc.count": {"score": "NaN", "scoreUnit": "counts", "rawData": [[]]},
    }
    metric = {"score": 3.0, "scoreUnit": "ms/op", "rawData": [[3.0]]}
    entry = _jmh(tmp_path, metric, secondaryMetrics=secondary)
    assert [(row.metric, row.unit, row.values) for row in loaded(entry).rows] == [
        ("wall", "s", [3e-3]),
        ("gc.alloc.rate.norm", "B", [24.0]),
        ("gc.time", "s", [7e-3]),
        ("gc.alloc.rate", "MB/sec", [9.0]),
    ]


def test_jmh_modes_of_one_benchmark_are_told_apart(tmp_path: Path) -> None:
    two = [{**JMH[0], "mode": mode, "params": None} for mode in ("avgt", "thrpt")]
    write(tmp_path, "jmh.json", json.dumps(two).encode())
    parameters = [row.parameters for row in loaded(only(tmp_path)).rows]
    assert parameters == [{"mode": "avgt"}, {"mode": "thrpt"}]


# -- BenchmarkDotNet


def _dotnet(folder: Path, *benchmarks: dict[str, Any]) -> Entry:
    whole = [{**DOTNET["Benchmarks"][0], **one} for one in benchmarks]
    write(folder, "d.json", json.dumps({**DOTNET, "Benchmarks": whole}).encode())
    return only(folder)


def test_benchmarkdotnet_tells_statistics_in_nanoseconds(tmp_path: Path) -> None:
    entry = sample(tmp_path, "benchmarkdotnet")
    row = rows(entry)["BenchmarkDotNet.Samples.Intro.IntroJsonExport.Sleep10", "wall"]
    assert (row.unit, row.statistic("n"), row.statistic("max")) == ("s", 20, 10436008.3209375 / 1e9)
    assert row.statistic("mean") == 10362283.085796878 / 1e9
    assert loaded(entry).about["BenchmarkDotNet"] == "0.9.9.0"


def test_benchmarkdotnet_values_parameters_and_memory(tmp_path: Path) -> None:
    statistics = {"N": 2, "Mean": 15.0, "StandardDeviation": "NaN", "OriginalValues": [10.0, 20.0]}
    memory = {"Gen0Collections": 1, "BytesAllocatedPerOperation": 96}
    told = {"Parameters": "N=10&Text=a=b", "Statistics": statistics, "Memory": memory}
    wall, allocated = loaded(_dotnet(tmp_path, told)).rows
    assert (wall.values, wall.told) == ([1e-8, 2e-8], {"n": 2, "mean": 15.0 / 1e9})
    assert wall.parameters == {"N": "10", "Text": "a=b"} == allocated.parameters
    assert (allocated.metric, allocated.unit, allocated.told) == ("memory", "B", {"mean": 96})


def _measured(launch: int, stage: str, nanoseconds: float, operations: int) -> dict[str, Any]:
    return {
        "IterationMode": "Workload",
        "IterationStage": stage,
        "LaunchIndex": launch,
        "Operations": operations,
        "Nanoseconds": nanoseconds,
    }


def test_benchmarkdotnet_has_a_value_a_launch(tmp_path: Path) -> None:
    parts = [
        _measured(1, "Actual", 900.0, 2),
        _measured(1, "Result", 400.0, 2),
        _measured(1, "Result", 800.0, 2),
        _measured(2, "Result", 200.0, 2),
        _measured(2, "Result", 200.0, 0),
    ]
    statistics = {"N": 3, "Mean": 233.0, "OriginalValues": [200.0, 400.0, 100.0]}
    entry = _dotnet(tmp_path, {"Statistics": statistics, "Measurements": parts})
    (row,) = loaded(entry).rows
    assert (row.values, row.told) == ([300 / 1e9, 100 / 1e9], {})
    assert not loaded(entry).one_process
    assert loaded(_dotnet(tmp_path, {"Measurements": parts[:3]})).one_process


def test_benchmarkdotnet_tells_what_failed_and_jobs_apart(tmp_path: Path) -> None:
    failed = {"Statistics": None, "DisplayInfo": "A.B: Job-X(Runtime=.NET 8.0) [N=1]"}
    found = loaded(_dotnet(tmp_path, failed, {"DisplayInfo": "A.B: DefaultJob [N=1]"})).rows
    assert [(row.note, row.parameters["job"]) for row in found] == [
        ("failed: it has no statistics", "Job-X(Runtime=.NET 8.0)"),
        ("", "DefaultJob"),
    ]


def test_benchmarkdotnet_damage_is_told_with_its_place(tmp_path: Path) -> None:
    wrong = deepcopy(DOTNET)
    wrong["Benchmarks"][1]["Method"] = 5
    write(tmp_path, "d.json", json.dumps(wrong).encode())
    assert "at `$.Benchmarks[1].Method`" in only(tmp_path).broken


# -- k6


def _k6(folder: Path, **metrics: Any) -> dict[tuple[str, str], Measurement]:
    write(folder, "k6.json", json.dumps({"root_group": {}, "metrics": metrics}).encode())
    return rows(only(folder))


def test_k6_metrics_of_data(tmp_path: Path) -> None:
    found = rows(sample(tmp_path, "k6"))
    wall = found["http_req_duration", "wall"]
    assert (wall.unit, wall.values) == ("s", ())
    assert wall.told == {
        "mean": 371.6463688888887 / 1e3,
        "median": 303.5241 / 1e3,
        "min": 268.6624 / 1e3,
        "max": 814.2146 / 1e3,
    }
    others = {key: (row.unit, row.values) for key, row in found.items() if row.values}
    assert others == {
        ("http_req_duration", "p(95)"): ("s", [798.57732 / 1e3]),
        ("http_reqs", "count"): ("1", [45]),
        ("http_reqs", "rate"): ("1/s", [3.348586516983361]),
        ("data_sent", "count"): ("B", [9680]),
        ("data_sent", "rate"): ("B/s", [720.3181663199763]),
        ("http_req_failed", "rate"): ("1", [0]),
        ("vus", "value"): ("1", [5]),
    }


def _exported(metric: dict[str, Any]) -> dict[str, Any]:
    """Return a metric as --summary-export writes it: without its type, its rate as ``value``."""
    told = dict(metric["values"])
    return {**told, "value": told.pop("rate")} if metric["type"] == "rate" else told


def test_k6_an_export_tells_the_same(tmp_path: Path) -> None:
    exported = {name: _exported(metric) for name, metric in K6["metrics"].items()}
    found = _k6(tmp_path, **exported)
    assert found == rows(sample(tmp_path / "data", "k6"))


def test_k6_a_unit_that_an_export_does_not_tell_is_not_guessed(tmp_path: Path) -> None:
    trend = {"avg": 15, "max": 20, "med": 15, "min": 10, "p(90)": 19}
    found = _k6(tmp_path, my_trend=trend, **{"iteration_duration{scenario:a}": trend})
    own = found["my_trend", "value"]
    assert (own.unit, own.told["mean"], found["my_trend", "p(90)"].unit) == ("", 15, "")
    assert found["iteration_duration{scenario:a}", "wall"].told["max"] == 20 / 1e3


def test_k6_units_of_other_kinds(tmp_path: Path) -> None:
    sizes = {"type": "trend", "contains": "data", "values": {"p(99)": 7, "count": 3}}
    last = {"type": "gauge", "contains": "time", "values": {"value": 5, "min": 1, "max": 9}}
    found = _k6(tmp_path, sizes=sizes, last=last, free={"value": 2, "min": 2, "max": 2})
    assert found["sizes", "value"].told == {"n": 3}
    told = {key: (row.unit, row.values) for key, row in found.items() if row.values}
    assert told == {
        ("sizes", "p(99)"): ("B", [7]),
        ("last", "value"): ("s", [5e-3]),
        ("free", "value"): ("", [2]),
    }


def test_k6_numbers_that_are_none_are_left_out(tmp_path: Path) -> None:
    metric = {"type": "trend", "contains": "time", "values": {"avg": "fast", "p(95)": None}}
    found = _k6(tmp_path, slow=metric, counted={"count": "many", "rate": None})
    assert [(key, row.told) for key, row in found.items()] == [(("slow", "wall"), {})]


def test_k6_of_another_shape_is_told_with_its_place(tmp_path: Path) -> None:
    write(tmp_path, "k6.json", b'{"root_group": {}, "metrics": {"http_reqs": 5}}')
    assert "Expected `object`, got `int` - at `$.metrics[...]`" in only(tmp_path).broken


# -- vitest


def test_vitest_tells_statistics_in_milliseconds(tmp_path: Path) -> None:
    entry = sample(tmp_path, "vitest")
    row = rows(entry)["sum.bench.js > sums > loop", "wall"]
    assert (row.unit, row.statistic("n"), row.values) == ("s", 5, [])
    assert row.statistic("mean") == 0.004833200000012994 / 1e3
    assert row.statistic("stdev") == 0.006882724910968505 / 1e3
    assert loaded(entry).one_process


def test_vitest_as_it_says_itself(tmp_path: Path) -> None:
    found = rows(sample(tmp_path, "vitest"))
    both = (found[f"sum.bench.js > sums > {name}", "wall"] for name in ("reduce", "loop"))
    means = [row.told["mean"] for row in both]
    # It wrote "loop - sum.bench.js > sums, 10.32x faster than reduce" to the terminal.
    assert f"{means[0] / means[1]:.2f}" == "10.32"
    row = found["sum.bench.js > sums > bad", "wall"]
    assert (row.told, row.note) == ({}, "failed: nothing was measured")


def test_vitest_samples_are_values(tmp_path: Path) -> None:
    one = {"name": "x", "samples": [2.0, None, 4.0], "mean": 3.0}
    told = {"files": [{"filepath": "a.js", "groups": [{"fullName": "", "benchmarks": [one]}]}]}
    write(tmp_path, "v.json", json.dumps(told).encode())
    row = rows(only(tmp_path))["x", "wall"]
    assert (row.values, row.told) == ([2e-3, 4e-3], {"mean": 3e-3})
