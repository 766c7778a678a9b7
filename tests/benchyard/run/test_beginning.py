"""Which campaign runs belong to, in an execution that is real but for its clock."""

import json
from itertools import count
from pathlib import Path

import pytest

from benchyard.core.model import Json
from benchyard.results.campaigns import earlier_campaigns
from benchyard.results.folders import Results
from benchyard.results.layout import run_folder
from tests.benchyard.run.conftest import Lab, results, step


def change(results: Path, *runs: int, **subject: str) -> None:
    """Let finished runs have measured something else."""
    for run in runs:
        file = run_folder(results, run) / "run.json"
        document = json.loads(file.read_text())
        document["subject"] |= subject
        file.write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("changes", "campaign", "executed", "said"),
    [
        ("", "auto", [3], ""),
        ("host", "auto", [1, 2, 3], ": host elsewhere and "),
        ("host", "keep", [3], "goes on with runs of something else"),
        ("", "new", [1, 2, 3], ""),
        ("input", "auto", [1, 2, 3], "has changed since"),
    ],
)
def test_another_subject_begins_a_campaign_and_says_why(
    lab: Lab, changes: str, campaign: str, executed: list[int], said: str
) -> None:
    case = lab.case(step("a"), data={"in.txt": "one"})
    lab.execute(case, (1, 2))
    if changes == "host":
        change(results(case), 1, 2, host="elsewhere")
    elif changes == "input":
        (case.shared / "in.txt").write_text("two")
    made = lab.execute(case, (1, 2, 3), campaign=campaign)
    assert [record.run for record in made.records] == executed
    earlier = earlier_campaigns(results(case))
    assert [[*Results(each).done()] for each in earlier] == [[1, 2]] * (executed != [3])
    assert any(said in text for text in lab.notices) or not said
    if campaign == "auto":
        lab.execute(case, (1, 2, 3))
        assert lab.notices[-1].startswith("fake: nothing to do: 3 of 3 done on ")


def test_what_only_a_started_resource_tells_sets_the_runs_before_it_aside(lab: Lab) -> None:
    case = lab.case(step("a"))
    lab.execute(case, (1, 2))
    lab.script.on("Alpha.version", always=lambda _: "another")
    executed = lab.execute(case, (1, 2, 3))
    assert [record.run for record in executed.records] == [3, 1, 2]
    [earlier] = earlier_campaigns(results(case))
    assert ([*Results(earlier).done()], [*Results(results(case)).done()]) == ([1, 2], [1, 2, 3])
    assert any("run 3 measured something else" in text for text in lab.notices)


def test_what_differs_from_run_to_run_ends_all_the_same(lab: Lab) -> None:
    versions = count()
    lab.script.on("Alpha.version", always=lambda _: str(next(versions)))
    case = lab.case(step("a"))
    executed = lab.execute(case, (1, 2, 3))
    assert len(executed.records) <= 5
    assert [*Results(results(case)).done()] == [1, 2, 3]
    assert len(earlier_campaigns(results(case))) == 1
    assert any("differs from run to run" in text for text in lab.notices)


@pytest.mark.parametrize("asker", [{"id": "night"}, {"id": "turn", "suite": "night"}])
def test_a_retry_goes_on_with_the_campaign_that_its_first_attempt_began(
    lab: Lab, asker: dict[str, Json]
) -> None:
    """By the records of its runs: the clocks of a server and of a testbed may differ."""
    case = lab.case(step("a"))
    lab.execute(case, (1, 2))
    lab.flow_run = asker
    executed = lab.execute(case, (1, 2), campaign="new")
    assert [record.run for record in executed.records] == [1, 2]
    lab.flow_run = {**asker, "attempt": 2}
    executed = lab.execute(case, (1, 2, 3), campaign="new")
    assert [record.run for record in executed.records] == [3]
    assert len(earlier_campaigns(results(case))) == 1
    lab.flow_run = {"id": "the next night"}
    executed = lab.execute(case, (1, 2), campaign="new")
    assert [record.run for record in executed.records] == [1, 2]


def test_a_damaged_record_is_said_and_its_run_done_again(lab: Lab) -> None:
    case = lab.case(step("a"))
    lab.execute(case, (1, 2))
    (run_folder(results(case), 1) / "run.json").write_text("damaged")
    executed = lab.execute(case, (1, 2))
    assert [record.run for record in executed.records] == [1]
    assert any(text.startswith("fake: run 1 is done again: ") for text in lab.notices)
    [earlier] = earlier_campaigns(results(case))
    assert (run_folder(earlier, 1) / "run.json").read_text() == "damaged"


def test_krowns_results_are_set_aside_and_not_counted(lab: Lab) -> None:
    case = lab.case(step("a"))
    folder = run_folder(results(case), 1)
    folder.mkdir(parents=True)
    (folder / "metrics.csv").write_text("theirs")
    (folder / ".done").write_text("2024-01-01T10:00:00")
    executed = lab.execute(case, (1,))
    assert [record.run for record in executed.records] == [1]
    [earlier] = earlier_campaigns(results(case))
    assert (earlier / "run_1" / "metrics.csv").read_text() == "theirs"
    assert any("run 1 is KROWN's" in text for text in lab.notices)
