"""``benchyard check``: the newest campaign against those before it."""

import json
import shutil
from pathlib import Path

from tests.benchyard.analysis.comparison.conftest import place
from tests.benchyard.analysis.comparison.test_sessions import campaign, history, night
from tests.benchyard.cli.conftest import Cli


def test_a_case_that_is_worse_than_its_history_exits_with_3(tmp_path: Path, cli: Cli) -> None:
    slow = history(tmp_path / "slow", 20, 0.01, 1.06)
    said = cli("check", slow, code=3)
    assert "1 regression" in said.out
    found = json.loads(cli("check", slow, "--json", code=3).out)
    assert found["sides"] == ["the campaigns before", "the newest campaign"]
    assert found["comparisons"][0]["between_sessions"]["baseline_campaigns"] == 20


def test_a_case_on_its_level_exits_with_0(tmp_path: Path, cli: Cli) -> None:
    same = history(tmp_path / "same", 20, 0.01, 1.01)
    said = cli("check", same).out
    assert "compared with the mean of 20 campaigns" in said
    assert "1 without a difference shown" in said
    assert "make a level" not in cli("check", same).out


def test_what_cannot_be_judged_exits_with_5(tmp_path: Path, cli: Cli) -> None:
    first = history(tmp_path / "first", 0, 0, 1)
    assert "no campaign before" in cli("check", first, code=5).err
    second = history(tmp_path / "second", 2, 0.01, 1)
    assert "2 campaigns before; 5 make a level" in cli("check", second).out


def test_another_baseline_is_taken_instead_of_history(tmp_path: Path, cli: Cli) -> None:
    case, other = (history(tmp_path / name, 5, 0.01, level) for name, level in (("a", 1), ("b", 2)))
    assert "1 regression" in cli("check", other, "--against", case, code=3).out
    assert cli("check", tmp_path / "nowhere", code=2).err


def test_reports_are_written(tmp_path: Path, cli: Cli) -> None:
    slow, page, tests = (
        history(tmp_path / "slow", 9, 0.01, 1.3),
        tmp_path / "x.md",
        tmp_path / "x.xml",
    )
    cli("check", slow, "--markdown", page, "--junit", tests, code=3)
    assert "the campaigns before" in page.read_text()
    assert "<failure" in tests.read_text()


def test_changes_of_level_are_told_with_their_beginning(tmp_path: Path, cli: Cli) -> None:
    case = history(tmp_path / "case", 30, 0.005, 1.1)
    for number in range(20, 30):
        records = campaign(*night(1.1, number), at_h=24 * number)
        earlier = case / "earlier" / f"202611{number + 1:02d}T000000Z-0123456789ab"
        shutil.rmtree(earlier)
        place(earlier, records)
    said = cli("check", case, code=0).out
    assert "duration_s of Load +9." in said or "duration_s of Load +10" in said
    assert "since 2026-11-2" in said
    assert "noise does so once in" in said
    [move] = json.loads(cli("check", case, "--json").out)["moves"]
    assert move["campaigns"] in {10, 11}
    assert abs(move["ratio"] - 1.1) < 0.01
    steady = history(tmp_path / "steady", 30, 0.005, 1)
    assert json.loads(cli("check", steady, "--json").out)["moves"] == []


def test_a_metric_that_the_newest_campaign_lacks_cannot_be_told(tmp_path: Path, cli: Cli) -> None:
    case = history(tmp_path / "case", 0, 0, 1)
    place(case / "earlier" / "20261030T000000Z-0123456789ab", campaign(*[5.0] * 8, metric="rows"))
    assert "rows is not known there" in cli("check", case, "--metric", "rows", code=5).out
