"""Functions of Python: calls that are calibrated, and failures that say whose they are."""

import ast
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchyard.case.resource import Workspace
from benchyard.core.errors import (
    CommandFailedError,
    ProgramFailedError,
    ResourceError,
    SettingsError,
)
from resources.pythonfunction import WORKER, PythonFunction, PythonFunctionSettings
from tests.repositories import git

Put = Callable[[str, str], str]
SHORT: dict[str, Any] = {"min_seconds": 0.001, "values": 2}
MODULE = """
import gc, os, sys, time
CALLS = []
def nap(seconds): time.sleep(seconds)
def add(a, b=1): return a + b
def make(n): return list(range(n))
def total(numbers): return sum(numbers)
def collects(): return gc.isenabled()
def prefix(): return sys.prefix
def path(): return sys.path[0]
def fails(): raise ValueError("no luck")
def opaque(): return object()
def dies(): os.kill(os.getpid(), 9)
class Box:
    def get(): return 5
number = 5
"""


@pytest.fixture
def timed(workspace: Workspace, put: Put) -> PythonFunction:
    put("bench.py", MODULE)
    return PythonFunction(PythonFunctionSettings(), workspace)


def result(function: PythonFunction, name: str) -> object:
    return json.loads(function.workspace.file(name).read_text())


def test_a_call_takes_what_it_takes(timed: PythonFunction) -> None:
    told = timed.call("bench:nap", [0.02], min_seconds=0.01, values=3, warmups=2).values
    assert told["loop_count"] == 1
    assert isinstance(told["call_s"], float)
    assert told["call_s"] >= 0.02
    assert isinstance(told["values_s"], list)
    assert isinstance(told["warmup_values_s"], list)
    assert (len(told["values_s"]), len(told["warmup_values_s"])) == (3, 2)
    assert told["call_min_s"] == min(map(float, map(str, told["values_s"])))


def test_loops_are_doubled_until_a_measurement_is_long_enough(timed: PythonFunction) -> None:
    loops = timed.call("bench:add", [1], min_seconds=0.01, values=1).values["loop_count"]
    assert isinstance(loops, int)
    assert loops >= 256
    assert loops & (loops - 1) == 0
    assert timed.call("bench:add", [1], loops=3, values=1).values["loop_count"] == 3


def test_arguments_keywords_and_set_up(timed: PythonFunction) -> None:
    timed.call("bench:add", [1], {"b": 41}, result_file="a.json", **SHORT)
    assert result(timed, "a.json") == 42
    made = timed.call("bench:total", [4], setup="bench:make", result_file="b.json", **SHORT)
    assert result(timed, "b.json") == 6
    assert made.output == timed.workspace.shared / "b.json"
    timed.call("bench:Box.get", result_file="c.json", **SHORT)
    assert result(timed, "c.json") == 5
    timed.call("bench:path", result_file="d.json", **SHORT)
    assert result(timed, "d.json") == str(timed.workspace.shared)


def test_the_garbage_collector_is_as_the_step_wants(timed: PythonFunction) -> None:
    for works in (True, False):
        told = timed.call("bench:collects", garbage_collector=works, result_file="a.json", **SHORT)
        assert result(timed, "a.json") is works
        assert told.values["garbage_collector"] is works


def test_what_a_function_raises_is_its_own_failure(timed: PythonFunction) -> None:
    with pytest.raises(ProgramFailedError, match="bench:fails raised ValueError: no luck"):
        timed.call("bench:fails")
    assert "Traceback" in next(timed.workspace.kept.glob("*.stderr.txt")).read_text()


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("nowhere:x", "cannot import 'nowhere'"),
        ("bench:gone", "'bench' has no 'gone'"),
        ("bench:number", "'bench:number' cannot be called"),
        ("bench:dies", "SIGKILL"),
        ("bench:opaque", "result is no JSON"),
    ],
)
def test_what_is_no_failure_of_the_function(
    timed: PythonFunction, function: str, said: str
) -> None:
    with pytest.raises(CommandFailedError, match=said) as caught:
        timed.call(function, result_file="a.json", **SHORT)
    assert not isinstance(caught.value, ProgramFailedError)


def test_another_environment_is_used(
    workspace: Workspace, tmp_path: Path, timed: PythonFunction
) -> None:
    place = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    for python in (place, place / "bin" / "python"):
        other = PythonFunction(PythonFunctionSettings(str(python)), workspace)
        other.call("bench:prefix", result_file="a.json", min_seconds=0.001, values=2)
        assert result(other, "a.json") == str(place)
        assert other.version() == timed.version()
    assert PythonFunction.installed({"python": str(place)}) == {"version": timed.version()}
    (line,) = PythonFunction.program_lines(
        {"python": str(place)}, "call", {"function": "json.decoder:scan"}
    )
    assert [*line] == [str(place / "bin" / "python"), "-m", "json.decoder"]
    assert [*PythonFunction.program_lines({"python": "/nowhere"}, "call", {})] == []


@pytest.mark.parametrize(
    ("parameters", "place"),
    [
        ({"function": "sorted"}, "function"),
        ({"function": "a:b", "setup": "a b:c"}, "setup"),
        ({"function": "a:b", "values": 0}, "values"),
        ({"function": "a:b", "loops": 0}, "loops"),
        ({"function": "a:b", "min_seconds": 0}, "min_seconds"),
    ],
)
def test_wrong_parameters_are_refused(parameters: dict[str, object], place: str) -> None:
    found = [*PythonFunction.refusals({}, "call", parameters)]  # type: ignore[arg-type]
    assert [path for path, _ in found] == [("parameters", place)]
    assert [*PythonFunction.refusals({}, "call", {"function": "a.b:c.d"})] == []


def test_the_worker_is_python_3_8() -> None:
    ast.parse(WORKER.read_text(), feature_version=(3, 8))


# -- a commit of a repository


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository whose package told 1, tells 2, and is edited to tell 3."""
    folder = tmp_path / "repository"
    package = folder / "src" / "package"
    package.mkdir(parents=True)
    git(folder, "init", "--quiet")
    for number in (1, 2):
        (package / "__init__.py").write_text(f"def number(): return {number}\n")
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "--message", str(number))
        git(folder, "tag", f"v{number}")
    (package / "__init__.py").write_text("def number(): return 3\n")
    return folder


@pytest.mark.parametrize("number", [1, 2])
def test_the_files_of_a_commit_are_measured(
    repository: Path, workspace: Workspace, number: int
) -> None:
    settings = PythonFunctionSettings(repository=str(repository), commit=f"v{number}")
    timed = PythonFunction(settings, workspace)
    timed.initialize()
    timed.call("package:number", result_file="n.json", min_seconds=0.001, values=1)
    assert result(timed, "n.json") == number
    assert ", commit " in timed.version()
    asked = {"repository": str(repository), "commit": f"v{number}"}
    assert PythonFunction.installed(asked)["version"] == timed.version()


def test_a_commit_that_is_none(repository: Path, workspace: Workspace) -> None:
    settings = PythonFunctionSettings(repository=str(repository), commit="v3")
    with pytest.raises(ResourceError, match="no commit 'v3' in "):
        PythonFunction(settings, workspace).initialize()
    gone = PythonFunctionSettings(repository="/nowhere", commit="v3")
    with pytest.raises(ResourceError, match="the repository /nowhere: "):
        PythonFunction(gone, workspace).initialize()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"python": "venv/bin/python"}, "absolute"),
        ({"repository": "/r"}, "give both, or neither"),
        ({"commit": "v1"}, "give both, or neither"),
        ({"repository": "r", "commit": "v1"}, "repository is 'r'; write an absolute path"),
        ({"repository": "/r", "commit": "--exec=x"}, "is no name of a commit"),
    ],
)
def test_wrong_settings_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        PythonFunctionSettings(**given)
