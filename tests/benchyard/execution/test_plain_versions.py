"""Statistics never mix runs of different versions of a case."""

import json
from pathlib import Path
from typing import Any

from benchyard.execution.plain import summarize
from tests.benchyard.execution.conftest import Lab, step


def _summary(results: Path) -> Any:
    return json.loads((results / "summary.json").read_text())


def test_runs_of_an_older_version_are_left_out_and_named(lab: Lab) -> None:
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
    newer["case"] = document["case"] | {"hash": "sha256:other"}
    (results / "run_2" / "run.json").write_text(json.dumps(newer))

    summarize("fake", results)

    assert [run["run"] for run in _summary(results)["runs"]] == [2]
    assert any("run 1 is of another version" in w for w in _summary(results)["warnings"])
