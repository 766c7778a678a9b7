"""Files of other programs: recognised by one format each, described, loaded; broken ones told."""

import gzip
import json
import os
import subprocess
from copy import copy
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.catalogue.entry import Entry
from benchyard.catalogue.formats import OTHERS, contract, measurements, trace_file
from benchyard.catalogue.formats.contract import Candidate, FolderListing
from benchyard.catalogue.formats.measurements import Measurement, Measurements
from benchyard.core.errors import BenchyardError, InputError
from benchyard.publish.testresults.document import Document
from benchyard.traces.model import Trace
from tests.benchyard.catalogue.formats.listed import described
from tests.benchyard.catalogue.formats.samples import (
    ASV,
    CHROME,
    JSON_FORMATS,
    PYTEST,
    SAMPLES,
    TIMING,
    write,
    write_all,
)
from tests.benchyard.cli.conftest import Cli

_ABOVE = (folder / "shared" / "samples" for folder in Path(__file__).resolve().parents)
SHARED = next((folder for folder in _ABOVE if folder.is_dir()), None)
FORMATS = {one.name: one for one in OTHERS}


def only(folder: Path) -> Entry:
    (entry,) = described(folder)
    return entry


def of_format(folder: Path, name: str) -> Entry:
    [entry] = (one for one in described(folder) if one.format == name)
    return entry


def loaded(entry: Entry) -> Any:
    return FORMATS[entry.format].load(entry)


def rows(entry: Entry) -> dict[tuple[str, str], Measurement]:
    measured = loaded(entry)
    assert isinstance(measured, Measurements)
    return {(row.name, row.metric): row for row in measured.rows}


def test_each_file_is_of_one_format(tmp_path: Path) -> None:
    write_all(tmp_path)
    found = [(entry.format, entry.path) for entry in described(tmp_path)]
    assert sorted(found) == sorted((name, path) for name, (path, _) in SAMPLES.items())
    assert not any(entry.broken for entry in described(tmp_path))
    assert set(SAMPLES) | {"scanner-job"} == set(FORMATS)


_OTHERS = (
    b'{"name": "x", "version": "1.0.0", "dependencies": {"y": "^1"}}',
    b'{"compilerOptions": {"paths": {"value": ["a"]}}}',
    b'{"results": [1, 2], "entries": {}}',
    b'{"a": {"b": {"value": 1, "other": 2}}}',
    *(b"[]", b"{}", b"12", b"", b"\xff\xfe\x00", b"plain text"),
)


def test_other_json_and_our_own_documents_are_no_entries(tmp_path: Path) -> None:
    for number, content in enumerate(_OTHERS):
        write(tmp_path, f"{number}/package.json", content)
    for name in ("run.json", "summary.json", "metadata.json", ".hidden.json"):
        write(tmp_path, name, SAMPLES["hyperfine"][1])
    assert not [*described(tmp_path)]


# -- what is read


def sample(folder: Path, name: str) -> Entry:
    write(folder, *SAMPLES[name])
    return only(folder)


def test_pytest_benchmark(tmp_path: Path) -> None:
    entry = sample(tmp_path, "pytest-benchmark")
    assert (entry.host, entry.commit) == ("box", "c0ffee")
    assert entry.started_s == 1_777_636_800.5
    assert entry.counts == {"benchmarks": 1, "measurements": 1}
    row = rows(entry)["test_b.py::test_sum[1]", "wall"]
    assert (row.unit, row.values, row.parameters) == ("s", [1e-6, 2e-6, 4e-6], {"n": 1})
    # The mean is the file's own, and not that of its values.
    assert (row.statistic("mean"), row.statistic("n")) == (2.1e-6, 3)


def test_hyperfine(tmp_path: Path) -> None:
    found = rows(sample(tmp_path, "hyperfine"))
    wall = found["sleep {n}", "wall"]
    assert (wall.values, wall.unit, wall.parameters) == ([0.1, 0.3], "s", {"n": "1"})
    assert wall.note == "1 of 2 executions failed"
    # A deviation that the file leaves out is that of the values.
    assert wall.statistic("stdev") == pytest.approx(0.1414, abs=1e-4)
    assert found["sleep {n}", "user"].statistic("mean") == 0.001
    assert found["sleep {n}", "user"].statistic("max") is None
    assert found["sleep {n}", "peak memory"].values == [4096, 8192]


def test_google_benchmark_has_units_of_its_own(tmp_path: Path) -> None:
    entry = sample(tmp_path, "google-benchmark")
    found = rows(entry)
    assert entry.started_s == 1_777_636_800
    wall = found["BM_a/8", "wall"]
    assert (wall.values, wall.unit) == ([12.5e-6, 13.5e-6], "s")
    # Aggregates are statistics, and no values.
    assert wall.statistic("stdev") == 0.5e-6
    assert found["BM_a/8", "bytes_per_second"].unit == "B/s"
    assert found["BM_a/8", "hits"].unit == ""
    assert found["BM_bad", "wall"].note == "failed: no <file>"
    assert found["BM_bad", "wall"].statistic("mean") is None


@pytest.mark.parametrize(
    ("kind", "name", "metric", "told"),
    [
        ("pyperf", "timeit", "wall", ([(9e-8 + 8e-8) / 2, 7e-8], "s", "")),
        ("bencher", "bench::a", "latency", ([1.5e-6], "s", "the file has lower_value 1400")),
        ("bencher", "bench::a", "own", ([3], "", "")),
        ("benchyard-time", "a", "wall", ([0.1, 0.3], "s", "1 of 2 executions failed")),
        ("benchyard-time", "a", "peak memory", ([900], "B", "1 of 2 executions failed")),
    ],
)
def test_values_units_and_notes(
    tmp_path: Path, kind: str, name: str, metric: str, told: tuple[list[float], str, str]
) -> None:
    row = rows(sample(tmp_path, kind))[name, metric]
    assert (row.values, row.unit, row.note) == told


def test_asv_tells_failed_from_skipped(tmp_path: Path) -> None:
    write_all(tmp_path)
    entry = of_format(tmp_path, "asv")
    assert (entry.commit, entry.host, entry.started_s) == ("abcdef12", "box", 1_700_000_100.5)
    suite = [row for row in loaded(entry).rows if row.name == "b.Suite.time_it"]
    assert [(row.parameters, row.note) for row in suite] == [
        ({"n": "1", "s": "'a'"}, ""),
        ({"n": "1", "s": "'b'"}, "failed"),
        ({"n": "2", "s": "'a'"}, "skipped"),
        ({"n": "2", "s": "'b'"}, ""),
    ]
    assert (suite[0].unit, suite[0].values) == ("s", [0.0005, 0.0015])
    assert rows(entry)["b.track_x", "value"].unit == "widgets"
    assert rows(entry)["b.track_x", "value"].statistic("median") == 12.5
    # Its unit is told by no file, but by its name.
    assert rows(entry)["b.mem_y", "memory"].note == "failed"


def test_asv_of_old(tmp_path: Path) -> None:
    results = {
        "b.time_one": 0.25,
        "b.mem_bad": None,
        "b.time_many": {
            "params": [["1", "2"]],
            "result": [0.5, None],
            "stats": [{"repeat": 10, "number": 1}, None],
            "samples": [[0.5, 0.75], None],
        },
    }
    old = {key: ASV[key] for key in ("commit_hash", "env_name", "params")}
    started = {"b.time_one": 1_700_000_000_000}
    told = {**old, "version": 1, "results": results, "started_at": started}
    write(tmp_path, "old.json", json.dumps(told).encode())
    entry = only(tmp_path)
    assert (entry.format, entry.broken, entry.started_s) == ("asv", "", 1_700_000_000)
    one, bad, first, second = loaded(entry).rows
    assert (one.name, one.statistic("median"), one.unit) == ("b.time_one", 0.25, "s")
    assert (bad.note, second.note) == ("failed", "failed")
    assert (first.values, first.statistic("n")) == ([0.5, 0.75], 10)
    assert first.parameters == {"param1": "1"}


def test_testresults(tmp_path: Path) -> None:
    entry = sample(tmp_path, "testresults")
    assert (entry.title, entry.host, entry.commit) == ("//a:test", "box", "f00d")
    assert (entry.started_s, entry.counts) == (1_700_000_000, {"entries": 2})
    assert isinstance(loaded(entry), Document)


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("chrome-trace", ["<b>load</b>", "parse"]),
        ("speedscope", ["main", "sort", "load"]),
        ("pprof", ["main", "0xab"]),
        ("collapsed-stacks", ["main", "load", "sort"]),
        ("cprofile", ["prog.py:1(main)", "prog.py:5(load)"]),
        ("v8-cpuprofile", ["(anonymous) (p.js:1)", "fib (p.js:5)", "(program)"]),
        ("firefox-profile", ["main", "run"]),
        ("perf-script", ["init_cpu_features.constprop.0", "[unknown]", "[tool]", "main"]),
        ("callgrind", ["main", "work", "lost"]),
    ],
)
def test_traces(tmp_path: Path, name: str, names: list[str]) -> None:
    entry = sample(tmp_path, name)
    trace = loaded(entry)
    assert isinstance(trace, Trace)
    assert set(names) <= set(trace.names)
    assert entry.counts["slices"] == len(trace.slices)


# -- what real programs write


@pytest.mark.skipif(SHARED is None, reason="real samples are not here")
def test_real_samples() -> None:
    assert SHARED
    found = {entry.format: entry for entry in described(SHARED)}
    job = found["scanner-job"]
    assert (job.title, job.counts) == ("job_7", {"nodes": 1, "workers": 7})
    assert len(loaded(job).trace().slices) == 17
    document = found["testresults"]
    assert (document.host, document.counts) == ("bench-01", {"entries": 2})
    assert document.title == "//tensorflow/core/kernels:cast_op_test|NVIDIA_A100"


@pytest.mark.requires("hyperfine")
def test_real_hyperfine(tmp_path: Path) -> None:
    command = ["hyperfine", "-N", "-r", "2", "--export-json", tmp_path / "h.json", "true"]
    subprocess.run(command, check=True, capture_output=True)
    wall = rows(only(tmp_path))["true", "wall"]
    assert len(wall.values) == 2
    assert wall.statistic("min") == min(wall.values) > 0


def test_real_timing(cli: Cli, tmp_path: Path) -> None:
    cli("time", "true", "--runs", "2", "-o", tmp_path / "t.json")
    cli("time", "true", "--runs", "2", "-o", tmp_path / "h.hyperfine.json")
    for entry in described(tmp_path):
        assert len(rows(entry)["true", "wall"].values) == 2
    assert {entry.format for entry in described(tmp_path)} == {"benchyard-time", "hyperfine"}


# -- what is broken, long, gone


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_what_breaks_off_is_told(tmp_path: Path, name: str) -> None:
    path, content = SAMPLES[name]
    packed = path.endswith(".gz")
    plain = gzip.decompress(content) if packed else content
    cut = plain[: -len(plain) // 8]
    write(tmp_path, path, gzip.compress(cut) if packed else cut)
    entry = only(tmp_path)
    # A trace that breaks off is read up to there, so are lines of stacks, and texts behind values.
    if name in ("chrome-trace", "collapsed-stacks", "pprof", "perf-script", "callgrind"):
        assert not entry.broken
        assert loaded(entry).losses
    else:
        assert entry.broken
        with pytest.raises(BenchyardError):
            loaded(entry)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"results": [{"command": "x", "mean": "fast"}]}', "Expected `float`, got `str`"),
        (b'{"results": [{"command": "x", "mean": 1}, NaN]}', "Expected `object`, got `float`"),
        (b'{"results": [{"command": "x", "mean": 1e999}', "out of range"),
        (b'{"results": [{"command": "x", "mean": 1}', "no JSON"),
        (b'{"results": [{"command": "\\ud800", "mean": NaN}]}', "no JSON"),
        # A text with only half a character.
        (json.dumps({**TIMING, "commands": [{"name": "\udcff", "executions": []}]}).encode(), ""),
    ],
)
def test_another_shape_is_told_with_its_place(tmp_path: Path, content: bytes, said: str) -> None:
    write(tmp_path, "h.json", content)
    broken = only(tmp_path).broken
    assert broken
    assert said in broken


def test_a_name_that_promises_a_format_is_held_to_it(tmp_path: Path) -> None:
    for name in ("a.pprof", "b.folded", "c.trace.json", "d.speedscope.json", "f.cpuprofile"):
        write(tmp_path, name, b"\x00\x01 nothing of the kind")
    write(tmp_path, "e.trace.json.gz", b"\x1f\x8bbroken")
    assert {entry.path: entry.format for entry in described(tmp_path) if entry.broken} == {
        "a.pprof": "pprof",
        "b.folded": "collapsed-stacks",
        "c.trace.json": "chrome-trace",
        "d.speedscope.json": "speedscope",
        "e.trace.json.gz": "chrome-trace",
        "f.cpuprofile": "v8-cpuprofile",
    }


def test_messages_name_no_folder_of_the_server(tmp_path: Path) -> None:
    packed = gzip.compress(SAMPLES["speedscope"][1] * 50)
    write(tmp_path, "cut.speedscope.json.gz", packed[:-20])
    write(tmp_path, "odd.speedscope.json", b'{"$schema": "https://www.speedscope.app/x"}')
    write(tmp_path, "empty.trace.json", b'{"displayTimeUnit": "ns"}')
    entries = [*described(tmp_path)]
    assert len(entries) == 3
    for entry in entries:
        assert entry.broken.startswith(entry.path)
        with pytest.raises(InputError, match=f"^{entry.path}"):
            loaded(entry)


def test_what_is_long_is_listed_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_all(tmp_path)
    for module in (measurements, trace_file):
        monkeypatch.setattr(module, "DESCRIBED_BYTES", 10)
        monkeypatch.setattr(module, "LOADED_BYTES", 20)
    for entry in described(tmp_path):
        assert (entry.broken, entry.counts) == ("", {})
        with pytest.raises(InputError, match="longer than"):
            loaded(entry)


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    start = b'{"results": [{"command": "x", "mean": 1}'
    write(tmp_path, "bomb.json.gz", gzip.compress(start + b" " * (contract.LOADED_BYTES + 1), 1))
    entry = only(tmp_path)
    assert not entry.broken
    with pytest.raises(InputError, match="longer than 64 MiB"):
        loaded(entry)


def test_what_is_gone_or_closed_is_no_entry(tmp_path: Path) -> None:
    for one in OTHERS:
        assert one.describe(Candidate("0" * 16, tmp_path, "gone.json")) is None
    file = write(tmp_path, *SAMPLES["hyperfine"])
    file.chmod(0)
    if os.geteuid():
        assert not [*described(tmp_path)]


def test_a_broken_scanner_job_is_listed(tmp_path: Path) -> None:
    write(tmp_path, "jobs/3/profile_0.bin", b"short")
    entry = only(tmp_path)
    assert (entry.format, entry.path, entry.title) == ("scanner-job", "jobs/3", "3")
    assert "profile_0.bin" in entry.broken


@pytest.mark.parametrize("moment", [1e300, -5.0, float("nan")])
def test_a_moment_that_no_calendar_has_is_none(tmp_path: Path, moment: float) -> None:
    told = {**ASV, "results": {"b.time_x": [[1.0], [], "v", moment]}}
    write(tmp_path, "asv.json", json.dumps(told).encode())
    trace = {"otherData": {"zero_unix_ns": "9" * 5_000}, "traceEvents": CHROME}
    write(tmp_path, "c.json", json.dumps(trace).encode())
    write(tmp_path, "p.json", json.dumps({**PYTEST, "datetime": "0001-01-01T00:00:00"}).encode())
    assert [(entry.started_s, entry.broken) for entry in described(tmp_path)] == [(None, "")] * 3


# -- arbitrary content

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def _spoilt(data: st.DataObject, value: Any) -> Any:
    """Return a value of JSON with another one in some place of it."""
    if not value or not isinstance(value, (dict, list)) or not data.draw(st.integers(0, 4)):
        return data.draw(_JSON)
    changed = copy(cast("dict[Any, Any]", value))
    places = sorted(changed) if isinstance(value, dict) else range(len(changed))
    place = data.draw(st.sampled_from(places))
    changed[place] = _spoilt(data, changed[place])
    return changed


def _survives(folder: Path, name: str, content: bytes) -> None:
    write(folder, name, content)
    listing = FolderListing(folder, frozenset([name]), frozenset())
    for one in OTHERS:
        for found in one.detect(listing):
            entry = one.describe(Candidate("0" * 16, folder, found))
            if entry and not entry.broken:
                one.load(entry)


_NAMES = st.sampled_from(
    [
        *("a.json", "a.json.gz", "a.trace", "a.pb.gz", "a.pprof", "a.folded"),
        *("a.speedscope.json", "a.xml", "data.js", "a.data", "a.pstats", "a.perf"),
    ]
)


@given(name=_NAMES, content=st.binary(max_size=300))
def test_no_bytes_raise(
    tmp_path_factory: pytest.TempPathFactory, name: str, content: bytes
) -> None:
    _survives(tmp_path_factory.mktemp("bytes"), name, content)


@given(st.data())
def test_no_value_in_any_place_raises(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(JSON_FORMATS))
    path, content = SAMPLES[name]
    told = json.loads(gzip.decompress(content) if path.endswith(".gz") else content)
    changed = json.dumps(_spoilt(data, told)).encode()
    _survives(tmp_path_factory.mktemp("json"), Path(path).name.removesuffix(".gz"), changed)


def test_nobody_waits_for_a_pipe_beside_a_file(tmp_path: Path) -> None:
    write_all(tmp_path)
    units = tmp_path / "asv" / "benchmarks.json"
    units.unlink()
    os.mkfifo(units)
    assert not of_format(tmp_path, "asv").broken
    write(tmp_path, "job/profile_0.bin", b"")
    for name in ("profile_1.bin", "profile_master.bin", "descriptor.bin"):
        os.mkfifo(tmp_path / "job" / name)
    assert of_format(tmp_path, "scanner-job").broken
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(InputError, match="a named pipe"):
        trace_file.bounded_trace(tmp_path / "pipe.json")
