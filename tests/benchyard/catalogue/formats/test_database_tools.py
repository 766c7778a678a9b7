"""Files of benchmarks of databases: cold and hot tries, latencies, what failed."""

from typing import Any

import pytest

from benchyard.core.errors import InputError
from tests.benchyard.catalogue.formats.more_samples import BENCHBASE, CLICKBENCH
from tests.benchyard.catalogue.formats.test_histories import read


def test_the_first_try_of_clickbench_is_cold() -> None:
    found = read("clickbench", CLICKBENCH)
    assert (found.host, found.started_s) == ("t3a.small", 1_778_457_600)
    assert (found.about["system"], found.about["tags"]) == ("Arc", "Go, column-oriented")
    assert [(row.name, row.unit, row.values, row.note) for row in found.rows] == [
        ("Q0 (cold)", "s", [0.13], ""),
        ("Q0", "s", [0.002, 0.003], ""),
        ("Q1 (cold)", "s", [0.449], ""),
        ("Q1", "s", [0.195], "1 of 2 executions failed"),
        ("Q2 (cold)", "s", [], "failed"),
        ("Q2", "s", [], "failed"),
        ("load", "s", [127], ""),
        ("data", "B", [14_779_976_446], ""),
    ]


def test_a_system_that_is_not_loaded_has_neither_load_nor_size() -> None:
    told: dict[str, Any] = {
        **CLICKBENCH,
        "load_time": None,
        "data_size": None,
        "result": [None, []],
    }
    rows = read("clickbench", told).rows
    assert [(row.name, row.note) for row in rows] == [
        *(("Q0 (cold)", "failed"), ("Q0", "failed")),
        *(("Q1 (cold)", "failed"), ("Q1", "failed")),
    ]


def test_benchbase_tells_statistics_alone() -> None:
    found = read("benchbase", BENCHBASE)
    wall, throughput, goodput, late = found.rows
    assert found.started_s == 1_712_324_027.635
    assert (wall.name, wall.metric, wall.unit, wall.values) == ("tpcc", "wall", "s", ())
    assert wall.told == {"median": 0.00598, "mean": 0.006943, "min": 0.000432, "max": 0.234208} | {
        "n": 8620
    }
    assert wall.parameters["terminals"] == "1"
    assert (throughput.metric, throughput.unit) == ("throughput", "1/s")
    assert throughput.values == [143.666654670501]
    assert goodput.values == [143.016654724776]
    assert (late.metric, late.unit, late.values) == ("95th percentile latency", "s", [0.012075])


def test_benchbase_of_old_ends_when_it_says() -> None:
    told = {key: value for key, value in BENCHBASE.items() if not key.startswith("Start")}
    assert read("benchbase", told).started_s == pytest.approx(1_712_324_027.887)


def test_benchbase_without_requests_has_no_value() -> None:
    nothing = dict.fromkeys(BENCHBASE["Latency Distribution"], -1)
    told = {**BENCHBASE, "Latency Distribution": nothing, "Final State": "ERROR"}
    (wall, *_) = read("benchbase", told).rows
    assert (wall.told, wall.note) == ({"n": 8620}, "failed: it ended as ERROR")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("clickbench", {**CLICKBENCH, "result": [[1, "slow"]]}, r"\$.result\[0\]\[1\]"),
        ("benchbase", {**BENCHBASE, "Latency Distribution": 1}, "Latency Distribution"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(name: str, content: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(name, content)
