"""``benchyard check``: the newest campaign against those before it."""

import json
import shutil
from pathlib import Path
from typing import Any

from tests.benchyard.analysis.comparison.conftest import place, titled
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


def moved(results: Path, level: float = 1.1, nights: int = 10, **facts: Any) -> Path:
    """Return thirty nights and the newest, of which so many are at another level."""
    case = history(results, 30, 0.005, level, **facts)
    for number in range(30 - nights, 30):
        records = campaign(*night(level, number), at_h=24 * number, **facts)
        earlier = case / "earlier" / f"202611{number + 1:02d}T000000Z-0123456789ab"
        shutil.rmtree(earlier)
        place(earlier, records)
    return case


def test_changes_of_level_are_told_with_their_beginning(tmp_path: Path, cli: Cli) -> None:
    case = moved(tmp_path / "case")
    said = cli("check", case, code=0).out
    assert "duration_s of Load +9." in said or "duration_s of Load +10" in said
    assert "since 2026-11-2" in said
    assert "noise does so once in" in said
    [change] = json.loads(cli("check", case, "--json").out)["changes"]
    [move] = change["moves"]
    assert move["campaigns"] in {10, 11}
    assert abs(move["ratio"] - 1.1) < 0.01
    steady = history(tmp_path / "steady", 30, 0.005, 1)
    assert json.loads(cli("check", steady, "--json").out)["changes"] == []


def test_a_change_is_open_until_it_is_accepted(tmp_path: Path, cli: Cli) -> None:
    case = moved(tmp_path / "case")
    assert "campaigns; open\nbenchyard annotate accepts what is open" in cli("check", case).out
    said = cli("annotate", case, "--reason", "new compiler", "--who", "Ada").out
    assert "since 2026-11-2" in said
    said = cli("check", case).out
    assert "; accepted by Ada: new compiler" in said
    assert "benchyard annotate" not in said
    assert "no change is open" in cli("annotate", case, "--reason", "x", code=2).err


def test_an_annotation_of_another_metric_or_host_leaves_it_open(tmp_path: Path, cli: Cli) -> None:
    case = moved(tmp_path / "case")
    assert cli("annotate", case, "--reason", "x", "--metric", "cpu*", code=2).err
    cli("annotate", case, "--reason", "x", "--step", "lo*")
    file = case / "annotations.jsonl"
    file.write_text(file.read_text().replace('"host":"bench1"', '"host":"bench2"'))
    [change] = json.loads(cli("check", case, "--json").out)["changes"]
    assert change["open"], file.read_text()


def test_what_is_ignored_is_open_again_after_its_date(tmp_path: Path, cli: Cli) -> None:
    case = moved(tmp_path / "case")
    assert "to come" in cli("annotate", case, "--reason", "x", "--ignore-until", "1d", code=2).err
    cli("annotate", case, "--reason", "x", "--ignore-until", "2999-01-01")
    [change] = json.loads(cli("check", case, "--json").out)["changes"]
    assert not change["open"]
    file = case / "annotations.jsonl"
    file.write_text(file.read_text().replace("2999", "2025"))
    [change] = json.loads(cli("check", case, "--json").out)["changes"]
    assert change["open"]


def test_a_change_on_purpose_of_the_newest_campaign_is_no_regression(
    tmp_path: Path, cli: Cli
) -> None:
    case = history(tmp_path / "case", 20, 0.005, 1.2)
    assert "1 regression" in cli("check", case, code=3).out
    cli("annotate", case, "--newest", "--on-purpose", "--reason", "checksums")
    assert "0 regressions" in cli("check", case).out or "1 change" in cli("check", case).out


def test_an_accepted_level_is_what_later_campaigns_are_compared_with(
    tmp_path: Path, cli: Cli
) -> None:
    case = moved(tmp_path / "case", 1.03)
    [row] = json.loads(cli("check", case, "--json", "--campaigns", "30").out)["comparisons"]
    assert row["between_sessions"]["baseline_campaigns"] == 30
    cli("annotate", case, "--reason", "new disk")
    [row] = json.loads(cli("check", case, "--json").out)["comparisons"]
    assert row["between_sessions"]["baseline_campaigns"] in {9, 10, 11}


def test_most_cases_of_a_host_that_change_together_are_the_hosts_change(
    tmp_path: Path, cli: Cli
) -> None:
    cases = [moved(tmp_path / name / "results", **titled(name)) for name in ("a", "b", "c")]
    alone = moved(tmp_path / "d" / "results", nights=20, **titled("d"))
    found = json.loads(cli("check", *cases, alone, "--json").out)["changes"]
    states = {change["case"]: change["state"] for change in found}
    shared = "with 3 cases of this host"
    assert states == {"a": shared, "b": shared, "c": shared, "d": "open"}
    assert [change["open"] for change in found] == [False, False, False, True]


def test_a_metric_that_the_newest_campaign_lacks_cannot_be_told(tmp_path: Path, cli: Cli) -> None:
    case = history(tmp_path / "case", 0, 0, 1)
    place(case / "earlier" / "20261030T000000Z-0123456789ab", campaign(*[5.0] * 8, metric="rows"))
    assert "rows is not known there" in cli("check", case, "--metric", "rows", code=5).out


# -- rules
def test_rules_of_the_project_file_limit_rows_and_name_owners(tmp_path: Path, cli: Cli) -> None:
    slow = history(tmp_path / "slow", 20, 0.002, 1.06)
    rules = ["*:* duration_s +3% ada@example.org", "tpch:lo* duration_s 40ms bob", "x:* cpu_s 1% c"]
    file, page, tests = (tmp_path / name for name in ("benchyard.toml", "x.md", "x.xml"))
    file.write_text(f"[check]\nrule = {json.dumps(rules)}\n")
    check = ("--config", file, "check")
    said = cli(*check, "--root", tmp_path, "--markdown", page, "--junit", tests, code=3)
    assert "slower; ask bob\n" in said.out
    covered, unknown = (
        f"rule '{rules[0]}' never fires: a later rule covers it",
        f"rule '{rules[2]}' never fires: no case is 'x'; known: tpch",
    )
    assert said.out.endswith(f"not called without a rule\nnotice: {covered}\nnotice: {unknown}\n")
    assert "slower; ask bob" in page.read_text()
    assert "against 20 campaigns); ask bob" in tests.read_text()
    found = json.loads(cli(*check, "--root", tmp_path, "--json", code=3).out)
    assert found["comparisons"][0]["rule"] == {"text": rules[1], "owner": "bob"}
    assert found["notices"] == [covered, unknown]
    assert json.loads(cli(*check, slow, "--json", code=3).out)["notices"] == [covered]
    loose = cli(*check, slow, "--rule", "*:* duration_s +8% eve")
    assert "within +8%" in loose.out
    assert "ask" not in loose.out
    markdown = cli(*check, "--root", tmp_path, "--markdown", code=3)
    assert f"notice: {unknown}" in markdown.err
    assert "notice" not in markdown.out


def test_all_rules_of_the_project_file_that_are_wrong_are_told(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "benchyard.toml"
    wrong = ["words duration_s 5% ada", "a:b duration_s +5%"]
    file.write_text(f"[check]\nrule = {json.dumps([*wrong, 'a:b duration_s 5% ada'])}\n")
    said = cli("--config", file, "check", tmp_path, code=2).err
    assert "check.rule: rule 'words duration_s 5% ada': write CASE:STEP" in said
    assert "rule 'a:b duration_s +5%' has no owner" in said
    assert "rule 'a:b duration_s 5% ada'" not in said


def test_a_rule_checks_a_metric_against_all_campaigns(tmp_path: Path, cli: Cli) -> None:
    case = place(tmp_path / "case", campaign(*night(5.3e7, 99), at_h=240, metric="peak_bytes"))
    for number in range(9):
        records = campaign(*night(5e7, number), at_h=24 * number, metric="peak_bytes")
        place(case / "earlier" / f"202611{number + 1:02d}T000000Z-0123456789ab", records)
    assert "peak_bytes" not in cli("check", case).out
    said = cli("check", case, "--rule", "*:* peak_bytes +2MB ada", code=3).out
    assert "more; ask ada" in said
    assert "within +4MB" in cli("check", case, "--rule", "*:* peak_bytes +4MB ada").out


def test_a_change_of_a_metric_that_a_rule_names_can_be_accepted(tmp_path: Path, cli: Cli) -> None:
    levels = [5.5e7 if number >= 20 else 5e7 for number in range(31)]
    for number, level in enumerate(levels):
        folder = tmp_path / "earlier" / f"202611{number + 1:02d}T000000Z-0123456789ab"
        records = campaign(*night(level, number), at_h=24 * number, metric="peak_bytes")
        place(folder if number < 30 else tmp_path, records)
    check = ("check", tmp_path, "--rule", "*:* peak_bytes +2MB ada")
    assert "campaigns; open" in cli(*check).out
    cli("annotate", tmp_path, "--reason", "new cache", "--metric", "peak_bytes", "--who", "Ada")
    assert "accepted by Ada: new cache" in cli(*check).out
