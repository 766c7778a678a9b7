"""The shipped case of TPC-H on PostgreSQL, executed with the image that stands in for its own."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchyard import cli
from benchyard.core.errors import ExitCode
from tests.resources._databases.conftest import IMAGES

CASES = Path(__file__).parents[3] / "cases" / "tpch"


def files(folder: Path) -> dict[str, bytes]:
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_it_asks_for_the_same_as_on_the_embedded_databases() -> None:
    for embedded in ("duckdb", "sqlite"):
        assert files(CASES / "postgresql" / "data") == files(CASES / embedded / "data")
    steps: dict[str, list[Any]] = {}
    for engine in ("PostgreSQL", "DuckDB"):
        text = (CASES / engine.lower() / "metadata.json").read_text().replace(engine, "Engine")
        steps[engine] = [s for s in json.loads(text)["steps"] if s["command"] != "vacuum"]
    assert steps["PostgreSQL"] == steps["DuckDB"]


@pytest.mark.slow
@pytest.mark.requires("docker", "image:postgresql")
def test_every_answer_is_right(tmp_path: Path) -> None:
    folder = tmp_path / "cases" / "postgresql"
    shutil.copytree(CASES / "postgresql" / "data", folder / "data")
    document: dict[str, Any] = json.loads((CASES / "postgresql" / "metadata.json").read_text())
    document["resources"]["PostgreSQL"]["image"] = IMAGES["PostgreSQL"]
    document["matrix"] = {"scale": [0.01]}
    (folder / "metadata.json").write_text(json.dumps(document))

    places = ["--root", str(tmp_path / "cases"), "--results", str(tmp_path / "results")]
    quick = ["--direct", "--runs", "1", "--cooldown", "0"]
    code = cli.call(["run", str(folder), *places, *quick])

    assert code == ExitCode.DONE
    [path] = (tmp_path / "results").rglob("run.json")
    record = json.loads(path.read_text())
    outcomes = {step["id"]: step["outcome"] for step in record["steps"]}
    assert set(outcomes.values()) == {"completed"}
    assert record["resources"]["PostgreSQL"]["version"].startswith("15.")
