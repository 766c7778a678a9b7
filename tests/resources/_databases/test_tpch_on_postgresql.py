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
