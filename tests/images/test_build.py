"""What an image is called, what it stands on, and when it must be built anew."""

import os
import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.images import build
from tests.images.build import BASE, FOLDER, HOST, PREFIX, BuildError

#: The image that the stand-in for the engine fails to build.
FAILS = "TEST_IMAGE_THAT_FAILS"

ONE = f"FROM {HOST}\nARG VERSION=1.2\nCOPY start /start\n"
TWO = f"FROM {PREFIX}/one:1.2\nARG VERSION=3\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a folder with an image and another that stands on it."""
    for name, text in (("one", ONE), ("two", TWO)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "Dockerfile").write_text(text)
    (tmp_path / "one" / "start").write_text("#!/bin/sh\n")
    (tmp_path / "build.py").write_text("how = 1\n")
    return tmp_path


# -- the images of this repository


@pytest.mark.parametrize("name", build.names())
def test_every_image_stands_on_ours_and_names_no_machine(name: str) -> None:
    assert build.with_parents([name])[-1] == name
    assert re.fullmatch(rf"{PREFIX}/{name}:[\w.-]+", build.reference(name))
    texts = [path.read_text() for path in (FOLDER / name).iterdir() if path.is_file()]
    assert not [text for text in texts if re.search(r"https?://|registry|mirror", text)]


# -- keys


def add_file(folder: Path) -> None:
    (folder / "one" / "more").mkdir()
    (folder / "one" / "more" / "file").touch()


CHANGES: list[Callable[[Path], object]] = [
    lambda folder: (folder / "one" / "start").write_text("#!/bin/sh -e\n"),
    lambda folder: (folder / "one" / "start").rename(folder / "one" / "begin"),
    lambda folder: (folder / "one" / "start").chmod(0o755),
    lambda folder: (folder / "one" / "Dockerfile").write_text(ONE + "USER nobody\n"),
    lambda folder: (folder / "build.py").write_text("how = 2\n"),
    add_file,
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_key_changes_with_all_that_an_image_is_made_from(
    folder: Path, change: Callable[[Path], object]
) -> None:
    one, two = build.key("one", folder), build.key("two", folder)
    change(folder)
    assert build.key("one", folder) != one
    # What it stands on is another image now.
    assert build.key("two", folder) != two


# -- building


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Stand in for the engine; return the tags that it is asked to build, in order."""
    asked: list[str] = []
    lock = threading.Lock()

    def docker_build(*arguments: str) -> None:
        with lock:
            asked.append(arguments[1])
        if arguments[1] == os.environ.get(FAILS):
            raise BuildError("it does not build")

    def missing(_: str) -> str:
        return "it is built anew"

    def docker(*_: str) -> str:
        return "\n"

    monkeypatch.setattr(build, "_docker", docker)
    monkeypatch.setattr(build, "missing", missing)
    monkeypatch.setattr(build, "_docker_build", docker_build)
    monkeypatch.setattr(build, "make_base", lambda: asked.append(BASE))
    monkeypatch.setattr(build, "make_host", lambda: asked.append(HOST))
    return asked


def test_all_is_built_in_an_order_that_can_be(engine: list[str]) -> None:
    build.build(["recorder", "redis"])

    assert engine[:2] == [BASE, HOST]
    assert sorted(engine[2:]) == sorted(map(build.reference, ("python", "recorder", "redis")))
    assert engine.index(build.reference("python")) < engine.index(build.reference("recorder"))


def test_one_that_fails_stops_only_what_stands_on_it(
    engine: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FAILS, build.reference("python"))

    with pytest.raises(BuildError) as caught:
        build.build(["recorder", "redis"])

    assert build.reference("redis") in engine
    assert build.reference("recorder") not in engine
    assert str(caught.value).splitlines() == [
        "python: it does not build",
        "recorder: not built, for want of what it stands on",
    ]
