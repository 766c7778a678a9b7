"""``benchyard doctor``."""

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import pytest

from benchyard.cli import doctor
from benchyard.host.checks.check_context import Finding, Status
from benchyard.run import control as shipped
from tests.benchyard.analysis.comparison.conftest import place
from tests.benchyard.analysis.comparison.test_sessions import campaign, night
from tests.benchyard.cli.conftest import Cli, seen_in_a_terminal

FOUND = (
    Finding("SMT", Status.OK, "off: 2 cores, 2 threads"),
    Finding("docker", Status.UNKNOWN, "no engine"),
    Finding("governor", Status.WARN, "powersave " * 12 + "end", "cpupower frequency-set -g x"),
    Finding("power supply", Status.FAIL, "battery, 57 % left", "plug the host in"),
)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Let the host be as in FOUND; return what was asked."""
    return pretend(monkeypatch, FOUND)


def pretend(monkeypatch: pytest.MonkeyPatch, found: Sequence[Finding]) -> list[Any]:
    calls: list[Any] = []

    def findings(results: Path | None, *, look_seconds: float) -> Sequence[Finding]:
        calls.append((results, look_seconds))
        return found

    monkeypatch.setattr(doctor, "findings", findings)
    return calls


def test_the_worst_comes_first_aligned_with_advice_below(asked: list[Any], cli: Cli) -> None:
    lines = cli("doctor").out.splitlines()
    assert lines[:2] == [
        "fail     power supply  battery, 57 % left",
        "                       → plug the host in",
    ]
    assert [line.split()[0] for line in lines[2:6]] == ["warn", "→", "unknown", "ok"]
    assert asked == [(None, doctor.LOOK_SECONDS)]


def test_json_is_one_document(asked: list[Any], cli: Cli) -> None:
    document = json.loads(cli("doctor", "--json", "--results", "/x", "--look", "0").out)
    assert document["summary"] == {"fail": 1, "warn": 1, "unknown": 1, "ok": 1}
    assert document["findings"][0] == {
        "check": "power supply",
        "status": "fail",
        "finding": "battery, 57 % left",
        "advice": "plug the host in",
    }
    assert asked == [(Path("/x"), 0.0)]


@pytest.mark.parametrize(
    ("found", "code", "verdict"),
    [
        (FOUND, 1, "1 fail, 1 warn, 1 unknown, 1 ok: numbers from this host would be wrong"),
        (FOUND[:3], 1, "1 warn, 1 unknown, 1 ok: numbers from this host will be noisier than"),
        (FOUND[:2], 0, "1 unknown, 1 ok: nothing speaks against measuring here"),
        (FOUND[3:], 1, "1 fail"),
        ((), 0, ""),
    ],
)
def test_the_last_line_sums_up_and_only_strict_makes_an_exit_code_of_it(
    monkeypatch: pytest.MonkeyPatch, found: Sequence[Finding], code: int, verdict: str, cli: Cli
) -> None:
    pretend(monkeypatch, found)
    cli("doctor", "--strict", code=code)
    cli("doctor", "--strict", "--json", code=code)
    assert verdict in cli("doctor").out.splitlines()[-1]


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_lines_fit_the_terminal(
    asked: list[Any],
    monkeypatch: pytest.MonkeyPatch,
    cli: Cli,
    columns: int,
) -> None:
    # pytest asks it too while this test is under way, with a fallback.
    def size(fallback: tuple[int, int] = (80, 24)) -> os.terminal_size:
        return os.terminal_size((columns, fallback[1]))

    def terminal() -> bool:
        return True

    monkeypatch.setattr(shutil, "get_terminal_size", size)
    monkeypatch.setattr(sys.stdout, "isatty", terminal, raising=False)
    lines = click.unstyle(cli("doctor").out).splitlines()[:-1]
    assert max(map(len, lines)) <= columns
    assert "".join(lines).count("powersave") == 12
    assert asked


@pytest.mark.parametrize("option", ["--look=-1", "--look=x", "--look=61", "--reslts=x"])
def test_wrong_options_are_wrong_input(option: str, cli: Cli) -> None:
    assert cli("doctor", option, code=2).out == ""


def test_this_host_without_prefect_and_cases(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from benchyard.cli import call\n"
        "code = call(['doctor', '--json', '--look', '0.01', '--results', 'absent'])\n"
        "heavy = {'prefect', 'jsonschema', 'psutil', 'rich', 'duckdb'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "sys.exit(code)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)["findings"]
    assert len(found) > 20
    [results] = [each for each in found if each["check"] == "results folder"]
    assert str(tmp_path) in results["finding"]
    assert not (tmp_path / "absent").exists()


def test_a_terminal_gets_colours() -> None:
    code, said = seen_in_a_terminal("doctor", "--look", "0")
    assert code == 0
    assert b"\x1b[32m" in said


# -- the control case


@pytest.fixture
def control(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Return what makes so many campaigns of this host's control case, the newest slower."""
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "home"))
    results = tmp_path / "home" / "control" / platform.node()
    here: dict[str, Any] = {"environment": {"host": platform.node()}}

    def make(campaigns: int, slower: float = 1) -> Path:
        for number in range(1, campaigns):
            runs = campaign(*night(1, number, 6), at_h=24 * number, **here)
            place(results / "earlier" / f"202611{number:02d}T000000Z-0123456789ab", runs)
        return place(results, campaign(*night(slower, 0, 6), at_h=24 * campaigns, **here))

    return make


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(
    ("campaigns", "slower", "status", "finding"),
    [
        (2, 1.2, "unknown", "5 campaigns make a level: 1 so far before the newest"),
        (15, 1.0, "ok", "as usual"),
        (15, 1.2, "warn", "Load is 20 % slower than in 14 campaigns since 2026-11-02 (± "),
    ],
)
def test_the_control_case_is_a_finding(
    control: Callable[..., Path], cli: Cli, campaigns: int, slower: float, status: str, finding: str
) -> None:
    control(campaigns, slower)
    found = json.loads(cli("doctor", "--json").out)["findings"]
    [said] = [one for one in found if one["check"] == "control case"]
    assert said["status"] == status
    assert said["finding"].startswith(finding)


@pytest.mark.usefixtures("asked")
def test_a_control_case_that_was_never_executed_has_no_line(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "home"))
    assert "control case" not in cli("doctor").out
    (tmp_path / "home" / "control").mkdir(parents=True)
    assert "control case" not in cli("doctor").out


@pytest.mark.slow
@pytest.mark.usefixtures("asked")
def test_the_control_case_is_executed_alone(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "home"))
    assert "control case  5 campaigns make a level: 0" in cli("doctor", "--control").out
    work = tmp_path / "shipped" / "data" / "shared" / "work.py"
    shutil.copytree(shipped.SHIPPED, tmp_path / "shipped")
    work.write_text("def cpu():\n    raise ValueError('wrong')\nmemory = disk = cpu\n")
    monkeypatch.setattr(shipped, "SHIPPED", tmp_path / "shipped")
    assert "the control case failed: " in cli("doctor", "--control", code=1).err
