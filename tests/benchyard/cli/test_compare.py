"""``benchyard compare``."""

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchyard.cli import call
from benchyard.statistics.ranks import EXACT_PAIRS
from tests.benchyard.analysis.comparison.conftest import (
    BASE,
    failed,
    place,
    run,
    runs,
    step,
    titled,
)
from tests.benchyard.cli.conftest import Cli


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return place(tmp_path / "old", runs(*BASE))


@pytest.fixture
def new(tmp_path: Path) -> Path:
    """Twice as slow."""
    return place(tmp_path / "new", runs(*[2 * value for value in BASE]))


def compared(cli: Cli, *arguments: object, code: int = 0) -> dict[str, Any]:
    said = cli("compare", "--json", *arguments, code=code)
    assert said.err == ""
    return json.loads(said.out)


def refused(cli: Cli, *arguments: object) -> str:
    said = cli("compare", *arguments, code=2)
    assert said.out == ""
    return said.err


def test_a_regression_exits_with_3_and_an_improvement_or_no_difference_with_0(
    old: Path, new: Path, cli: Cli
) -> None:
    out = cli("compare", old, new, code=3).out
    assert out.splitlines()[-1].startswith("1 regression; 1 comparison at the 1 % level together")
    [row] = [line for line in out.splitlines() if line.startswith("Load")]
    assert row.split()[:8] == ["Load", "8/8", "1.00", "s", "2.00", "s", "+1.00", "s"]
    assert row.endswith("▲▲▲  2 times slower")
    assert "▼▼▼  2 times faster" in cli("compare", new, old).out
    out = cli("compare", f"{old}@1-4", f"{old}@5-8").out
    assert "Load: 4 and 4 runs cannot tell at the 1 % level; 5 and 5 can, or" in out


@pytest.mark.slow
def test_nights_of_the_same_code_are_not_called(tmp_path: Path, cli: Cli) -> None:
    """Twenty pairs of one campaign, 1 % between nights; taken as one session, a third is called."""
    random = Random(33)  # noqa: S311 - no secret
    pairs = list[tuple[Path, Path]]()
    for number in range(20):
        levels = [random.gauss(1, 0.01) for _ in range(2)]
        nights = [runs(*[level * random.gauss(1, 0.01) for _ in range(10)]) for level in levels]
        folders = [tmp_path / f"{number}-{at}" for at in range(2)]
        pairs.append((place(folders[0], nights[0]), place(folders[1], nights[1])))

    def called(*options: str) -> int:
        told = [
            json.loads(cli("compare", *two, "--json", *options, code=None).out) for two in pairs
        ]
        return sum(
            one["verdict"] in ("regression", "improvement")
            for document in told
            for one in document["comparisons"]
        )

    assert called() <= 1
    assert called("--in-turns") >= 5


def test_a_step_that_fails_is_a_regression(old: Path, tmp_path: Path, cli: Cli) -> None:
    broken = place(tmp_path / "broken", [run(n, failed()) for n in (1, 2)])
    said = cli("compare", old, broken, code=3).out
    assert "step Load fails in 2 of 2 runs of the candidate" in said


def test_where_all_is_suspect_it_counts_and_the_reason_stands_once(
    old: Path, tmp_path: Path, cli: Cli
) -> None:
    records = [run(n, step(v, suspect=["swapped"])) for n, v in enumerate(BASE, 1)]
    odd = place(tmp_path / "odd", records)
    said = cli("compare", old, odd).out
    assert "no difference shown, on a busy host" in said
    assert said.count("* on a busy host: 8 of 16 executions suspect (swapped), and counted") == 1
    alone = cli("compare", old, odd, "--suspect", "leave-out").out
    assert "--suspect auto counts what is suspect\n" in alone
    assert "no value in the candidate: 8 suspect" in alone
    assert "busy" not in alone


def test_json_is_one_document(old: Path, new: Path, cli: Cli) -> None:
    made = compared(cli, old, f"{new}@2-8", "--threshold", "5%", "--level", "0.5 %", code=3)
    assert (made["format"], made["version"]) == ("benchyard-comparison", 3)
    assert made["sides"] == [str(old), f"{new}@2-8"]
    assert (made["rule"]["threshold"], made["rule"]["level"]) == (0.05, 0.005)
    assert made["comparisons"][0]["candidate"]["n"] == 7


def test_csv_has_a_line_for_each_comparison_with_numbers(old: Path, new: Path, cli: Cli) -> None:
    [row] = csv.DictReader(cli("compare", old, new, "--csv", code=3).out.splitlines())
    assert (row["step"], row["verdict"], row["words"]) == ("load", "regression", "2 times slower")
    assert float(row["ratio_low"]) < float(row["ratio"]) == 2.0 < float(row["ratio_high"])


def test_several_sides_are_compared_with_the_reference(
    old: Path, new: Path, tmp_path: Path, cli: Cli
) -> None:
    far = place(tmp_path / "far", runs(*[9 * value for value in BASE]))
    made = compared(cli, new, old, far, "--reference", old, code=3)
    assert made["sides"] == [str(old), str(new), str(far)]
    assert [one["ratio"] for one in made["comparisons"]] == pytest.approx([2, 9], rel=0.01)
    made = compared(cli, old, new, far, "--against", "all", "--sort", "change", code=3)
    assert [one["ratio"] for one in made["comparisons"]] == pytest.approx([9, 4.5, 2], rel=0.01)
    assert made["comparisons"][1]["verdict"] == "change"
    made = compared(cli, old, new, far, "--against", "previous", code=3)
    assert [one["ratio"] for one in made["comparisons"]] == pytest.approx([2, 4.5], rel=0.01)
    assert "no side is 'x'" in refused(cli, old, new, far, "--reference", "x")
    out = cli("compare", old, new, far, code=3).out
    assert [line.split()[0] for line in out.splitlines() if line.endswith("reference")] == ["Load"]


def test_points_and_steps_of_a_case_are_compared_by_its_name(tmp_path: Path, cli: Cli) -> None:
    folder = tmp_path / "cases" / "m"
    folder.mkdir(parents=True)
    (folder / "metadata.json").write_text('{"name": "m"}')
    for threads, factor in ((1, 4.0), (2, 2.0), (10, 1.0)):
        about = titled("m", point={"threads": threads})
        about["case"]["title"] = f"m[threads={threads}]"
        steps = [[step(factor * v), step(3 * v, name="q", index=2)] for v in BASE]
        records = [run(n, *both, **about) for n, both in enumerate(steps, 1)]
        place(folder / "results" / f"threads={threads}", records)
    root = ["--root", tmp_path / "cases"]
    made = compared(cli, "m[threads=*]", *root)
    assert made["sides"] == ["threads=1", "threads=2", "threads=10"]
    assert made["verdict"] == "no regression shown"
    assert [one["steps"] for one in made["overall"]] == [2, 2]
    [row] = compared(cli, "m[threads=10]:load", "m[threads=10]:q", *root)["comparisons"]
    assert (row["paired"], row["ratio"]) == (True, pytest.approx(3))
    assert "means m[threads=10] alone" in refused(cli, "m[threads=1?]", *root)


def test_steps_of_other_ids_are_paired_by_hand(old: Path, tmp_path: Path, cli: Cli) -> None:
    other = place(tmp_path / "other", runs(*BASE, name="insert it"))
    assert "such as --pair 'load=insert it'" in refused(cli, old, other)
    [row] = compared(cli, old, other, "--pair", "load=insert it")["comparisons"]
    assert (row["baseline_step"], row["step"], row["other_work"]) == ("load", "insert it", True)
    assert "write ids as REFERENCE=OTHER" in refused(cli, old, other, "--pair", "load")
    assert refused(cli, old, other, "--pair", "q09=q9").count("--pair: no step of ") == 2


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--threshold", "1"], "'1' is no percentage; write it with its sign, such as 1%"),
        (["--level", "0%"], "0% does not lie between 0% and 100%"),
        (["--metric", "durations"], "no step has a metric 'durations'; did you mean 'duration_s'?"),
        (["--json", "--markdown"], "--json writes to stdout already"),
        (["--dry-run"], "--dry-run takes the BASELINE alone"),
    ],
)
def test_slips_of_the_pen_are_wrong_input(
    arguments: Sequence[str], text: str, old: Path, new: Path, cli: Cli
) -> None:
    assert text in refused(cli, old, new, *arguments)


def test_a_side_that_cannot_be_is_wrong_input(old: Path, tmp_path: Path, cli: Cli) -> None:
    assert "is no folder" in refused(cli, old, tmp_path / "absent")
    assert "has no run 9; it has 1-8" in refused(cli, old, f"{old}@9")
    assert "run 1-8 of " in refused(cli, old, old)
    assert "tpch: no earlier campaign to compare with; give a CANDIDATE" in refused(cli, old)
    records = [run(n, step(v, command="y")) for n, v in enumerate(BASE, 1)]
    place(old / "earlier" / "20260101T010000Z-0123456789ab", records)
    assert "not comparable:\n  tpch: command of step load" in refused(cli, old)


def test_no_name_in_a_record_moves_the_cursor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = "a\x08\x1b[2J\n"
    for side, query in (("old", "\x08"), ("new", "x\ny")):
        steps = [step(v, name=evil, parameters={evil: query}) for v in BASE]
        place(tmp_path / side, [run(n, s, **titled(evil)) for n, s in enumerate(steps, 1)])
    for how in ([], ["--markdown"], ["--csv"], ["--json"]):
        call(["compare", str(tmp_path / "old"), str(tmp_path / "new"), *how])
    call(["compare", str(tmp_path / "old"), "--dry-run"])
    assert "\x08" not in capsys.readouterr().out


# -- planning


def test_a_plan_says_how_many_runs_are_needed(old: Path, cli: Cli) -> None:
    out = cli("compare", "--dry-run", old, "--sensitivity", "5%").out
    assert out.splitlines()[0].split()[:2] == ["STEP", "N"]
    assert "to show a change of 5 %" in out.splitlines()[-1]
    made = json.loads(cli("compare", "--dry-run", old, "--json").out)
    assert made["format"] == "benchyard-comparison-plan"
    [row] = made["steps"]
    assert (row["runs"], row["needed_runs"] > 1) == (8, True)


def test_the_documentation_says_up_to_which_size_the_test_is_exact() -> None:
    text = (Path(__file__).parents[3] / "docs/explanation/statistics.md").read_text()
    assert re.findall(r"([0-9,]+) pairs of runs", text) == [f"{EXACT_PAIRS:,}"]
