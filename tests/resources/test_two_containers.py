"""Two containers of one class and of different images in one case."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from benchyard.cli import call
from tests.resources.containers import BASE, WAITS

pytestmark = [pytest.mark.slow, pytest.mark.requires("docker")]

OTHER = "benchyard-test/python:3.11"


def test_two_images_fit_in_one_case(
    case_folder: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = ["sh", "-c", "hostname -i; getent hosts old new | wc -l; command -v python3 || true"]
    settings = {"command": WAITS, "entrypoint": [], "stop_seconds": 1}
    folder = case_folder(
        "two",
        {"resource": "old", "command": "execute", "parameters": {"arguments": ["true"]}},
        {"resource": "new", "command": "execute", "parameters": {"arguments": program}},
        resources={
            "old": {"class": "Container", "image": BASE, **settings},
            "new": {"class": "Container", "image": "${matrix.image}", **settings},
        },
        matrix={"image": [OTHER]},
    )
    arguments = ["--root", str(tmp_path), "--direct", "--runs", "1", "--cooldown", "0"]
    assert call(["run", *arguments]) == 0, capsys.readouterr().err
    [record] = folder.glob("results/*/run_1/run.json")
    told = json.loads(record.read_text())["resources"]
    assert {name: facts["class"] for name, facts in told.items()} == {
        "old": "Container",
        "new": "Container",
    }
    assert told["old"]["image"] == BASE
    assert told["new"]["image"] == OTHER
    assert told["old"]["version"] != told["new"]["version"]
    said = (record.parent / "new" / "02-new-execute.stdout.txt").read_text().split()
    assert said[1] == "2"  # each is found by its name
    assert not (record.parent / "container").exists()
