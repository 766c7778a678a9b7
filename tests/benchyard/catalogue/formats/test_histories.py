"""Histories of github-action-benchmark and Conbench: values, units, order, what is broken."""

import json
from pathlib import Path
from typing import Any, cast

import pytest

from benchyard.catalogue.formats.measurements import BenchmarkFile, Measurements
from benchyard.core.errors import InputError
from benchyard.results.summary_metrics import LARGER, SMALLER
from tests.benchyard.catalogue.formats.more_samples import ACTION, CONBENCH, CUSTOM
from tests.benchyard.catalogue.formats.samples import SAMPLES
from tests.benchyard.catalogue.formats.test_others import FORMATS, only, write


def read(name: str, content: Any) -> Measurements:
    told = content if isinstance(content, bytes) else json.dumps(content).encode()
    form = FORMATS[name]
    assert isinstance(form, BenchmarkFile)
    return form.read(told, Path("a.json"))


def action(*benches: dict[str, Any], tool: str = "go") -> Measurements:
    entries = {"Bench": [{"commit": {"id": "c"}, "date": 1000, "tool": tool, "benches": benches}]}
    return read("github-action-benchmark", {"lastUpdate": 1, "entries": entries})


def test_a_commit_is_what_all_suites_measured_of_it() -> None:
    found = read("github-action-benchmark", SAMPLES["github-action-benchmark"][1])
    assert (found.commit, found.started_s) == ("2de6098", 1_710_225_938.5)
    assert [(row.name, row.metric, row.unit, row.values) for row in found.rows] == [
        ("Rust: fib_20", "wall", "s", [37_002 / 1e9]),
        ("Memory: peak", "size", "B", [1024 * 1024]),
        ("Memory: load", "value", "Percent", [50]),
    ]
    assert [row.direction for row in found.rows] == [None, SMALLER, SMALLER]
    assert found.rows[0].note == "range ± 755"
    assert found.about == {
        "repository": "https://github.com/a/b",
        "message": "change 2",
        "tool": "cargo, customSmallerIsBetter",
    }
    # The file has the newer one first.
    assert [(one.commit, one.started_s) for one in found.earlier] == [("1de6098", 1_710_225_937.5)]


def test_the_same_without_the_script_is_read_as_well(tmp_path: Path) -> None:
    write(tmp_path, "history.json", json.dumps(ACTION).encode())
    entry = only(tmp_path)
    assert (entry.format, entry.commit, entry.broken) == ("github-action-benchmark", "2de6098", "")
    assert read("github-action-benchmark", b'window.BENCHMARK_DATA = {"entries": {}};\n').rows == ()


@pytest.mark.parametrize(
    ("value", "unit", "told"),
    cast(
        "list[Any]",
        [
            (41_653, "ns/op", ([41_653 / 1e9], "s", "wall", "")),
            (43.186, "us", ([43.186 / 1e6], "s", "wall", "")),
            (0.7, "µs/iter", ([0.7 / 1e6], "s", "wall", "")),
            (3, "sec", ([3], "s", "wall", "")),
            ("11,465", "ops/sec", ([1 / 11_465], "s", "wall", "the file has 11465 ops/sec")),
            (4, "iter/sec", ([0.25], "s", "wall", "the file has 4 iter/sec")),
            (4, "ops/ms", ([0.00025], "s", "wall", "the file has 4 ops/ms")),
            (0, "ops/sec", ([], "s", "wall", "the file has 0 ops/sec")),
            (96, "B/op", ([96], "B", "size", "")),
            (1.5, "MB", ([1.5e6], "B", "size", "")),
            (2, "MiB/s", ([2 * 2**20], "B/s", "throughput", "")),
            (3, "allocs/op", ([3], "allocs/op", "value", "")),
            (None, "ns", ([], "s", "wall", "no value")),
            ("NaN", "ns", ([], "s", "wall", "no value")),
        ],
    ),
)
def test_units(value: Any, unit: str, told: tuple[list[float], str, str, str]) -> None:
    (row,) = action({"name": "x", "value": value, "unit": unit}).rows
    assert (row.values, row.unit, row.metric, row.note) == told


def test_one_name_several_times_has_several_values() -> None:
    found = action(*({"name": "B", "value": time, "unit": "ns/op"} for time in (3, 1, 2)))
    assert [row.values for row in found.rows] == [[3 / 1e9, 1 / 1e9, 2 / 1e9]]
    assert found.one_process


@pytest.mark.parametrize(
    ("tool", "unit", "told"),
    [
        ("customBiggerIsBetter", "ops/sec", ("wall", "s", [0.25], None)),
        ("customBiggerIsBetter", "s", ("value", "s", [4], LARGER)),
        ("customSmallerIsBetter", "ops/sec", ("value", "ops/sec", [4], SMALLER)),
        ("customSmallerIsBetter", "s", ("wall", "s", [4], None)),
        ("customBiggerIsBetter", "points", ("value", "points", [4], LARGER)),
    ],
)
def test_a_custom_tool_tells_the_direction(
    tool: str, unit: str, told: tuple[str, str, list[float], str | None]
) -> None:
    (row,) = action({"name": "x", "value": 4, "unit": unit}, tool=tool).rows
    assert (row.metric, row.unit, row.values, row.direction) == told


def test_a_commit_measured_twice_is_two() -> None:
    again = [
        {"commit": {"id": "c"}, "date": date, "benches": [{"name": "x", "value": 1, "unit": "s"}]}
        for date in (2000, 1000)
    ]
    found = read("github-action-benchmark", {"entries": {"A": again}})
    assert (found.started_s, [one.started_s for one in found.earlier]) == (2, [1])


def test_a_date_that_is_missing_keeps_the_order_of_the_file() -> None:
    entries: list[dict[str, Any]] = [
        {"commit": {"id": one}, "benches": []} for one in ("new", "old", "last")
    ]
    entries[0]["date"] = 9e12
    found = read("github-action-benchmark", {"entries": {"A": entries}})
    assert [one.commit for one in (*found.earlier, found)] == ["new", "old", "last"]


def test_a_custom_list() -> None:
    served, broken = read("github-action-custom", CUSTOM).rows
    assert (served.values, served.note) == ([0.002], "the file has 500 ops/sec; range 3")
    assert (broken.values, broken.unit, broken.note) == ([], "s", "no value")


def test_conbench() -> None:
    found = read("conbench", CONBENCH)
    assert (found.host, found.commit, found.started_s) == ("box", "c0ffee", 1_704_196_800)
    (row,) = found.rows
    assert (row.name, row.metric, row.unit, row.values) == ("file-read", "wall", "s", [1.5, 2.5])
    assert (row.parameters, row.note) == ({"dataset": "uniform"}, "1 of 3 iterations failed")
    assert found.about["processor"] == "Demo CPU"


def test_results_of_conbench_are_a_history() -> None:
    def result(day: int, name: str, **more: Any) -> dict[str, Any]:
        github, time = {"commit": f"c{day}"}, f"2024-01-0{day}T12:00:00Z"
        batch = {**CONBENCH, "timestamp": time, "github": github, "batch_id": f"b{day}"}
        return {**batch, "tags": {"name": name}, **more}

    failed = {"stats": None, "error": {"stack_trace": "no <file>"}}
    rate = {"stats": {"data": ["4"], "units": "i/s"}}
    listed = [result(2, "a", **rate), result(2, "b", **failed), result(1, "a")]
    found = read("conbench", listed)
    assert [(row.name, row.values, row.note) for row in found.rows] == [
        ("a", [0.25], "the file has 4 i/s"),
        ("b", [], "failed: no <file>"),
    ]
    assert [(one.commit, one.about["batch"]) for one in found.earlier] == [("c1", "b1")]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    cast(
        "list[Any]",
        [
            ("github-action-benchmark", b'window.BENCHMARK_DATA = {"entries": {"A": [', "no JSON"),
            (
                "github-action-benchmark",
                {"entries": {"A": [{"benches": 1}]}},
                r"\$.entries\[...\]\[0\]",
            ),
            ("github-action-custom", [{"name": "a b", "value": "fast"}], "of 'a b' is no number"),
            ("conbench", {**CONBENCH, "stats": {"data": ["fast"]}}, "of 'file-read' is no number"),
            ("conbench", [{**CONBENCH, "tags": []}], r"\$\[0\].tags"),
        ],
    ),
)
def test_what_is_wrong_is_told_with_its_place(name: str, content: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(name, content)
