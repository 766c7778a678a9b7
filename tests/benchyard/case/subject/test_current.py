"""What would be measured now."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from benchyard.case.loading import load, raise_problems
from benchyard.case.registry import Registry
from benchyard.case.resource import Resource, command
from benchyard.case.subject.contents import content_hash
from benchyard.case.subject.current import current_subject, with_told
from benchyard.core.model import Case, Json
from benchyard.results.subject import differences, in_words


@dataclass(frozen=True)
class _Settings:
    image: str = "none"


class Engine(Resource[_Settings]):
    """A system whose version is told by its setting."""

    Settings: ClassVar[type[Any]] = _Settings
    away: ClassVar[bool] = False

    @classmethod
    def installed(cls, settings: Any) -> dict[str, Json]:
        if cls.away:
            raise OSError("nobody answers")
        return {"digests": [f"{settings.get('image')}@sha256:1"], "id": "x"}

    def version(self) -> str:
        return "1"

    @command
    def work(self) -> None:
        """Do nothing."""


REGISTRY = Registry({"Engine": Engine})


def case_of(folder: Path, steps: list[str], resources: Json) -> Case:
    folder.mkdir(parents=True, exist_ok=True)
    made = [{"@id": f"s{n}", "resource": name, "command": "work"} for n, name in enumerate(steps)]
    document = {"name": "c", "steps": made, "resources": resources}
    (folder / "metadata.json").write_text(json.dumps(document))
    loaded = load(folder / "metadata.json", REGISTRY)
    raise_problems([loaded])
    return loaded.cases[0]


def test_each_name_of_a_class_has_its_own_version(tmp_path: Path) -> None:
    old: Json = {"class": "Engine", "image": "old"}
    new: Json = {"class": "Engine", "image": "new"}
    subject = current_subject(
        case_of(tmp_path, ["o", "n"], {"o": old, "n": new}), REGISTRY, tmp_path
    )
    assert subject["versions"] == {
        "o": {"version": None, "image": "old@sha256:1"},
        "n": {"version": None, "image": "new@sha256:1"},
    }


def test_what_resources_told_completes_the_subject(tmp_path: Path) -> None:
    before = current_subject(case_of(tmp_path, ["Engine"], {}), REGISTRY, tmp_path)
    one, other = (with_told(before, {"Engine": {"version": v}}, {}) for v in ("1.2.2", "2.0.0"))
    assert in_words(differences(one, other)) == "Engine 1.2.2 and 2.0.0"
    assert differences(before, one) == ()
    assert len({str(s["digest"]) for s in (before, one, other)}) == 3


def test_a_system_that_does_not_answer_is_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = case_of(tmp_path, ["Engine"], {})
    before = current_subject(case, REGISTRY, tmp_path)
    monkeypatch.setattr(Engine, "away", True)
    assert differences(before, current_subject(case, REGISTRY, tmp_path)) == ()


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


CHANGES: list[Callable[[Path], object]] = [
    lambda inputs: (inputs.parent.parent / "metadata.json").write_text("{ }"),
    lambda inputs: (inputs / "input.nt").write_text("IN"),
    lambda inputs: (inputs / "input.nt").rename(inputs / "input.nq"),
    lambda inputs: (inputs / "empty").touch(),
    lambda inputs: (inputs / "sub" / "deep.csv").rename(inputs / "deep.csv"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_the_hash_sees_every_change(inputs: Path, change: Callable[[Path], object]) -> None:
    first = content_hash(inputs.parent.parent)
    change(inputs)
    assert content_hash(inputs.parent.parent) != first
