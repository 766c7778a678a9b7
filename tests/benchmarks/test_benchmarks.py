"""Each program runs to its end, very small; what it measures is not judged here."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
PROGRAMS = (
    "command_line",
    "counters",
    "first_step",
    "gaps",
    "overhead",
    "sampler",
    "statistics_power",
    "stats",
    "timing",
)


def run(program: str, *options: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{program}", "--quick", *options],
        cwd=CHECKOUT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
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
    document = json.loads(run(program, "--json"))
    assert document["machine"]["cores"] >= 1
    assert document["machine"]["kernel"]
    assert document["figures"]
    for figure in document["figures"]:
        assert_has_numbers(figure)


@pytest.mark.slow
def test_table_names_the_machine_and_the_verdict() -> None:
    printed = run("command_line")
    rows = [line.split(" | ") for line in printed.splitlines() if line.startswith("| ")]
    assert [len(row) for row in rows] == [4] * len(rows)
    assert any("benchyard validate" in row[0] and " of " in row[2] for row in rows)
    assert "Machine: " in printed
    assert "Every limit holds." in printed or "MISSED: " in printed
