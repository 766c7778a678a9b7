"""What an image is called, what it stands on, and when it must be built anew."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.images import build
from tests.images.build import FOLDER, HOST, PREFIX

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
