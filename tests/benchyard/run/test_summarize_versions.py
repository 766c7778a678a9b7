"""Statistics never mix runs that measured different things."""

import json
from pathlib import Path
from typing import Any

from benchyard.run.summarize import summarize
from tests.benchyard.run.conftest import Lab, step


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
