"""What benchmarks in Go, C++ and Rust wrote: values, units, names; what failed or breaks off."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from benchyard.catalogue.entry import Entry
from benchyard.catalogue.formats.compiled_tools import COMPILED_TOOLS
from benchyard.catalogue.formats.measurements import Measurement
from benchyard.core.errors import InputError
from tests.benchyard.catalogue.formats.listed import described
from tests.benchyard.catalogue.formats.samples import CATCH2, CRITERION, GO, write
from tests.benchyard.catalogue.formats.test_others import loaded, only, rows, sample
from tests.benchyard.cli.conftest import Cli

# -- Go


def _go(folder: Path, text: str) -> Entry:
    write(folder, "go.txt", text.encode())
    return only(folder)


def test_go_has_a_value_a_line(tmp_path: Path) -> None:
    entry = sample(tmp_path, "go-benchmark")
    found = rows(entry)
    wall = found["Join/n=10-2", "wall"]
    assert (wall.values, wall.unit) == ([110.5 / 1e9, 177.8 / 1e9, 168.5 / 1e9], "s")
    whole = [row for row in found.values() if row.name == "Join/n=100-2"]
    assert {row.metric: (row.values[0], row.unit) for row in whole} == {
        "wall": (1128 / 1e9, "s"),
        "memory": (112, "B"),
        "allocations": (1, "1"),
        "throughput": (88.66e6, "B/s"),
        "parts/op": (100, "parts/op"),
    }
    assert loaded(entry).one_process
    assert loaded(entry).about["cpu"] == "AMD EPYC"


def test_go_tells_what_failed_and_what_was_skipped(tmp_path: Path) -> None:
    text = f"{GO.decode()}--- SKIP: BenchmarkOther\n--- FAIL: BenchmarkLast"
    found = rows(_go(tmp_path, text))
    assert found["Bad", "wall"].note == "failed: sums_test.go:10: no input"
    assert found["Other", "wall"].note == "skipped: --- FAIL: BenchmarkLast"
    assert found["Last", "wall"].note == "failed"


#: ns/op of golang.org/x/perf/cmd/benchstat, whose documentation has the files and their table.
_BENCHSTAT = {
    "old": "1726 1723 1707 1707 1713 1729 1736 1707 1705 1774",
    "new": "1423 1416 1411 1413 1412 1426 1424 1422 1447 1425",
}


def test_go_as_benchstat_tells_it(tmp_path: Path) -> None:
    medians: dict[str, float] = {}
    for name, values in _BENCHSTAT.items():
        lines = [f"BenchmarkEncode/format=json-48 \t690848\t {one} ns/op" for one in values.split()]
        wall = rows(_go(tmp_path, "\n".join(lines)))["Encode/format=json-48", "wall"]
        assert len(wall.values) == 10
        medians[name] = wall.statistic("median") or 0
    assert f"{medians['old'] * 1e6:.3f} {medians['new'] * 1e6:.4f}" == "1.718 1.4225"
    assert f"{medians['new'] / medians['old'] - 1:+.2%}" == "-17.20%"


def test_go_texts_are_sides_of_a_comparison(tmp_path: Path, cli: Cli) -> None:
    for name, values in _BENCHSTAT.items():
        lines = [f"BenchmarkEncode-48 690848 {one} ns/op 16 B/op\n" for one in values.split()]
        write(tmp_path, f"{name}.txt", "".join(lines).encode())
    sides = (tmp_path / "old.txt", tmp_path / "new.txt")
    assert "one process does not tell how far processes differ" in cli("compare", *sides).out
    found = json.loads(cli("compare", "--json", *sides, "--session-sd", "1%").out)
    [row] = [row for row in found["comparisons"] if row["step"] == "Encode-48"]
    assert (row["ratio"], row["verdict"]) == (pytest.approx(0.83, abs=0.01), "improvement")
    same = json.loads(cli("compare", "--json", *sides, "--metric", "memory").out)
    assert same["comparisons"][-1]["ratio"] == 1


def test_go_packages_are_told_apart_where_there_are_several(tmp_path: Path) -> None:
    one = "pkg: a/b\nBenchmarkX-2 10 5 ns/op\nok  a/b 1.2s\n"
    assert [row.name for row in loaded(_go(tmp_path, one)).rows] == ["X-2"]
    two = f"{one}pkg: a/c\nBenchmarkX-2 10 7 ns/op\n"
    assert [row.name for row in loaded(_go(tmp_path, two)).rows] == ["a/b.X-2", "a/c.X-2"]


@pytest.mark.parametrize(
    "other", ["BenchmarkX", "BenchmarkX prints 5 lines", "    x_test.go:3: said", "PASS", ""]
)
def test_go_lines_of_other_things_are_passed_over(tmp_path: Path, other: str) -> None:
    text = f"{other}\r\nBenchmarkX-2 10 5 ns/op\r\n{other}\r\n"
    assert [row.values for row in loaded(_go(tmp_path, text)).rows] == [[5e-9]]


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ("BenchmarkY-2 10 5 ns/op 12 B", "it breaks off in line 2"),
        ("BenchmarkY-2 10 5 ns/op 12", "line 2 does not have a value before each unit"),
        ("BenchmarkY-2 10 5 ns/o", "it breaks off in line 2"),
        ("BenchmarkY-2 10 5", "it breaks off in line 2"),
        ("BenchmarkY-2 \t", "it breaks off in line 2"),
        ("BenchmarkY-2 10 5 ns/op x B/op\n", "line 2 does not have a value before each unit"),
    ],
)
def test_go_half_a_line_is_told_with_its_place(tmp_path: Path, last: str, said: str) -> None:
    assert said in _go(tmp_path, f"BenchmarkX-2 10 5 ns/op\n{last}").broken


@pytest.mark.parametrize("last", ["BenchmarkX-2 9 6 ns/op 2 wigs", "BenchmarkX-2 9 6 ns/op"])
def test_go_a_whole_last_line_needs_no_end(tmp_path: Path, last: str) -> None:
    text = f"BenchmarkX-2 10 5 ns/op 3 wigs\n{last}"
    assert rows(_go(tmp_path, text))["X-2", "wall"].values == [5e-9, 6e-9]


def test_texts_without_results_are_no_go(tmp_path: Path) -> None:
    write(tmp_path, "notes.txt", b"goos: linux\nBenchmarkX is slow\nSee BenchmarkX-8 10 5 ns/op\n")
    assert not [*described(tmp_path)]


@pytest.mark.parametrize(("name", "content"), [("go.txt.gz", GO), ("c.xml.gz", CATCH2)])
def test_texts_may_be_gzipped(tmp_path: Path, name: str, content: bytes) -> None:
    write(tmp_path, name, gzip.compress(content))
    assert loaded(only(tmp_path)).rows


# -- Catch2


def test_catch2_tells_statistics_in_nanoseconds(tmp_path: Path) -> None:
    found = rows(sample(tmp_path, "catch2"))
    row = found["Build Point Cloud > Hesai SDK", "wall"]
    assert (row.unit, row.values) == ("s", ())
    assert row.told == {"n": 100, "mean": 1.85689e6 / 1e9, "stdev": 103265 / 1e9}


@pytest.mark.parametrize(
    ("old", "new", "note"),
    [
        (b"<OverallResult success=", b"<OverallResult was=", ""),
        (b'success="true"', b'success="false"', "failed: its test case"),
        (b'<mean value="162750"', b'<failed message="no input"/><mean value="1"', "no input"),
        (b'<mean value="162750"', b'<mean value="nan"', "failed"),
        (b'<mean value="162750"', b"<mean", "failed"),
    ],
)
def test_catch2_tells_what_failed(tmp_path: Path, old: bytes, new: bytes, note: str) -> None:
    write(tmp_path, "c.xml", CATCH2.replace(old, new))
    row: Measurement = loaded(only(tmp_path)).rows[0]
    assert row.note.removeprefix("failed: ") == note.removeprefix("failed: ")
    assert ("mean" in row.told) == (note in ("", "failed: its test case"))


#: Recorded, without some attributes: Catch2 2.13.10, ``-r xml --benchmark-samples 10``.
_OLD = b"""\
<?xml version="1.0" encoding="UTF-8"?>
<Catch name="b">
  <Group name="b">
    <TestCase name="sums" filename="b.cpp" line="5">
      <Section name="inner" filename="b.cpp" line="7">
        <BenchmarkResults name="fib 15" samples="10" resamples="100000" iterations="8">
          <!--All values in nano seconds-->
          <mean value="2717.65" lowerBound="2711.51" upperBound="2735.79" ci="0.95"/>
          <standardDeviation value="17.8437" lowerBound="0.619476" upperBound="29.5903" ci="0.95"/>
        </BenchmarkResults>
        <OverallResults successes="0" failures="0" expectedFailures="0"/>
      </Section>
      <OverallResult success="true"/>
    </TestCase>
    <TestCase name="breaks" filename="b.cpp" line="9">
      <BenchmarkResults name="bad">
        <failed message="no &lt;input>"/>
      </BenchmarkResults>
      <OverallResult success="true"/>
    </TestCase>
  </Group>
</Catch>
"""


def test_catch2_of_old_with_a_section_and_a_failure(tmp_path: Path) -> None:
    write(tmp_path, "old.xml", _OLD)
    inner, bad = loaded(only(tmp_path)).rows
    assert (inner.name, inner.note) == ("sums > inner > fib 15", "")
    assert inner.told == {"n": 10, "mean": 2717.65 / 1e9, "stdev": 17.8437 / 1e9}
    assert (bad.name, bad.told, bad.note) == ("breaks > bad", {}, "failed: no <input>")


def test_catch2_sections_of_any_depth_are_no_crash(tmp_path: Path) -> None:
    deep = b"<TestCase>" + b"<Section>" * 9_000 + b"<BenchmarkResults/>" + b"</Section>" * 9_000
    write(tmp_path, "deep.xml", b"<Catch>" + deep + b"</TestCase></Catch>")
    assert only(tmp_path).broken == "deep.xml is nested too deeply"


def test_xml_without_benchmarks_is_no_catch2(tmp_path: Path) -> None:
    write(tmp_path, "old.xml", _OLD)
    write(tmp_path, "tests.xml", CATCH2.replace(b"BenchmarkResults", b"Section"))
    write(tmp_path, "other.xml", _OLD.replace(b"<Catch ", b"<Catcher ").replace(b"Catch>", b"C>"))
    assert only(tmp_path).path == "old.xml"


def test_catch2_damage_is_told_with_its_place(tmp_path: Path) -> None:
    write(tmp_path, "c.xml", CATCH2[: CATCH2.index(b"<standardDeviation")])
    entry = only(tmp_path)
    assert "no element found: line 7, column 6" in entry.broken
    write(tmp_path, "c.xml", CATCH2.replace(b"?>", b'?><!DOCTYPE a [<!ENTITY b "c">]>', 1))
    with pytest.raises(InputError, match="declares entities"):
        loaded(entry)


# -- criterion

#: Of a public test: estimates of signing_small_with_mtl/sign_batch/100.
_ESTIMATES: dict[str, Any] = {
    "mean": {
        "confidence_interval": {"confidence_level": 0.95, "lower_bound": 667213713.6},
        "point_estimate": 682919952.51,
        "standard_error": 8847633.63015166,
    },
    "median": {"point_estimate": 670836473.8},
    "median_abs_dev": {"point_estimate": 5771345.559999999},
    "slope": None,
    "std_dev": {"point_estimate": 47786218.50616897},
}


def _file(folder: Path, name: str, told: Any) -> None:
    write(folder, f"target/criterion/sign/batch/100/{name}", json.dumps(told).encode())


def test_criterion_samples_are_times_an_iteration(tmp_path: Path) -> None:
    row = rows(sample(tmp_path, "criterion"))["sums/xor/1000", "wall"]
    expected = [89284700 / 216428, 182949300 / 432856, 279225800 / 649284, 370553800 / 865712]
    assert row.values == pytest.approx([one / 1e9 for one in expected], rel=1e-15)
    assert row.unit == "s"


def test_criterion_estimates_are_told(tmp_path: Path) -> None:
    _file(tmp_path, "base/estimates.json", _ESTIMATES)
    assert rows(only(tmp_path))["sign/batch/100", "wall"].told == {
        "mean": 682919952.51 / 1e9,
        "median": 670836473.8 / 1e9,
        "stdev": 47786218.50616897 / 1e9,
    }


def test_criterion_names_itself_beside_the_samples(tmp_path: Path) -> None:
    _file(tmp_path, "new/benchmark.json", {"group_id": "sign", "full_id": "sign/of many/100"})
    _file(tmp_path, "new/sample.json", CRITERION)
    assert [*rows(only(tmp_path))] == [("sign/of many/100", "wall")]
    _file(tmp_path, "new/benchmark.json", {"full_id": 5})
    assert [*rows(only(tmp_path))] == [("sign/batch/100", "wall")]


def test_criterion_files_elsewhere_have_the_name_of_their_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "kept/xor/new/sample.json", json.dumps(CRITERION).encode())
    assert [*rows(only(tmp_path))] == [("xor", "wall")]
    read = next(one for one in COMPILED_TOOLS if one.name == "criterion").read
    monkeypatch.chdir(tmp_path / "kept/xor/new")
    (row,) = read(json.dumps(CRITERION).encode(), Path("sample.json")).rows
    assert row.name == "xor"


def test_criterion_changes_are_ratios_and_no_times(tmp_path: Path) -> None:
    changes = {name: _ESTIMATES[name] for name in ("mean", "median")}
    _file(tmp_path, "change/estimates.json", changes)
    assert not [*described(tmp_path)]


def test_criterion_samples_without_a_time_are_none(tmp_path: Path) -> None:
    _file(tmp_path, "new/sample.json", {**CRITERION, "iters": [1, 0, 2, 4], "times": [4, 4, 4, 4]})
    assert loaded(only(tmp_path)).rows[0].values == [4e-9, 2e-9, 1e-9]
    _file(tmp_path, "new/sample.json", {**CRITERION, "iters": [1]})
    assert "it has 1 iters, but 4 times" in only(tmp_path).broken
