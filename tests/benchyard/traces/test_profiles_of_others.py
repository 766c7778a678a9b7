"""Profiles by other tools' own formats: figures are those of the tools, damage is refused."""

import cProfile
import json
import marshal
import profile
import pstats
import random
import re
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.core.errors import InputError
from benchyard.traces import cprofile
from benchyard.traces.building import TraceBuilder
from benchyard.traces.call_graphs import RARER, CallGraph
from benchyard.traces.difference import Measure, Profiled, profiled
from benchyard.traces.model import Trace
from benchyard.traces.sources import read_trace
from tests.benchyard.catalogue.formats.samples import CPUPROFILE, FIREFOX, SAMPLES
from tests.benchyard.traces.rows import damaged, rows
from tests.benchyard.traces.test_sources import (
    EVENTED,
    MS,
    SAMPLED,
    by_start,
    losses,
    paths,
    pprof,
    read,
    speedscope,
)
from tests.conftest import program

Function = tuple[str, int, str]


#: How pstats writes a function.
written: Callable[[Function], str] = vars(pstats)["func_std_string"]


def self_of(found: Profiled, name: str) -> float:
    return found.values[Measure.SELF][name,]


def leaf(count: int) -> int:
    return sum(one * one for one in range(count))


def fib(count: int) -> int:
    return count if count < 2 else fib(count - 1) + fib(count - 2)


def even(count: int) -> bool:
    return not count or odd(count - 1)


def odd(count: int) -> bool:
    return bool(count) and even(count - 1)


def work() -> None:
    for _ in range(3):
        leaf(5_000)
        fib(12)
        even(20)
        sorted(str(one) for one in range(2_000))


# -- cProfile


def dump(file: Path, profiler: Any) -> dict[Function, Any]:
    profiler.runcall(work)
    profiler.dump_stats(str(file))
    return vars(pstats.Stats(str(file)))["stats"]


@pytest.mark.parametrize("make", [cProfile.Profile, profile.Profile])
def test_figures_are_those_of_pstats(tmp_path: Path, make: Callable[[], Any]) -> None:
    stats = dump(tmp_path / "c.prof", make())
    found = profiled(read_trace(tmp_path / "c.prof"))
    own = Counter[str]()
    for (file, line, name), row in stats.items():
        own[written((Path(file).name, line, name))] += max(row[2], 0)
    assert sum(found.values[Measure.SELF].values()) == pytest.approx(sum(own.values()), abs=1e-7)
    for said, seconds in own.most_common(5):
        assert self_of(found, said) == pytest.approx(seconds, abs=1e-7)
    # What is not part of a circle of calls has the total that pstats says.
    for (file, line, name), row in stats.items():
        if name in ("work", "leaf") and make is cProfile.Profile:
            total = found.total_s[f"{Path(file).name}:{line}({name})",]
            assert total == pytest.approx(row[3], rel=1e-3)


@pytest.mark.parametrize("version", [2, 3, 4])
def test_each_version_of_marshal_is_read(tmp_path: Path, version: int) -> None:
    main, load = ("a/__init__.py", 1, "mäin"), ("~", 0, "<built-in method load>")
    rows: dict[Function, Any] = {
        main: (1, 1, 0.25, 1.0, {}),
        load: (1 << 40, 1 << 40, 0.75, 0.75, {main: (1 << 40, 1 << 40, 0.75, 0.75)}),
    }
    trace = read(tmp_path, marshal.dumps(rows, version))
    assert paths(trace) == ["a/__init__.py:1(mäin)", *paths(trace)[1:]]
    assert paths(trace)[1:] == ["a/__init__.py:1(mäin)>{built-in method load}"]
    assert trace.slices.duration.tolist() == [10**9, 750_000_000]


def test_a_function_called_from_outside_as_well_is_a_root_too(tmp_path: Path) -> None:
    main, load = ("a", 1, "main"), ("a", 2, "load")
    called = {main: (1, 1, 3.0, 3.0)}
    rows: dict[Function, Any] = {main: (1, 1, 1.0, 4.0, {}), load: (2, 2, 4.0, 4.0, called)}
    trace = read(tmp_path, marshal.dumps(rows))
    assert paths(trace) == ["a:1(main)", "a:1(main)>a:2(load)", "a:2(load)"]
    assert profiled(trace).total_s["a:1(main)",] == 4


def test_a_long_dump_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cprofile, "_MOST_BYTES", 10)
    with pytest.raises(InputError, match="the most of its format"):
        read(tmp_path, SAMPLES["cprofile"][1])


_ROW = b"(\5\0\0\0" + 2 * b"i\1\0\0\0" + 2 * (b"g" + bytes(8))
HOSTILE = {
    "not finite": marshal.dumps({("a", 1, "b"): (1, 1, float("nan"), 1.0, {})}),
    "another shape": marshal.dumps({("a", 1, "b"): (1, 1, 1.0)}),
    "a tuple beyond the end": b"{)\x03s\xff\xff\xff\xff",
    "a value within itself": b"{)\x03\xfa\x01a\xa9\x01r\x01\x00\x00\x000",
    "no such reference": b"{)\x03z\x01ar\x09\x00\x00\x00",
    "a code object": b"{)\x03z\x01ac\x00\x00\x00\x00",
    "references that multiply": b"{\xa9\x03z\x01ai\1\0\0\0z\x01b"
    + (_ROW + b"\xfb" + 100_000 * b"r\0\0\0\0i\1\0\0\0" + b"0")
    + (2_000 * (b"r\0\0\0\0" + _ROW + b"r\1\0\0\0") + b"0"),
    "endless nesting": b"{)\x03z\x01a" + b")\x01" * 10_000,
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_hostile_dumps_are_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError, match="not a dump of cProfile"):
        read(tmp_path, content)


# -- graphs of calls


def drawn(own: Mapping[str, float], *calls: tuple[str | None, str, float]) -> Trace:
    graph = CallGraph[str]()
    graph.own |= own
    for caller, callee, cost in calls:
        graph.call(caller, callee, cost)
    builder = TraceBuilder()
    graph.draw(builder, builder.track("a", "b"), str)
    return builder.trace()


def test_a_functions_cost_is_split_among_its_callers() -> None:
    trace = drawn(
        {"main": 0, "a": 0, "b": 0, "work": 300, "inner": 100},
        *(("main", "a", 100), ("main", "b", 300), ("a", "work", 100), ("b", "work", 300)),
        ("work", "inner", 100),
    )
    found = profiled(trace, by_path=True).total_s
    assert {">".join(path): round(cost * 1e9) for path, cost in found.items()} == {
        "main": 400,
        "main>a": 100,
        "main>a>work": 100,
        "main>a>work>inner": 25,
        "main>b": 300,
        "main>b>work": 300,
        "main>b>work>inner": 75,
    }


def test_circles_without_a_beginning_keep_their_costs() -> None:
    trace = drawn({"a": 5, "b": 7}, ("a", "b", 9), ("b", "a", 9), ("a", "a", 9))
    assert paths(trace) == ["a", "a>b"]
    assert trace.slices.duration.tolist() == [12, 7]


def test_rare_paths_are_one() -> None:
    trace = drawn({"main": 1_000_000, "rare": 50}, ("main", "rare", 50))
    assert paths(trace) == [RARER, f"{RARER}>rare", "main"]
    assert trace.slices.duration.tolist() == [1_000_000, 50, 50]


def test_diamonds_do_not_make_more_paths_than_are_drawn() -> None:
    calls = [(f"{at}{a}", f"{at + 1}{b}", 1) for at in range(60) for a in "lr" for b in "lr"]
    trace = drawn({"60l": 1_000_000}, *calls)
    assert len(trace.slices) < 1_000_000
    assert profiled(trace).values[Measure.SELF]["60l",] == pytest.approx(1e-3)


_TIMES = st.floats(0, 1e3)
_NAMES = st.sampled_from("abcdef")
_EDGES = st.lists(st.tuples(st.none() | _NAMES, _NAMES, _TIMES), max_size=20)


@given(own=st.dictionaries(_NAMES, st.floats(0, 1e6)), edges=_EDGES)
def test_no_cost_is_lost(own: dict[str, float], edges: list[tuple[str | None, str, float]]) -> None:
    found = profiled(drawn(own, *edges)).values[Measure.SELF]
    for name, cost in own.items():
        assert found.get((name,), 0) * 1e9 == pytest.approx(cost, abs=50, rel=1e-6)


# -- V8 and Firefox


def test_v8s_samples_last_until_the_next(tmp_path: Path) -> None:
    trace = read(tmp_path, SAMPLES["v8-cpuprofile"][1])
    # The last two were written in the wrong order.
    assert by_start(trace) == [
        ("main", "(program)", 10_000, 20_000),
        ("main", "(anonymous) (p.js:1)", 30_000, 80_000),
        ("main", "fib (p.js:5)", 30_000, 50_000),
    ]
    assert losses(trace) == []


def test_v8s_nodes_may_name_their_parents(tmp_path: Path) -> None:
    nodes: list[dict[str, Any]] = [{**node, "children": []} for node in CPUPROFILE["nodes"]]
    for child, parent in ((1, 0), (2, 1), (3, 0)):
        nodes[child]["parent"] = nodes[parent]["id"]
    told = json.dumps({**CPUPROFILE, "nodes": nodes}).encode()
    assert rows(read(tmp_path, told)) == rows(read(tmp_path, SAMPLES["v8-cpuprofile"][1]))


def test_what_is_wrong_in_v8s_profile_is_told(tmp_path: Path) -> None:
    trace = read(tmp_path, json.dumps({**CPUPROFILE, "samples": [4, 99, 2]}).encode())
    assert losses(trace) == [
        ("samples and times differ in number", 1, "its end"),
        ("a node that the file does not list", 1, "sample 2"),
    ]
    circle = [{**node, "children": [2, 3, 4]} for node in CPUPROFILE["nodes"]]
    with pytest.raises(InputError, match="a stack has more than 5,000 frames"):
        read(tmp_path, json.dumps({**CPUPROFILE, "nodes": circle}).encode())


def test_firefox_samples_last_an_interval(tmp_path: Path) -> None:
    trace = read(tmp_path, json.dumps(FIREFOX).encode())
    assert by_start(trace) == [
        ("GeckoMain 8", "main", 10 * MS, 4 * MS),
        ("GeckoMain 8", "run", 10 * MS, 4 * MS),
        ("GeckoMain 8", "main", 30 * MS, 2 * MS),
        ("GeckoMain 8", "main", 30 * MS, 2 * MS),
    ]
    assert trace.zero == 1_700_000_000 * 10**9
    assert trace.tracks[0].process == "Web Content 7"


def test_firefox_tables_may_be_those_of_all_threads(tmp_path: Path) -> None:
    [thread] = FIREFOX["threads"]
    tables = ("stackTable", "frameTable", "funcTable", "stringArray")
    shared = {name: thread[name] for name in tables}
    shared["stackTable"] = {"frame": [0, 1, 2], "prefixOffset": [0, 1, 2], "length": 3}
    samples = {**thread["samples"], "timeDeltas": [10, 2.1, 1.9, 16]}
    del samples["time"]
    rest = {name: value for name, value in thread.items() if name not in tables}
    told = {**FIREFOX, "shared": shared, "threads": [{**rest, "samples": samples}]}
    trace = read(tmp_path, json.dumps(told).encode())
    assert rows(trace) == rows(read(tmp_path, json.dumps(FIREFOX).encode()))


def test_firefox_weights_have_kinds(tmp_path: Path) -> None:
    [thread] = FIREFOX["threads"]
    heap = {**thread["samples"], "weight": [5, -1, 2, 1], "weightType": "bytes"}
    told = {**FIREFOX, "threads": [thread, {**thread, "samples": heap}]}
    trace = read(tmp_path, json.dumps(told).encode())
    why = "bytes, which are not added to others: --type shows them"
    assert (trace.unit.name, losses(trace)) == ("s", [(why, 1, "thread 2")])
    sizes = read_trace(tmp_path / "profile", "bytes")
    assert (sizes.unit.name, by_start(sizes)[0]) == ("B", ("GeckoMain 8", "main", 0, 5))
    with pytest.raises(InputError, match="no weights of type 'x'; it has samples, bytes"):
        read_trace(tmp_path / "profile", "x")


@pytest.mark.requires("node")
def test_node(tmp_path: Path) -> None:
    work = "function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) } fib(32)"
    (tmp_path / "p.js").write_text(work)
    command = [program("node"), "--cpu-prof", "--cpu-prof-name", "n.cpuprofile", "p.js"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    told = json.loads((tmp_path / "n.cpuprofile").read_bytes())
    found = profiled(read_trace(tmp_path / "n.cpuprofile"))
    whole = told["endTime"] - told["startTime"] - told["timeDeltas"][0]
    assert sum(found.values[Measure.SELF].values()) * 1e6 == pytest.approx(whole)
    assert self_of(found, "fib (p.js:1)") == max(found.values[Measure.SELF].values())


# -- perf and Callgrind


def test_perfs_samples_weigh_their_periods(tmp_path: Path) -> None:
    trace = read(tmp_path, SAMPLES["perf-script"][1])
    assert [(one.process, one.thread) for one in trace.tracks] == [
        ("process 26551", "python3 26551"),
        ("process 7", "V8 Worker 8"),
    ]
    assert by_start(trace) == [
        ("V8 Worker 8", "[tool]", 0, 250_000),
        ("V8 Worker 8", "do_syscall_64", 0, 250_000),
        ("V8 Worker 8", "std::map<int, char>::find(int)", 0, 250_000),
        ("python3 26551", "[unknown]", 0, 250_000),
        ("python3 26551", "init_cpu_features.constprop.0", 0, 250_000),
        ("python3 26551", "main", 250_000, 500_000),
    ]
    faults = read_trace(tmp_path / "profile", "page-faults")
    assert (faults.unit.name, by_start(faults)) == (
        "page-faults",
        [("python3 26551", "main", 0, 3)],
    )
    assert (trace.unit.others, faults.unit.others) == (("page-faults",), ("cpu-clock:ppp",))
    with pytest.raises(InputError, match="no event 'x'; it has cpu-clock:ppp, page-faults"):
        read_trace(tmp_path / "profile", "x")


@pytest.mark.parametrize(
    "line",
    [
        b"a" + b" " * 200_000,
        b"a 1 5.123456: " + b"a:" * 200_000,
        b"version: 1\ncreator: " + b" " * 200_000,
        b"a 1 5.123456: cycles:\n 12 " + b" (" * 200_000,
    ],
)
def test_no_line_takes_long(tmp_path: Path, line: bytes) -> None:
    # A pattern that tries each way to split such a line takes hours: the test's limit is minutes.
    with suppress(InputError):
        read(tmp_path, line)


def test_perfs_samples_without_periods_count(tmp_path: Path) -> None:
    trace = read(tmp_path, b"# made on a\na 1 5.123456: cycles: \n\t 12 main (/a)\nodd")
    assert (trace.unit.name, by_start(trace)) == ("1", [("a 1", "main", 0, MS)])
    assert losses(trace) == [
        ("no event and no frame", 1, "line 4"),
        ("it breaks off within a line", 1, "its end"),
    ]


@pytest.mark.slow
@pytest.mark.requires("perf")
def test_perf(tmp_path: Path) -> None:
    command = [program("perf"), "record", "-q", "-g", "-e", "cpu-clock", "-o", "perf.data"]
    loop = [sys.executable, "-c", "print(sum(one * one for one in range(2_000_000)))"]
    recorded = subprocess.run([*command, *loop], cwd=tmp_path, capture_output=True, check=False)
    if recorded.returncode:
        pytest.skip("the kernel lets nobody record")
    script = [program("perf"), "script", "-i", "perf.data"]
    told = subprocess.run(script, cwd=tmp_path, capture_output=True, check=True).stdout
    found = profiled(read(tmp_path, told))
    periods = sum(map(int, re.findall(rb"(\d+) cpu-clock:", told)))
    assert sum(found.values[Measure.SELF].values()) == pytest.approx(periods / 1e9)


def test_callgrinds_costs_are_split_among_callers(tmp_path: Path) -> None:
    trace = read(tmp_path, SAMPLES["callgrind"][1])
    assert (trace.unit.name, losses(trace)) == ("Ir", [])
    assert paths(trace) == ["lost", "main", "main>work"]
    found = profiled(trace).values[Measure.SELF]
    assert found == {("main",): 140, ("work",): 360, ("lost",): 60}
    reads = read_trace(tmp_path / "profile", "Dr")
    assert by_start(reads) == [("Dr", "main", 0, 4)]
    assert (trace.unit.others, reads.unit.others) == (("Dr",), ("Ir",))
    with pytest.raises(InputError, match="no event 'x'; it has Ir, Dr"):
        read_trace(tmp_path / "profile", "x")


# Layout: github.com/xdebug/xdebug, tests/profiler.
XDEBUG = b"""version: 1
creator: xdebug 3.1.4 (PHP 7.4.30)
cmd: /a.php
part: 1
positions: line

events: Time_(10ns) Memory_(bytes)

fl=(1) php:internal
fn=(1) php::strrev
2 30 -8

fl=(2) /a.php
fn=(2) {main}
1 70 96
cfl=(1)
cfn=(1)
calls=1 0 0
2 30 32

summary: 100 128
"""


def test_xdebugs_times_are_tens_of_nanoseconds(tmp_path: Path) -> None:
    trace = read(tmp_path, XDEBUG)
    assert (trace.unit.name, paths(trace)) == ("s", ["{main}", "{main}>php::strrev"])
    assert trace.slices.duration.tolist() == [1_000, 300]
    memory = read_trace(tmp_path / "profile", "Memory_(bytes)")
    assert memory.unit.name == "B"
    assert losses(memory) == [
        ("a cost that is negative or too large", 1, "line 11"),
        ("it breaks off: its costs are less than its summary", 1, "its end"),
    ]


@pytest.mark.slow
@pytest.mark.requires("valgrind")
def test_callgrind(tmp_path: Path) -> None:
    command = [program("valgrind"), "--tool=callgrind", "--callgrind-out-file=c.out", "/bin/true"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    [told] = re.findall(r"^summary: (\d+)$", (tmp_path / "c.out").read_text(), re.MULTILINE)
    trace = read_trace(tmp_path / "c.out")
    assert losses(trace) == []
    assert sum(profiled(trace).values[Measure.SELF].values()) == pytest.approx(int(told), abs=50)


# -- what is not read

_WORDS = [0, 3, 0, 10_000, 0, 0, 0, 0]
CONVERTED = {
    "perf": (b"PERFILE2" + bytes(99), "perf script -i FILE"),
    "gprof": (b"gmon\1\0\0\0" + bytes(99), "gprof PROGRAM FILE"),
    "gperftools": (struct.pack("<8Q", *_WORDS), "pprof -proto"),
    "gperftools, 32 bits": (struct.pack("<8L", *_WORDS), "pprof -proto"),
    "Gecko": (b'{"meta": {"version": 27}, "libs": [], "threads": []}', r"profiler\.firefox\.com"),
}


@pytest.mark.parametrize("kind", CONVERTED)
def test_what_is_not_read_is_said_how_to_convert(tmp_path: Path, kind: str) -> None:
    content, said = CONVERTED[kind]
    with pytest.raises(InputError, match=said):
        read(tmp_path, content)


# -- what is damaged

_KINDS = ("cprofile", "v8-cpuprofile", "perf-script", "callgrind")
WHOLE = {
    "pprof": pprof(([2, 1], [1, 5]), ([3], [1, 7])),
    "speedscope": speedscope(SAMPLED, EVENTED),
    "collapsed": b"main;sort 2\nmain;load 1\n",
    "firefox": json.dumps(FIREFOX).encode(),
    **{kind: SAMPLES[kind][1] for kind in _KINDS},
}


@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize("trials", [1_000, pytest.param(50_000, marks=pytest.mark.long)])
def test_damaged_profiles_are_read_or_refused(tmp_path: Path, kind: str, trials: int) -> None:
    rng = random.Random(trials)  # noqa: S311 - no secret
    refused = 0
    for _ in range(trials):
        try:
            trace = read(tmp_path, damaged(WHOLE[kind], rng))
        except InputError:
            refused += 1
        else:
            assert trace.slices.duration.min(initial=0) >= 0
    assert 0 < refused < trials


@pytest.mark.parametrize("kind", WHOLE)
@given(rest=st.binary(max_size=200), kept=st.floats(0, 1))
def test_any_bytes_behind_a_beginning_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, kind: str, rest: bytes, kept: float
) -> None:
    whole = WHOLE[kind]
    content = whole[: int(len(whole) * kept)] + rest
    with suppress(InputError):
        assert read(tmp_path_factory.mktemp("any"), content).slices.duration.min(initial=0) >= 0
