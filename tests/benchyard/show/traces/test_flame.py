"""Flame graphs: where frames lie, what they say, and whose names do no harm."""

from collections.abc import Mapping
from xml.etree import ElementTree as ET

import pytest

from benchyard.show.drawing import Format
from benchyard.show.traces.flame import DEEPEST, boxes_of, flame_drawing
from benchyard.traces.building import TraceBuilder
from benchyard.traces.difference import Names, Profiled, differences, profiled

TOTALS: Mapping[Names, float] = {
    ("main",): 3.0,
    ("main", "a"): 1.0,
    ("main", "b"): 2.0,
    ("other",): 1.0,
    ("main", "b", "tiny"): 0.001,
}
_SVG = "{http://www.w3.org/2000/svg}"


def test_frames_lie_below_what_contains_them() -> None:
    boxes, narrow = boxes_of(TOTALS)
    found = {box.names: (box.depth, box.left, box.width) for box in boxes}
    assert found == {
        ("main",): (0, 0.0, 0.75),
        ("other",): (0, 0.75, 0.25),
        ("main", "a"): (1, 0.0, 0.25),
        ("main", "b"): (1, 0.25, 0.5),
    }
    assert narrow == 1


def titles(svg: str) -> list[str]:
    root = ET.fromstring(svg)  # noqa: S314 - our own
    return [str(one.text) for one in root.iter(f"{_SVG}title")]


def test_an_svg_says_what_each_frame_took() -> None:
    made = flame_drawing(TOTALS, "a run").svg()
    assert "main > b: 2.00 s, 50 %" in titles(made)
    assert "1 frame below 0.1 % of it is not drawn" in made


def test_deep_stacks_are_drawn_as_far_as_there_is_room() -> None:
    names = tuple(f"frame {at}" for at in range(DEEPEST + 100))
    deep = flame_drawing({names[:depth]: 1.0 for depth in range(1, len(names) + 1)}, "deep")
    assert deep.picture("png").startswith(b"\x89PNG")
    assert len(titles(deep.svg())) == DEEPEST
    assert f"100 frames below 0.1 % of it, or inside of {DEEPEST} others" in deep.svg()


@pytest.mark.parametrize(("kind", "begin"), [("svg", b"<svg"), ("png", b"\x89PNG")])
def test_hostile_names_and_nothing_are_drawn(kind: Format, begin: bytes) -> None:
    names = {("<script>alert(1)</script>",): 1.0, ("$\\frac{",): 1.0, ("\x1b[31m\0",): 1.0}
    content = flame_drawing(names, "<b>$x^$").picture(kind)
    assert b"<script" not in content
    assert content.startswith(begin)
    assert flame_drawing({}, "nothing").picture(kind).startswith(begin)


def repeated(time: int) -> list[Profiled]:
    found: list[Profiled] = []
    for one in range(20):
        builder = TraceBuilder()
        track = builder.track("p", "t")
        builder.slice(track, "main", 0, 2_000)
        builder.slice(track, "changed", 0, time + one)
        builder.slice(track, "same", 1_500, 100)
        found.append(profiled(builder.trace(), by_path=True))
    return found


@pytest.mark.parametrize(("old", "new", "colour"), [(500, 900, "red"), (900, 500, "blue")])
def test_what_differs_is_coloured_and_the_rest_is_grey(old: int, new: int, colour: str) -> None:
    found = differences(repeated(old), repeated(new))
    made = flame_drawing(repeated(new)[0].total_s, "new against old", found)
    root = ET.fromstring(made.svg())  # noqa: S314 - our own
    fills = {
        str(group.findtext(f"{_SVG}title")).partition(":")[0]: _fill(group)
        for group in root.iter(f"{_SVG}g")
    }
    assert fills["main > same"] == "#d8d8d8"
    red, blue = (int(fills["main > changed"][place : place + 2], 16) for place in (1, 5))
    assert ("red" if red > blue else "blue") == colour


def _fill(group: ET.Element) -> str:
    box = group.find(f"{_SVG}rect")
    return "" if box is None else box.attrib["fill"]
