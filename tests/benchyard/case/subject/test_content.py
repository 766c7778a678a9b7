"""The content of a case has one digest."""

import os
import shutil
from pathlib import Path

import pytest

from benchyard.case.subject.content import content_hash


def test_the_hash_depends_on_names_and_contents_alone(tmp_path: Path, inputs: Path) -> None:
    case = inputs.parent.parent
    first = content_hash(case)
    assert first.startswith("sha256:")
    shutil.copytree(case, tmp_path / "copy", symlinks=True)
    os.utime(tmp_path / "copy" / "metadata.json", (0, 0))
    assert content_hash(tmp_path / "copy") == first
    (case / "results").mkdir()
    (case / "results" / "x").touch()
    (case / "README.md").touch()
    assert content_hash(case) == first


@pytest.mark.parametrize("change", ["metadata", "content", "name", "added", "moved"])
def test_the_hash_sees_every_change(inputs: Path, change: str) -> None:
    case = inputs.parent.parent
    first = content_hash(case)
    match change:
        case "metadata":
            (inputs.parent.parent / "metadata.json").write_text("{ }")
        case "content":
            (inputs / "input.nt").write_text("IN")
        case "name":
            (inputs / "input.nt").rename(inputs / "input.nq")
        case "added":
            (inputs / "empty").touch()
        case _:
            (inputs / "sub" / "deep.csv").rename(inputs / "deep.csv")
    assert content_hash(inputs.parent.parent) != first


def test_a_case_without_inputs_has_a_hash(tmp_path: Path) -> None:
    (tmp_path / "metadata.json").touch()
    assert content_hash(tmp_path).startswith("sha256:")
