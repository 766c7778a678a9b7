"""Pictures: the same from the same, without a date, with whatever a name holds as plain text."""

from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from benchyard.show.plot import Format, format_of, picture


def figure() -> Any:
    made: Any = Figure(figsize=(2, 1))
    made.text(0.1, 0.5, "a $\\frac{ $ 数 <b>")
    return made


@pytest.mark.parametrize(
    ("kind", "start"),
    [("png", b"\x89PNG\r\n"), ("svg", b"<?xml"), ("pdf", b"%PDF")],
)
def test_the_same_figure_is_the_same_picture(kind: Format, start: bytes) -> None:
    drawn = picture(figure, kind, {"font.size": 7.0})

    assert drawn.startswith(start)
    assert drawn == picture(figure, kind, {"font.size": 7.0})
    assert drawn != picture(figure, kind, {"font.size": 9.0})
    assert b"matplotlib version" not in drawn
    assert b"<dc:date>" not in drawn
    assert b"CreationDate" not in drawn


def test_a_text_stays_a_text() -> None:
    drawn = picture(figure, "svg", {}).decode()

    assert "a $\\frac{ $ 数 &lt;b&gt;" in drawn


@pytest.mark.parametrize(
    ("name", "kind"), [("a.svg", "svg"), ("a.SVG", "svg"), ("a.PNG", "png"), ("a.pdf", "pdf")]
)
def test_the_ending_says_the_format(name: str, kind: Format) -> None:
    assert format_of(Path(name)) == kind
