"""The verdict of `.ci/run` on real executions of pytest: unsteady, failing, dead."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.steadiness import LEDGER, main

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
#: Fails the first time, and passes when it is tried again.
UNSTEADY = """
    flag = pathlib.Path(__file__).with_name("{name}.flag")
    seen = flag.exists()
    flag.touch()
    assert seen
"""
SCOPE = ("-p", "xdist", "-n", "2", "--dist", "loadscope")

Verdict = Callable[..., tuple[int, list[str]]]


@pytest.fixture
def verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Verdict:
    """Execute tests given by their bodies as `.ci/run` does; return exit code and last lines.

    The verdict is given in this process: another one would only import pytest once more.
    """
    for name in [name for name in os.environ if name.startswith("PYTEST_")]:
        if name != "PYTEST_CURRENT_TEST":  # which pytest itself takes away
            monkeypatch.delenv(name)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.chdir(tmp_path)

    def judge(*options: str, before: str = "", **bodies: str) -> tuple[int, list[str]]:
        (tmp_path / "pytest.ini").write_text("[pytest]\n")
        tests = [f"def test_{name}():{body or ' pass'}\n" for name, body in bodies.items()]
        text = "\n".join(["import os, pathlib, signal, pytest", before, *tests])
        (tmp_path / "test_it.py").write_text(text)
        ledger = tmp_path / "ledger.json"
        first = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "tests.steadiness", *options],
            env={**os.environ, LEDGER: str(ledger)},
            timeout=300,
            check=False,
        )
        capfd.readouterr()
        code = main([str(ledger), str(first.returncode)])
        said = capfd.readouterr()
        assert said.err == ""
        return code, said.out.splitlines()

    return judge


def unsteady(*names: str) -> dict[str, str]:
    return {name: UNSTEADY.format(name=name) for name in names}


def failed(lines: list[str]) -> list[str]:
    return [line.removeprefix("FAILED: ") for line in lines if line.startswith("FAILED: ")]


@pytest.mark.parametrize("options", [(), SCOPE], ids=["alone", "workers"])
def test_all_pass_and_nothing_is_tried_again(verdict: Verdict, options: tuple[str, ...]) -> None:
    assert verdict(*options, a="", b="") == (0, ["2 passed, 0 of them unsteady"])


@pytest.mark.parametrize("options", [(), SCOPE], ids=["alone", "workers"])
def test_what_passes_alone_is_told_and_the_run_passes(
    verdict: Verdict, options: tuple[str, ...]
) -> None:
    code, lines = verdict(*options, a="", **unsteady("x", "y", "z"))
    assert code == 0
    told = [line for line in lines if line.startswith("UNSTEADY: ")]
    assert sorted(told) == [f"UNSTEADY: test_it.py::test_{name}" for name in "xyz"]
    assert lines[-1] == "4 passed, 3 of them unsteady"
    assert sum("3 passed" in line for line in lines) == 1, "pytest's own line of the second try"


DIES = {"a": "", "b": " os.kill(os.getpid(), signal.SIGKILL)"}
SKIPS = UNSTEADY.format(name="skip").replace("assert seen", "seen and pytest.skip(); assert 0")


@pytest.mark.parametrize(
    ("options", "bodies", "said"),
    [
        (
            SCOPE,
            {"a": "", "b": " assert False", **unsteady("x")},
            "test_it.py::test_b failed twice",
        ),
        (
            SCOPE,
            {"a": "", **unsteady("w", "x", "y", "z")},
            "4 tests failed; more than 3 are not tried again",
        ),
        ((), {"a": "", "b": SKIPS}, "no test was executed"),
        (SCOPE, DIES, "died"),
        ((), DIES, "pytest did not come to its end"),
        ((), {}, "pytest ended with exit code 5, and says 5"),
        (("-x",), {"a": " assert False", "b": ""}, "1 tests never ended: test_it.py::test_b"),
    ],
    ids=["twice", "four", "skip", "worker", "pytest", "none", "missed"],
)
def test_what_is_no_exception_fails_the_run(
    verdict: Verdict, options: tuple[str, ...], bodies: dict[str, str], said: str
) -> None:
    code, lines = verdict(*options, **bodies)
    assert code == 1
    assert any(said in line for line in failed(lines)), lines
    assert not [line for line in lines if line.startswith("UNSTEADY")]


@pytest.mark.parametrize("options", [(), SCOPE], ids=["alone", "workers"])
def test_a_module_that_cannot_be_collected_is_not_tried_again(
    verdict: Verdict, options: tuple[str, ...]
) -> None:
    code, lines = verdict(*options, before="raise ValueError", a="")
    assert code == 1
    assert any("test_it.py: cannot be collected" in line for line in failed(lines))


def test_exit_codes_that_contradict_the_ledger_are_failures(tmp_path: Path) -> None:
    file = tmp_path / "ledger.json"
    entries: dict[str, object] = {"passed": 2, "failed": [], "broken": [], "left_out": []}
    file.write_text(json.dumps({"status": 0, **entries}))
    assert main([str(file), "0"]) == 0
    assert [main([str(file), str(status)]) for status in (1, 2, 3, 4, 5, 137)] == [1] * 6
    file.write_text(json.dumps({"status": 0, **entries, "failed": ["a"]}))
    assert main([str(file), "0"]) == 1
