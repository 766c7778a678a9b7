"""Measurements as files of other tools: what is read of them again, and what the tools read."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.openmetrics import parser
from pytest_benchmark import stats as pytest_benchmark_stats

from benchyard.catalogue.formats import OTHERS, read_measurements
from benchyard.catalogue.formats.measurements import BenchmarkFile, Measurement, Measurements
from benchyard.catalogue.formats.writing_more import WRITERS
from benchyard.core.errors import InputError
from benchyard.core.model import Json, plain, point_suffix
from benchyard.results.summary_metrics import LARGER
from benchyard.statistics import median

text_string_to_metric_families = cast("Any", parser).text_string_to_metric_families
Stats: Any = pytest_benchmark_stats.Stats  # not annotated by its makers
READERS = {one.name: one for one in OTHERS if isinstance(one, BenchmarkFile)}
NS = pytest.approx  # times are multiplied and divided by 1e9, which rounds

#: What has a median alone, or no place for one.
_MEDIANS = {"bencher", "hyperfine", "conbench", "github-action-custom"}
_VALUES = st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=9)
_NAMES = st.text(min_size=1, max_size=12)
_POINTS = st.dictionaries(_NAMES, st.integers() | st.text(max_size=5) | st.booleans(), max_size=3)


@pytest.fixture(autouse=True, scope="module")
def repository() -> Iterator[None]:
    """Set the variable that names the repository for Conbench."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("CONBENCH_PROJECT_REPOSITORY", "org/name")
        yield


@st.composite
def measurements(draw: st.DrawFn) -> Measurements:
    rows: list[Measurement] = []
    names = draw(st.lists(_NAMES, min_size=1, max_size=3, unique=True))
    for name in names:
        times, point = draw(_VALUES), draw(_POINTS)
        rows.append(Measurement(name, "wall", "s", times, {}, point))
        if draw(st.booleans()):
            other = draw(st.lists(st.floats(0, 1e9), min_size=len(times), max_size=len(times)))
            for metric, unit in (("user", "s"), ("system", "s"), ("peak memory", "B")):
                rows.append(Measurement(name, metric, unit, other, {}, point))
    began = draw(st.none() | st.integers(0, 4_000_000_000).map(float))
    return Measurements(rows, draw(_NAMES), "c0ffee", began)


def again(name: str, measured: Measurements) -> Measurements:
    content = WRITERS[name](measured)
    return READERS[name].read(content, Path("no-such-folder/box/c0ffee-x.json"))


def of(measured: Measurements, metric: str) -> list[Measurement]:
    return [row for row in measured.rows if row.metric == metric]


def title(row: Measurement) -> str:
    return row.name + point_suffix(row.parameters)


def texts(row: Measurement) -> dict[str, Json]:
    return {name: plain(value) for name, value in row.parameters.items()}


def unambiguous(measured: Measurements) -> bool:
    """Tell whether no name with its parameters reads like another one."""
    titles = [title(row) for row in of(measured, "wall")]
    return len({*titles}) == len(titles)


@given(measurements().filter(unambiguous))
def test_hyperfine_holds_values_parameters_cpu_and_memory(measured: Measurements) -> None:
    read = again("hyperfine", measured)
    for metric in ("wall", "peak memory"):
        assert [(r.name, r.unit, r.values, r.parameters) for r in of(read, metric)] == [
            (r.name, r.unit, r.values, texts(r)) for r in of(measured, metric)
        ]
    for metric in ("user", "system"):
        assert [(r.name, r.unit, r.statistic("mean")) for r in of(read, metric)] == [
            (r.name, r.unit, r.statistic("mean")) for r in of(measured, metric)
        ]


@given(measurements().filter(unambiguous))
def test_pytest_benchmark_holds_values_parameters_host_commit_and_start(
    measured: Measurements,
) -> None:
    read = again("pytest-benchmark", measured)
    assert (read.host, read.commit, read.started_s) == (measured.host, "c0ffee", measured.started_s)
    assert [(r.name, r.unit, r.values, r.parameters) for r in read.rows] == [
        (r.name if r.name.endswith("]") else title(r), "s", r.values, r.parameters)
        for r in of(measured, "wall")
    ]


@given(measurements().filter(unambiguous))
def test_google_benchmark_holds_all_values_host_and_start(measured: Measurements) -> None:
    read = again("google-benchmark", measured)
    assert (read.host, read.started_s) == (measured.host, measured.started_s)
    for metric, unit in (("wall", "s"), ("peak memory", "")):
        assert [(r.name, r.unit, r.values) for r in of(read, metric)] == [
            (title(r), unit, NS(r.values, rel=1e-15)) for r in of(measured, metric)
        ]
    sums = zip(of(measured, "user"), of(measured, "system"), strict=True)
    assert [r.values for r in of(read, "cpu")] == [
        NS([a + b for a, b in zip(user.values, system.values, strict=True)], rel=1e-15)
        for user, system in sums
    ]


@given(measurements().filter(unambiguous))
def test_bencher_holds_the_median_of_each_metric(measured: Measurements) -> None:
    read = again("bencher", measured)
    for theirs, ours, unit in (("latency", "wall", "s"), ("peak memory", "peak memory", "")):
        assert [(r.name, r.unit, r.values) for r in of(read, theirs)] == [
            (title(r), unit, [NS(median(r.values), rel=1e-15)]) for r in of(measured, ours)
        ]


@given(measurements().filter(unambiguous))
def test_asv_holds_values_parameters_host_commit_and_start(measured: Measurements) -> None:
    rows = [
        Measurement(f"time_{r.name.replace('.', '')}", r.metric, "s", r.values, {}, r.parameters)
        for r in of(measured, "wall")
    ]
    found = Measurements(rows, measured.host, measured.commit, measured.started_s)
    read = again("asv", found)
    assert (read.host, read.commit, read.started_s) == (
        measured.host,
        "c0ffee",
        measured.started_s,
    )
    grouped: dict[str, list[Measurement]] = {}
    for row in rows:
        grouped.setdefault(row.name, []).append(row)
    assert [(r.name, r.unit, r.values, r.statistic("median")) for r in read.rows] == [
        (r.name, "s", r.values, median(r.values)) for some in grouped.values() for r in some
    ]
    for name, some in grouped.items():
        if len(some) == 1:
            [row] = (r for r in read.rows if r.name == name)
            assert [*row.parameters.values()] == [*texts(some[0]).values()]


@given(measurements().filter(unambiguous))
def test_custom_json_holds_the_median_of_each_time(measured: Measurements) -> None:
    read = again("github-action-custom", measured)
    found = [(r.name, r.unit, r.values) for r in read.rows]
    for one in of(measured, "wall"):
        assert (title(one), "s", [NS(median(one.values))]) in found


@given(measurements().filter(unambiguous))
def test_conbench_holds_times_parameters_host_and_commit(measured: Measurements) -> None:
    read = again("conbench", measured)
    assert (read.host, read.commit) == (measured.host, "c0ffee")
    assert [(r.name, r.unit, r.values) for r in of(read, "wall")] == [
        (r.name, "s", NS(r.values)) for r in of(measured, "wall")
    ]


def matrix(*points: Mapping[str, Json], metric: str = "wall", unit: str = "s") -> Measurements:
    rows = [
        Measurement("time_sort", metric, unit, (0.5 + at, 0.7 + at), {}, point)
        for at, point in enumerate(points)
    ]
    return Measurements(rows, "box", "c0ffee", 1.7e9)


def test_asv_has_points_of_a_matrix_in_the_order_of_its_product() -> None:
    whole = matrix(*({"n": n, "s": s} for s in "ab" for n in (1, 2)))
    read = again("asv", whole)
    assert [(row.parameters, row.values) for row in read.rows] == [
        ({"param1": "1", "param2": "a"}, [0.5, 0.7]),
        ({"param1": "1", "param2": "b"}, [2.5, 2.7]),
        ({"param1": "2", "param2": "a"}, [1.5, 1.7]),
        ({"param1": "2", "param2": "b"}, [3.5, 3.7]),
    ]
    part = again("asv", matrix({"n": 1, "s": "a"}, {"n": 2, "s": "b"}))
    assert [row.parameters for row in part.rows] == [{"param1": "n=1,s=a"}, {"param1": "n=2,s=b"}]


@pytest.mark.parametrize("name", sorted(set(WRITERS) & set(READERS)))
def test_what_is_written_is_recognised(tmp_path: Path, name: str) -> None:
    file = tmp_path / "made.json"
    file.write_bytes(WRITERS[name](matrix({"n": 1}, {"n": 2})))
    found = read_measurements(file)
    assert found is not None
    assert found[0] is READERS[name]


@pytest.mark.parametrize("name", sorted(set(WRITERS) & set(READERS) - _MEDIANS))
def test_statistics_without_values_stay_what_they_are(name: str) -> None:
    told = {"median": 0.5, "mean": 0.6, "min": 0.25, "max": 1.0, "n": 3.0}
    bare = Measurements([Measurement("time_a", "wall", "s", (), told)], "box", "c0ffee")
    [row] = again(name, bare).rows
    assert row.values in ([], ())
    assert row.statistic("median") == 0.5


def test_failed_is_not_skipped() -> None:
    notes = ("failed: no <file>", "skipped: no data")
    rows = [Measurement(f"time_{at}", "wall", "s", note=note) for at, note in enumerate(notes)]
    measured = Measurements(rows, "box", "c0ffee")
    assert [row.note for row in again("google-benchmark", measured).rows] == [*notes]
    assert [row.note for row in again("asv", measured).rows] == ["failed", "skipped"]
    odd = Measurements([Measurement("time_x", "wall", "s", note="calibrated")], "", "c0ffee")
    for name in ("google-benchmark", "asv"):
        assert [row.note for row in again(name, odd).rows] == ["skipped"]
    for name in ("hyperfine", "pytest-benchmark", "bencher"):
        assert not again(name, measured).rows
        assert WRITERS[name].leaves_out(measured) == ["wall of time_0", "wall of time_1"]


def test_executions_of_which_some_failed_are_no_successes() -> None:
    row = Measurement("a", "wall", "s", (1.0, 2.0), note="1 of 2 executions failed")
    [read] = again("hyperfine", Measurements([row])).rows
    assert "failed" in read.note


def test_what_a_tool_requires_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = Measurements(matrix({}).rows)
    with pytest.raises(InputError, match="of a commit"):
        WRITERS["asv"](nowhere)
    monkeypatch.delenv("CONBENCH_PROJECT_REPOSITORY", raising=False)
    with pytest.raises(InputError, match="CONBENCH_PROJECT_REPOSITORY"):
        WRITERS["conbench"](nowhere)


# -- as the tools read them


@given(_VALUES)
def test_statistics_are_those_of_pytest_benchmark(values: Sequence[float]) -> None:
    theirs = Stats()
    for value in values:
        theirs.update(value)
    document = json.loads(
        WRITERS["pytest-benchmark"](Measurements([Measurement("a", "wall", "s", values)]))
    )
    [benchmark] = document["benchmarks"]
    ours = {name: benchmark["stats"][name] for name in Stats.fields}
    counts = {"iqr_outliers", "stddev_outliers", "outliers", "ld15iqr", "hd15iqr"}
    # A value at a fence may be on the other side of it by the last bit of a float.
    if theirs.iqr and len({*values}) == len(values):
        assert [ours[one] for one in ("ld15iqr", "hd15iqr")] == [theirs.ld15iqr, theirs.hd15iqr]
        assert ours["iqr_outliers"] == theirs.iqr_outliers
    for name in set(Stats.fields) - counts:
        assert ours[name] == pytest.approx(getattr(theirs, name), rel=1e-9, abs=1e-18), name


def test_outliers_are_those_of_pytest_benchmark() -> None:
    values = [*range(10, 20), 100, -50]
    theirs = Stats()
    for value in values:
        theirs.update(value)
    document = json.loads(
        WRITERS["pytest-benchmark"](Measurements([Measurement("a", "wall", "s", values)]))
    )
    assert {k: document["benchmarks"][0]["stats"][k] for k in Stats.fields} == pytest.approx(
        theirs.as_dict()
    )


@pytest.mark.slow
def test_pytest_benchmark_compares_what_was_written(tmp_path: Path) -> None:
    file = tmp_path / "0001_made.json"
    file.write_bytes(WRITERS["pytest-benchmark"](matrix({"n": 1}, {"n": 2})))
    said = subprocess.run(
        [sys.executable, "-m", "pytest_benchmark", "compare", file],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert "time_sort[n=1]" in said.stdout
    assert "time_sort[n=2]" in said.stdout


@given(measurements().filter(unambiguous))
def test_openmetrics_is_what_its_parser_reads(measured: Measurements) -> None:
    text = WRITERS["openmetrics"](measured).decode()
    families = {one.name: one for one in text_string_to_metric_families(text)}
    assert families["benchmark"].samples[0].labels["host"] == measured.host
    wall = families["benchmark_wall_seconds"]
    assert (wall.type, wall.unit) == ("gauge", "seconds")
    medians = {
        one.labels["benchmark"]: one.value
        for one in wall.samples
        if one.labels["statistic"] == "median"
    }
    assert medians == {title(row): median(row.values) for row in of(measured, "wall")}


def test_openmetrics_has_base_units_and_parameters() -> None:
    measured = matrix({"n": 1, "a-b": "x"})
    rows = [
        *measured.rows,
        Measurement("time_sort", "rows_per_s", "1/s", (5.0,), {}, {"n": 1}),
        Measurement("time_sort", "read_bytes", "B", (5.0,)),
        Measurement("time_sort", "score %", "", (5.0,)),
    ]
    text = WRITERS["openmetrics"](Measurements(rows)).decode()
    families = {one.name: one for one in text_string_to_metric_families(text)}
    assert set(families) == {
        "benchmark",
        "benchmark_wall_seconds",
        "benchmark_rows_per_second",
        "benchmark_read_bytes",
        "benchmark_score__",
    }
    labels = families["benchmark_wall_seconds"].samples[0].labels
    assert (labels["parameter_n"], labels["parameter_a_b"]) == ("1", "x")


def test_github_action_benchmark_has_what_is_better_if_it_is_smaller() -> None:
    values = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    rows = [
        Measurement("a", "wall", "s", values),
        Measurement("a", "score", "", (1.0,), direction=LARGER),
        Measurement("a", "memory", "B", (7.0,)),
        Measurement("a", "rate", "1/s", (1.0,)),
    ]
    writer, measured = WRITERS["github-action-custom"], Measurements(rows, "box")
    wall, memory = json.loads(writer(measured))
    assert (wall["name"], wall["unit"], wall["value"]) == ("a", "s", 3.5)
    assert (wall["range"], "95 %" in wall["extra"]) == ("1.0 … 6.0", True)
    assert (memory["name"], memory["unit"], memory["value"]) == ("a: memory", "B", 7)
    assert writer.leaves_out(measured) == ["score", "rate"]


def test_bencher_has_the_interval_else_the_extremes() -> None:
    seven, two = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0), (1.0, 2.0)
    rows = [Measurement("a", "wall", "s", seven), Measurement("b", "wall", "s", two)]
    found = json.loads(WRITERS["bencher"](Measurements(rows)))
    assert found["a"]["latency"] == {"value": 5e9, "lower_value": 2e9, "upper_value": 8e9}
    assert found["b"]["latency"] == {"value": 1.5e9, "lower_value": 1e9, "upper_value": 2e9}


#: Source: conbench/entities/benchmark_result.py and hardware.py: what is required.
_REQUIRED = {"run_id", "batch_id", "timestamp", "tags", "context", "github"}
_MACHINE = {
    *("name", "architecture_name", "kernel_name", "os_name", "os_version", "cpu_model_name"),
    *(f"cpu_{one}_cache_bytes" for one in ("l1d", "l1i", "l2", "l3")),
    *("cpu_core_count", "cpu_thread_count", "cpu_frequency_max_hz", "memory_bytes", "gpu_count"),
}


def test_conbench_gets_what_it_requires(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONBENCH_PROJECT_REPOSITORY", "org/repo")
    measured = matrix({"n": 1, "name": "x"})
    bad = Measurement("bad", "wall", "s", note="failed: gone")
    score = Measurement("time_sort", "score", "points", (1.0,))
    measured = Measurements([*measured.rows, bad, score], "box", "c0ffee", 1.7e9, {"cores": "4"})
    made: list[dict[str, Any]] = json.loads(WRITERS["conbench"](measured))
    assert WRITERS["conbench"].leaves_out(measured) == ["score"]
    for result in made:
        assert set(result) >= _REQUIRED
        assert result["timestamp"] == "2023-11-14T22:13:20+00:00"
        assert result["github"] == {"repository": "https://github.com/org/repo", "commit": "c0ffee"}
        machine = result["machine_info"]
        assert set(machine) == _MACHINE | {"gpu_product_names"}
        assert all(isinstance(machine[name], str) for name in _MACHINE)
        assert machine["cpu_core_count"] == "4"
    good, failed = made
    assert good["tags"] == {"name": "time_sort", "n": "1", "parameter_name": "x"}
    assert good["stats"] == {"data": [0.5, 0.7], "unit": "s"}
    assert ("stats" in failed, failed["error"]) == (False, {"message": "failed: gone"})
