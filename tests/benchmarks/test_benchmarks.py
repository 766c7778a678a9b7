"""Each program runs to its end, very small; what it measures is not judged here."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.lab import EMPTY_DATABASE
from tests.databases import empty_database

CHECKOUT = Path(__file__).resolve().parents[2]
PROGRAMS = (
    "bisection",
    "changes",
    "counters",
    pytest.param("explorer_curves", marks=pytest.mark.requires("chromium")),
    "graph",
    "local_store",
    pytest.param("publish_azure", marks=pytest.mark.requires("azurite")),
    "publish_datastore",
    "report",
    pytest.param("sampler", marks=pytest.mark.requires("cc")),
    "sessions",
    "spool",
    "statistics_power",
    "testresults",
    "traces",
)
#: Even with --quick, each takes from a quarter of a minute to a whole one.
LONG_PROGRAMS = (
    "alarms",
    pytest.param("busy_containers", marks=pytest.mark.requires("docker", "image:base")),
    "catalogue",
    "command_line",
    pytest.param("containers", marks=pytest.mark.requires("docker", "image:base")),
    "dashboard",
    "explorer",
    "first_step",
    "gaps",
    "neighbours",
    "overhead",
    "stats",
    "suite",
    "suite_pool",
    "time_commands",
    "timing",
)


def run(program: str, *options: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{program}", "--quick", *options],
        cwd=CHECKOUT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, EMPTY_DATABASE: str(empty_database())},
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def assert_has_numbers(figure: dict[str, Any]) -> None:
    assert figure["values"], figure
    assert all(isinstance(value, int | float) for value in figure["values"]), figure
    assert figure["value"] is not None, figure


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_json_holds_a_number_for_every_figure(program: str) -> None:
    assert_is_whole(program)


@pytest.mark.long
@pytest.mark.parametrize("program", LONG_PROGRAMS)
def test_json_of_what_takes_longer_is_whole_too(program: str) -> None:
    assert_is_whole(program)


def assert_is_whole(program: str) -> None:
    document = json.loads(run(program, "--json"))
    assert document["machine"]["cores"] >= 1
    assert document["machine"]["kernel"]
    assert document["figures"]
    for figure in document["figures"]:
        assert_has_numbers(figure)


@pytest.mark.slow
def test_table_names_the_machine_and_the_verdict() -> None:
    printed = run("testresults")
    rows = [line.split(" | ") for line in printed.splitlines() if line.startswith("| ")]
    assert rows
    assert [len(row) for row in rows] == [4] * len(rows)
    assert "Machine: " in printed
    assert "Every limit holds." in printed or "MISSED: " in printed
