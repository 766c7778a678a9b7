"""Traces and profiles that other programs make here: their totals are those of the tool's words."""

import json
import pstats
import re
import subprocess
import sys
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from benchyard.traces.difference import Measure, Profiled, profiled
from benchyard.traces.sources import read_trace
from tests.conftest import program

pytestmark = pytest.mark.slow

#: Programs of the extra `test`.
TOOLS = f"{Path(sys.executable).parent}/"

PYTHON = """
def leaf(n):
    return sum(i * i for i in range(n))
def other():
    return sorted(str(i) for i in range(20_000))
def main():
    for _ in range(30):
        leaf(20_000)
        other()
main()
"""
GO = """package p
import ("testing"; "runtime"; "sync"; "time")
var keep [][]byte
func leak() { for i := 0; i < 50; i++ { keep = append(keep, make([]byte, 1<<20)) } }
func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }
func wait(lock *sync.Mutex) { lock.Lock(); time.Sleep(10 * time.Millisecond); lock.Unlock() }
func TestHeap(t *testing.T) { leak(); runtime.GC() }
func TestFib(t *testing.T) { for i := 0; i < 30; i++ { fib(30) } }
func TestLock(t *testing.T) {
	var lock sync.Mutex
	var all sync.WaitGroup
	for i := 0; i < 5; i++ { all.Add(1); go func() { wait(&lock); all.Done() }() }
	all.Wait()
}
"""


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout + done.stderr


@pytest.fixture
def script(tmp_path: Path) -> str:
    (tmp_path / "prog.py").write_text(PYTHON)
    return "prog.py"


def read(file: Path, kind: str = "") -> Profiled:
    return profiled(read_trace(file, kind))


def test_viztracer(tmp_path: Path, script: str) -> None:
    run(tmp_path, TOOLS + "viztracer", "--quiet", "-o", "v.json", "--max_stack_depth", "6", script)
    events = json.loads((tmp_path / "v.json").read_bytes(), parse_float=Decimal)["traceEvents"]
    slices = [one for one in events if one["ph"] == "X"]
    found = read(tmp_path / "v.json")
    assert found.values[Measure.COUNT] == {
        (name,): n for name, n in Counter(x["name"] for x in slices).items()
    }
    [name] = (name for name in found.total_s if name[0].startswith("leaf ("))
    total = sum(Decimal(one["dur"]) for one in slices if one["name"] == name[0])
    assert found.total_s[name] == pytest.approx(float(total) / 1e6, abs=1e-8 * len(slices))


def test_cprofile_by_flameprof(tmp_path: Path, script: str) -> None:
    run(tmp_path, sys.executable, "-m", "cProfile", "-o", "c.prof", script)
    lines = run(tmp_path, sys.executable, "-m", "flameprof", "--format", "log", "c.prof")
    (tmp_path / "c.folded").write_text(lines)
    found = read(tmp_path / "c.folded")
    stats: dict[Any, Any] = vars(pstats.Stats(str(tmp_path / "c.prof")))["stats"]
    own = {f"{Path(file).name}:{line}:{name}": row[2] for (file, line, name), row in stats.items()}
    whole = sum(found.values[Measure.SELF].values())
    [leaf] = (name for name in found.values[Measure.SELF] if name[0].endswith(":leaf"))
    assert found.values[Measure.SELF][leaf] / whole == pytest.approx(
        own[leaf[0]] / sum(own.values()), abs=0.02
    )


@pytest.mark.parametrize("kind", ["speedscope", "raw"])
def test_py_spy(tmp_path: Path, script: str, kind: str) -> None:
    command = (TOOLS + "py-spy", "record", "-r", "200", "-f", kind, "-o", "spy")
    said = run(tmp_path, *command, "--", sys.executable, script)
    [samples] = map(int, re.findall(r"Samples: (\d+)", said))
    trace = read_trace(tmp_path / "spy")
    if kind == "raw":
        text = (tmp_path / "spy").read_text()
        alone = sum(int(line) for line in text.splitlines() if line.strip().isdecimal())
        assert sum(profiled(trace).values[Measure.SELF].values()) + alone == samples
    else:
        told = json.loads((tmp_path / "spy").read_bytes())["profiles"][0]
        # Before the program begins, a sample may hold no frame.
        weights = zip(told["samples"], told["weights"], strict=True)
        weight = sum(weight for stack, weight in weights if stack)
        assert sum(profiled(trace).values[Measure.SELF].values()) == pytest.approx(weight)


def test_pyinstrument(tmp_path: Path, script: str) -> None:
    run(tmp_path, TOOLS + "pyinstrument", "-r", "speedscope", "-o", "p.json", script)
    [told] = json.loads((tmp_path / "p.json").read_bytes())["profiles"]
    times = [one["at"] for one in told["events"]]
    found = read(tmp_path / "p.json")
    assert sum(found.values[Measure.SELF].values()) == pytest.approx(max(times) - min(times))


_UNITS = {"kB": 1024, "MB": 1 << 20, "B": 1, "ms": 1e-3, "s": 1, "us": 1e-6, "": 1}


def pprof_top(folder: Path, file: str) -> dict[str, tuple[float, float]]:
    """Return flat and cumulative values of each name, in the words of Go's own tool."""
    top = run(folder, program("go"), "tool", "pprof", "-top", "-nodecount=1000", file)
    row = r"^\s*([\d.]+)(\w*)\s+\S+%\s+\S+%\s+([\d.]+)(\w*)\s+\S+%\s+(.*?)(?: \(\w+\))?$"
    return {
        name: (float(flat) * _UNITS[a], float(whole) * _UNITS[b])
        for flat, a, whole, b, name in re.findall(row, top, re.MULTILINE)
    }


@pytest.mark.requires("go")
@pytest.mark.parametrize("kind", ["cpu", "mem", "block", "mutex"])
def test_go(tmp_path: Path, kind: str) -> None:
    (tmp_path / "go.mod").write_text("module p\n")
    (tmp_path / "p_test.go").write_text(GO)
    run(tmp_path, program("go"), "test", f"-{kind}profile", "go.prof", ".")
    told, found = pprof_top(tmp_path, "go.prof"), read(tmp_path / "go.prof")
    assert told
    for name, (flat, whole) in told.items():
        # The tool rounds to two digits behind the point.
        assert found.values[Measure.SELF][name,] == pytest.approx(
            flat, rel=0.01, abs=6e3 if kind == "mem" else 6e-6
        )
        assert found.total_s[name,] == pytest.approx(
            whole, rel=0.01, abs=6e3 if kind == "mem" else 6e-6
        )


@pytest.mark.requires("perf")
def test_perf(tmp_path: Path, script: str) -> None:
    recorded = subprocess.run(
        [program("perf"), "record", "-q", "-g", "-o", "perf.data", sys.executable, script],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    if recorded.returncode:
        pytest.skip("the kernel lets nobody record")
    stacks: Counter[str] = Counter()
    for sample in run(
        tmp_path, program("perf"), "script", "--no-inline", "-i", "perf.data", "-F", "ip,sym"
    ).split("\n\n"):
        frames = [line.split(maxsplit=1)[1] for line in sample.splitlines() if " " in line.strip()]
        if frames:
            stacks[";".join(reversed(frames))] += 1
    text = "".join(f"{stack} {count}\n" for stack, count in stacks.items())
    (tmp_path / "perf.folded").write_text(text)
    found = read(tmp_path / "perf.folded")
    report = (
        "report",
        "-i",
        "perf.data",
        "--stdio",
        "--no-children",
        "-g",
        "none",
        "--sort",
        "sym",
    )
    told = re.findall(
        r"^\s*([\d.]+)%\s+\[.\] (\S+)\s*$", run(tmp_path, program("perf"), *report), re.M
    )
    whole = sum(found.values[Measure.SELF].values())
    assert told
    for share, name in told[:5]:
        assert 100 * found.values[Measure.SELF][name,] / whole == pytest.approx(
            float(share), abs=0.1
        )
