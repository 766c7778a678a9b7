"""The summary of a case: of its finished runs, and never older than they are."""

import json
import os
from pathlib import Path
from typing import Any

from benchyard.core.errors import CommandFailedError
from benchyard.results.folders import Results
from benchyard.run.summarize import summarize, summarize_if_older
from tests.benchyard.run.conftest import Lab, results, step

NO = CommandFailedError("no")


def test_a_summary_covers_the_finished_runs_and_no_others(lab: Lab) -> None:
    lab.script.on("Alpha.work", 1.0, NO, 3.0)
    case = lab.case(step("a"))
    lab.execute(case, (1, 2, 3))
    written = (results(case) / "summary.json").read_bytes()
    (results(case) / "summary.json").unlink()

    summarize(case.title, results(case))

    assert [*Results(results(case)).done()] == [1, 3]
    assert (results(case) / "summary.json").read_bytes() == written


def test_defect_37_a_summary_is_never_older_than_the_runs(lab: Lab) -> None:
    """A lab that was killed between the last run and the summary left an old one."""
    case = lab.case(step("a"))
    lab.execute(case, (1, 2))
    written = (results(case) / "summary.json").read_bytes()
    summarize_if_older(case.title, results(case))
    untouched = (results(case) / "summary.json").stat().st_mtime_ns

    (results(case) / "summary.json").write_text('{"format": "benchyard-summary"}')
    os.utime(results(case) / "summary.json", ns=(0, 1))
    summarize_if_older(case.title, results(case))

    assert (results(case) / "summary.json").read_bytes() == written
    assert untouched <= (results(case) / "summary.json").stat().st_mtime_ns
    (results(case) / "summary.json").unlink()
    summarize_if_older(case.title, results(case))
    assert (results(case) / "summary.json").read_bytes() == written


def _summary(results: Path) -> Any:
    return json.loads((results / "summary.json").read_text())


def test_runs_of_another_host_are_described_apart_and_named(lab: Lab) -> None:
    folder = lab.one(step("a")).case["folder"]
    results = Path(str(folder)) / "results"
    first = results / "run_1" / "run.json"
    document = json.loads(first.read_text())
    (results / "run_2").mkdir()
    for name in (".done", "metrics.csv"):
        source = results / "run_1" / name
        if source.exists():
            (results / "run_2" / name).write_bytes(source.read_bytes())
    newer = document | {"run": 2, "started_at": "2999-01-01T00:00:00+00:00"}
    newer["subject"] = document["subject"] | {"host": "other"}
    (results / "run_2" / "run.json").write_text(json.dumps(newer))

    summarize("fake", results)

    summary = _summary(results)
    assert [run["run"] for run in summary["runs"]] == [2]
    assert summary["subject"]["host"] == "other"
    [other] = summary["other_subjects"]
    assert [run["run"] for run in other["runs"]] == [1]
    told = f"host {document['subject']['host']} and other"
    assert f"run 1 measured something else, told apart: {told}" in summary["warnings"]
