"""Pictures: that they are there, whole, and of any content."""

import math
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from benchyard.show.history.plot import CAPTION, MOST, history_drawing
from benchyard.show.history.series import Series
from tests.benchyard.show.history.conftest import series

PNG = b"\x89PNG\r\n\x1a\n"


def texts(file: Path) -> list[str]:
    """Return the texts of an SVG."""
    tree = ET.parse(file)  # noqa: S314 - it is our own
    return ["".join(one.itertext()) for one in tree.iter() if one.tag.endswith("text")]


def draw(found: Sequence[Series], file: Path, title: str = "words") -> None:
    history_drawing(found, 820, title, 400).write(file)


def test_a_picture_of_one_entry(tmp_path: Path) -> None:
    file = tmp_path / "a.svg"
    draw([series(0.1, 0.11, 0.09, 0.2)], file)
    found = texts(file)
    assert {"words", "load", "200.0 ms", CAPTION} <= set(found)
    assert "2026-01-01" in " ".join(found)
    assert [path.name for path in tmp_path.iterdir()] == ["a.svg"]


def test_of_many_entries_the_first_are_drawn(tmp_path: Path) -> None:
    found = [series(1.0, 1.0, entry=f"same {n}") for n in range(MOST + 2)]
    draw(found, tmp_path / "a.svg")
    drawn = texts(tmp_path / "a.svg")
    assert len([text for text in drawn if text.startswith("same")]) == MOST
    assert "2 more steps: choose one to see it" in drawn


@pytest.mark.parametrize(
    "values",
    [
        [1.0],
        [0.0, 0.0],
        [-1.0, 1.0],
        [math.nan],
        [math.nan, 1.0, math.inf],
        [1e-300, 1e300],
        [1.0] * 400,
        [1e-9, 2e-9],
    ],
)
def test_any_values(tmp_path: Path, values: list[float]) -> None:
    draw([series(*values), series(1.0, 2.0, entry="sort")], tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(PNG)


@pytest.mark.parametrize("name", ["a$b$c", "\\frac{1}{2}", "工作", "a\nb\x1b[2J", "x" * 300, "<&>"])
def test_any_names(tmp_path: Path, name: str) -> None:
    draw([series(1.0, 2.0, entry=name)], tmp_path / "a.svg", name)
    shown = [text for text in texts(tmp_path / "a.svg") if text[:1] == name[:1]]
    assert len(shown) == 2
    assert all(text.isprintable() and len(text) <= 60 for text in shown)
