"""The summary of a case: of its finished runs, and never older than they are."""

import os

from benchyard.core.errors import CommandFailedError
from benchyard.results.folders import Results
from benchyard.run.summarize import summarize, summarize_if_older
from tests.benchyard.run.conftest import Lab, step

NO = CommandFailedError("no")


def test_a_summary_covers_the_finished_runs_and_no_others(lab: Lab) -> None:
    lab.script.on("Alpha.work", 1.0, NO, 3.0)
    case = lab.case(step("a"))
    lab.execute(case, (1, 2, 3))
    results = case.folder / "results"
    written = (results / "summary.json").read_bytes()
    (results / "summary.json").unlink()

    summarize(case.title, results)

    assert [*Results(results).done()] == [1, 3]
    assert (results / "summary.json").read_bytes() == written


def test_defect_37_a_summary_is_never_older_than_the_runs(lab: Lab) -> None:
    """A lab that was killed between the last run and the summary left an old one."""
    case = lab.case(step("a"))
    lab.execute(case, (1, 2))
    results = case.folder / "results"
    written = (results / "summary.json").read_bytes()
    summarize_if_older(case.title, results)
    untouched = (results / "summary.json").stat().st_mtime_ns

    (results / "summary.json").write_text('{"format": "benchyard-summary"}')
    os.utime(results / "summary.json", ns=(0, 1))
    summarize_if_older(case.title, results)

    assert (results / "summary.json").read_bytes() == written
    assert untouched <= (results / "summary.json").stat().st_mtime_ns
    (results / "summary.json").unlink()
    summarize_if_older(case.title, results)
    assert (results / "summary.json").read_bytes() == written


def test_without_a_finished_run_no_summary_is_made(lab: Lab) -> None:
    case = lab.case(step("a"))

    summarize_if_older(case.title, case.folder / "results")

    assert not (case.folder / "results").exists()


def test_a_summary_without_runs_is_no_error(lab: Lab) -> None:
    case = lab.case(step("a"))
    lab.script.on("Alpha.work", NO)

    lab.execute(case)

    assert [*Results(case.folder / "results").done()] == []
