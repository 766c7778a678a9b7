"""Files of ReBench, BenchExec, ClickBench, BenchBase: units, statuses, tries, what is broken."""

from pathlib import Path
from typing import Any

import pytest

from benchyard.core.errors import InputError
from tests.benchyard.catalogue.formats.listed import described
from tests.benchyard.catalogue.formats.more_samples import BENCHBASE, BENCHEXEC, CLICKBENCH, REBENCH
from tests.benchyard.catalogue.formats.samples import write
from tests.benchyard.catalogue.formats.test_histories import read


def test_an_invocation_of_rebench_is_one_value() -> None:
    found = read("rebench", REBENCH.encode())
    assert (found.host, found.commit, found.started_s) == ("box", "c0ffee", 1_795_963_317.710743)
    assert found.about["message"] == "one"
    bounce, memory, nop = found.rows
    assert (bounce.name, bounce.metric, bounce.unit) == ("Bounce", "wall", "s")
    assert bounce.values == pytest.approx([0.0023, 0.0025])
    assert bounce.parameters == {"executor": "sh", "suite": "S", "cores": "1"}
    # What it calls kb are kibibytes.
    assert (memory.metric, memory.unit) == ("peak memory", "B")
    assert memory.values == [1628 * 1024, 1548 * 1024]
    assert (nop.metric, nop.values) == ("wall", [0, 0])


def test_a_file_without_column_heads() -> None:
    # As versions before 1.2 wrote it: no heads, and no machine.
    lines = REBENCH.splitlines(keepends=True)[:4]
    rows = "1 1 12.5 ms total List vm S -x 1 10 \n1 1 7 objects allocated List vm S    \n"
    wall, other = read("rebench", ("".join(lines) + rows.replace(" ", "\t")).encode()).rows
    assert (wall.values, wall.parameters["extraArgs"]) == ([0.0125], "-x")
    assert wall.parameters["inputSize"] == "10"
    assert (other.metric, other.unit, other.values) == ("allocated", "objects", [7])


def test_another_commit_in_the_same_file_is_another_measurement() -> None:
    later = REBENCH.replace("c0ffee", "beef").replace("2026-11-29", "2026-11-30")
    found = read("rebench", (later + REBENCH).encode())
    assert (found.commit, [one.commit for one in found.earlier]) == ("beef", ["c0ffee"])
    # ReBench that goes on is the same measurement.
    again = REBENCH.replace("14:41", "14:51")
    resumed = read("rebench", (REBENCH + again).encode())
    assert (resumed.started_s, resumed.earlier) == (1_795_963_317.710743, ())


def test_benchexec() -> None:
    found = read("benchexec", BENCHEXEC.encode())
    assert (found.host, found.started_s) == ("box", 1_795_963_365.5)
    assert (found.about["tool"], found.about["time limit"]) == ("DummyTool 2", "10s")
    assert [(row.name, row.metric, row.unit, row.values, row.note) for row in found.rows] == [
        ("../a.c", "cpu", "s", [0.002435253], ""),
        ("../a.c", "memory", "B", [1_500_000], ""),
        ("../a.c", "wall", "s", [0.024352915002964437], ""),
        ("../b.c", "cpu", "s", [10.1], "failed: status TIMEOUT"),
        ("../b.c", "wall", "s", [10.2], "failed: status TIMEOUT"),
        ("../c.c", "memory", "B", [128_032_768], "status false(reach)"),
    ]
    assert found.rows[0].parameters == {"properties": "unreach-call"}


def test_a_task_without_numbers_is_there_and_several_hosts_are_none() -> None:
    told = BENCHEXEC.replace("</systeminfo>", '</systeminfo><systeminfo hostname="other"/>')
    told = told.replace('value="128032768"', 'value="NaN"')
    found = read("benchexec", told.encode())
    assert found.host == ""
    assert (found.rows[-1].name, found.rows[-1].statistic("n")) == ("../c.c", None)


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
    told: dict[str, Any] = CLICKBENCH | {"load_time": None, "data_size": None, "result": [None, []]}
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
        ("rebench", REBENCH[:-30], "breaks off"),
        ("rebench", REBENCH + "1\t2\n", "line 16 has 2 values, not 15"),
        ("rebench", REBENCH.replace("2.250000", "fast"), "line 9: .*'fast'"),
        ("rebench", REBENCH.replace('"hostName":', '"hostName"'), "no JSON"),
        ("benchexec", BENCHEXEC[:-30], "no XML: .* line 28"),
        ("benchexec", BENCHEXEC.replace("<run ", "<run & "), "no XML: .* line 10"),
        ("rebench", b"\xff\n", "UTF-8"),
        ("clickbench", {**CLICKBENCH, "result": [[1, "slow"]]}, r"\$.result\[0\]\[1\]"),
        ("benchbase", {**BENCHBASE, "Latency Distribution": 1}, "Latency Distribution"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(name: str, content: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(name, content.encode() if isinstance(content, str) else content)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("perf.data", b"PERFILE2\x68\0\0"),
        ("jmh.data", b"# Run progress: 0.00% complete\n"),
        ("page.js", b"window.BENCHMARK = {lastUpdate: 1, entries: {}}"),
        ("pom.xml", b'<project><result tool="x"/></project>'),
        ("times.csv", b"times,value\n1,2\n"),
        ("one.csv", b"time\n1\n"),
        ("list.json", b'[{"name": "a", "value": 1}]'),
    ],
)
def test_other_files_of_these_endings_are_no_entries(
    tmp_path: Path, name: str, content: bytes
) -> None:
    write(tmp_path, name, content)
    assert not [*described(tmp_path)]
