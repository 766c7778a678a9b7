"""Reports for continuous integration, as ``run``, ``suite`` and ``compare`` write them."""

import json
import shutil
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from benchyard.analysis.comparison.gate import Regression
from benchyard.analysis.regressions import Looked
from benchyard.cli.ci import Reports
from benchyard.core.model import Json
from benchyard.suite.summary import CaseResult, Summary
from tests.benchyard.analysis.comparison.conftest import BASE, place, runs
from tests.benchyard.cli.conftest import Cli
from tests.conftest import MakeCase, process

QUICK = ("--direct", "--cooldown", "0", "--publish", "none")


def steps_of(file: Path) -> dict[str, ET.Element]:
    found = ET.parse(file).getroot().iter("testcase")  # noqa: S314 - made here
    return {str(one.get("name")): one for one in found}


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    slow = [2 * value for value in BASE]
    return place(tmp_path / "old", runs(*BASE)), place(tmp_path / "new", runs(*slow))


def test_a_run_writes_every_report_though_it_failed(
    tmp_path: Path, cli: Cli, case_folder: MakeCase
) -> None:
    case = case_folder(
        "words",
        process("good", "true"),
        process("try", "exit 3", may_fail=True, retries=0),
        process("bad", "echo gone >&2; exit 9"),
        process("after", "true"),
    )
    files = [tmp_path / name for name in ("r.xml", "r.md", "metrics.txt")]
    options = zip(("--junit", "--markdown", "--openmetrics"), files, strict=True)
    words = [word for option in options for word in option]
    said = cli("run", case, "--runs", "1", *QUICK, *words, code=1)
    assert "words" in said.out
    steps = steps_of(files[0])
    states = {name: [child.tag for child in one] for name, one in steps.items()}
    assert states == {"good": [], "try": [], "bad": ["failure"], "after": ["skipped"]}
    assert steps["bad"].findtext("failure") == "run 1: exit 9: gone"
    assert files[1].read_text().startswith("**❌ 1 failure, 1 check could not be made in 1 case**")
    assert 'benchyard_failed_runs{case="words"} 1' in files[2].read_text()


@pytest.mark.slow
def test_a_regression_against_a_baseline_is_in_the_reports(
    tmp_path: Path, cli: Cli, case_folder: MakeCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary, delay, base = (tmp_path / name for name in ("summary.md", "delay", "base"))
    case = case_folder("words", process("work", f"sleep $(cat {delay})"))
    delay.write_text("0")
    words = ("run", case, *QUICK)
    cli(*words)
    assert not summary.exists()
    shutil.copytree(case / "results", base)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    delay.write_text("0.3")
    said = cli(*words, "--new", "--baseline", base, "--json", code=3)
    assert said.out.startswith("{")
    assert "::error title=regression%3A words%3A work::words: step work is slower" in said.err
    assert summary.read_text().startswith("**❌ 1 regression in 1 case**")
    there = summary.read_bytes()
    cli(*words, "--baseline", base, "--ci", "none", code=3)
    assert summary.read_bytes() == there


def test_markdown_without_a_file_is_all_that_is_printed(cli: Cli, case_folder: MakeCase) -> None:
    case = case_folder("words", process("good", "true"))
    out = cli("run", "--markdown", case, "--runs", "1", *QUICK).out
    assert out.startswith("**✅ nothing failed in 1 case**\n")
    assert out.endswith("</details>\n")


def test_compare_prints_markdown_wherever_the_option_stands(
    cli: Cli, sides: tuple[Path, Path]
) -> None:
    for place_of_option, option in product(range(3), ("--markdown", "--markdown=-")):
        words: list[object] = [*sides]
        words.insert(place_of_option, option)
        assert cli("compare", *words, code=3).out.startswith("**Candidate `")


def test_compare_writes_files_beside_what_it_prints(
    cli: Cli, sides: tuple[Path, Path], tmp_path: Path
) -> None:
    page, xml = tmp_path / "c.md", tmp_path / "c.xml"
    said = cli("compare", "--markdown", page, *sides, "--junit", xml, "--ci", "github", code=3)
    assert "1 regression" in said.out
    assert said.err.startswith("::error title=regression%3A tpch%3A Load::tpch: step Load is slow")
    assert page.read_text().startswith("**Candidate `")
    (failure,) = steps_of(xml)["Load"].iter("failure")
    assert failure.get("type") == "regression"
    err = cli("compare", *sides, "--ci", "gitlab", code=3).err
    assert err.startswith("\x1b[0Ksection_start:")
    assert "**Candidate `" in err


def test_of_several_sides_each_two_that_are_compared_are_a_suite(
    cli: Cli, sides: tuple[Path, Path], tmp_path: Path
) -> None:
    third, xml = place(tmp_path / "third", runs(*BASE)), tmp_path / "c.xml"
    cli("compare", *sides, third, "--junit", xml, code=3)
    suites = list(ET.parse(xml).getroot())  # noqa: S314 - made here
    assert [one.get("failures") for one in suites] == ["1", "0"]
    assert len({one.get("name") for one in suites}) == 2


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--junit", "r.txt"], "it must end in .xml"),
        (["--junit", "none/r.xml"], "there is no folder"),
        (["--markdown", "--json"], "--markdown writes to stdout already"),
        (["--ci", "jenkins"], "'jenkins' is not one of"),
    ],
)
def test_wrong_reports_are_refused_before_anything_is_done(
    arguments: Sequence[str], text: str, cli: Cli, sides: tuple[Path, Path]
) -> None:
    said = cli("compare", *sides, *arguments, code=2)
    assert said.out == ""
    assert text in said.err


def test_a_suite_reports_its_cases_here_and_elsewhere(
    tmp_path: Path, cli: Cli, case_folder: MakeCase
) -> None:
    case = case_folder("here", process("one", "true"))
    cli("run", case, "--runs", "1", *QUICK)
    worse = Regression("there", "s", "sort", "there: step sort is slower")
    lines = [
        CaseResult("here", 1, 0, 0, 1.0, (), "", results=str(case / "results")),
        CaseResult("bad", 0, 2, 0, 1.0, ("two",), "run 1: step one: exit 9", results="/else/where"),
        CaseResult("odd", 0, 0, 0, 0.0, (), "it is no JSON", invalid=True),
        CaseResult("there", 1, 0, 0, 1.0, ("two",), "", looked=Looked((worse,), "worse", "base")),
        CaseResult("few", 1, 0, 0, 1.0, ("two",), "", looked=Looked((), "1 untold", "base")),
        CaseResult("unchanged", 0, 0, 0, 0.0, (), "nothing has changed"),
    ]
    rows: list[Json] = [{"case": "few", "verdict": "cannot tell"}]
    made = Summary(lines, (), 1.0, None, interrupted=False, comparison={"comparisons": rows})
    document = json.loads(json.dumps(made.to_json()))
    file = tmp_path / "s.xml"
    for here, step in ((True, "one"), (False, "runs")):
        Reports(file, ci="none").of_suite(document, here=here)
        root = ET.parse(file).getroot()  # noqa: S314 - made here
        failures = {str(one.get("name")): one.get("failures") for one in root}
        good = {"here": "0", "few": "0", "unchanged": "0"}
        assert failures == {**good, "bad": "1", "odd": "1", "there": "1"}
        assert root[0].findall("testcase")[0].get("name") == step
        assert not list(root[0].iter("skipped"))
        texts = [one.text for one in root.iter("failure")]
        assert texts == ["run 1: step one: exit 9", "it is no JSON", "there: step sort is slower"]
        skipped = [one.text for one in root.iter("skipped")]
        assert skipped == ["1 untold", "nothing has changed"]
