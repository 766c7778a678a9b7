"""How many runs ``run`` and ``suite`` make of a case unless the user says otherwise."""

import json
from typing import Any

import pytest

from benchyard.results.folders import Results
from tests.benchyard.cli.conftest import Cli
from tests.conftest import MakeCase, process


@pytest.mark.parametrize(
    ("steps", "points", "runs"), [(1, 1, 6), (10, 2, 8), (32, 2, 8), (13, 5, 9)]
)
def test_steps_times_points_decide_and_it_is_said(
    case_folder: MakeCase, cli: Cli, steps: int, points: int, runs: int
) -> None:
    matrix = {"matrix": {"n": [*range(points)]}} if points > 1 else {}
    setup = process("setup", "true", measure=False)
    folder = case_folder("c", setup, *(process(f"s{n}", "true") for n in range(steps)), **matrix)
    one_point = f"{folder}[n=0]" if points > 1 else folder

    for command in ("run", "suite"):
        said = cli(command, "--root", folder.parent, one_point, "--dry-run", "--json")
        plan = json.loads(said.out)
        assert max(_runs(plan)) == runs
        told = f"{runs} runs: so many can tell {steps * points} comparisons apart at the 1 % level"
        assert plan["notes"] == ([told] if runs > 6 else [])


def _runs(plan: dict[str, Any]) -> list[int]:
    """Return the runs of a plan: ``run`` lists them one by one, ``suite`` those of each case."""
    if "runs" in plan:
        return [one["run"] for one in plan["runs"]]
    return [run for one in plan["cases"] for run in one["runs"]]


def test_cases_that_are_judged_against_a_baseline_are_one_family(
    case_folder: MakeCase, cli: Cli
) -> None:
    folder = case_folder("a", *(process(f"s{n}", "true") for n in range(40)))
    case_folder("b", *(process(f"s{n}", "true") for n in range(40)))

    alone = cli("run", "--root", folder.parent, "--dry-run", "--json")
    together = cli("run", "--root", folder.parent, "--dry-run", "--json", "--baseline", "previous")

    assert max(_runs(json.loads(alone.out))) == 8
    assert max(_runs(json.loads(together.out))) == 9
    assert "80 comparisons" in json.loads(together.out)["notes"][0]


@pytest.mark.slow
def test_so_many_runs_are_really_made_unless_a_number_is_given(
    case_folder: MakeCase, cli: Cli
) -> None:
    folder = case_folder("c", *(process(f"s{n}", "true") for n in range(5)))
    plan = json.loads(cli("run", "--runs", 3, folder, "--dry-run", "--json").out)
    assert max(_runs(plan)) == 3
    assert plan["notes"] == []
    said = cli("run", "--direct", "--cooldown", 0, "--publish", "none", folder)
    assert "7 runs: so many can tell 5 comparisons apart at the 1 % level" in said.err
    assert [*Results(folder / "results").done()] == [1, 2, 3, 4, 5, 6, 7]
