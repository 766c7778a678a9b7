"""Drawings: the same from the same, without a date, with whatever a name holds as plain text."""

from pathlib import Path

import pytest

from benchyard.show.drawing import Drawing, Format, Text, format_of


def drawing(size: float) -> Drawing:
    return Drawing(200, 100, [Text(9, 50, "a $\\frac{ $ 数 <b>", size)])


@pytest.mark.parametrize(
    ("kind", "start"), [("png", b"\x89PNG\r\n"), ("svg", b"<svg"), ("pdf", b"%PDF")]
)
def test_the_same_drawing_is_the_same_picture(kind: Format, start: bytes) -> None:
    drawn = drawing(7).picture(kind)

    assert drawn.startswith(start)
    assert drawn == drawing(7).picture(kind)
    assert drawn != drawing(9).picture(kind)
    assert b"matplotlib version" not in drawn
    assert b"CreationDate" not in drawn


def test_a_text_stays_a_text() -> None:
    assert "a $\\frac{ $ 数 &lt;b&gt;" in drawing(7).svg()


@pytest.mark.parametrize(
    ("name", "kind"), [("a.svg", "svg"), ("a.SVG", "svg"), ("a.PNG", "png"), ("a.pdf", "pdf")]
)
def test_the_ending_says_the_format(name: str, kind: Format) -> None:
    assert format_of(Path(name)) == kind
