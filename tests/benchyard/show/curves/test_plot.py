"""The picture: valid, inert, whole, and of a size that a page can hold."""

from dataclasses import replace
from math import nan
from xml.etree import ElementTree as ET

import numpy as np

from benchyard.core.model import Outcome
from benchyard.show.curves.panels import Bar, Curves, Phase
from benchyard.show.curves.plot import draw as drawing
from benchyard.show.curves.thinning import ThinLine, ThinPanel

SVG = "{http://www.w3.org/2000/svg}"
AT = [0.5, 1.5, 2.5, 3.5]


def curves(*bars: Bar, title: str = "words, run 1", panels: tuple[ThinPanel, ...] = ()) -> Curves:
    return Curves(title, 4.0, AT, panels, bars, 40)


def bar(index: int, start: float, end: float, name: str = "load", **more: Outcome) -> Bar:
    return Bar(index, name, start, end, more.get("outcome", Outcome.COMPLETED))


def cpu(*values: float, name: str = "host", host: bool = True) -> ThinPanel:
    known = np.array(values, float)
    return ThinPanel("CPU", "cores", [ThinLine(name, host, known, known, known)])


def draw(shown: Curves) -> str:
    return drawing(shown).svg()


def texts(picture: str) -> list[str]:
    return [one.text or "" for one in ET.fromstring(picture).iter(f"{SVG}text")]  # noqa: S314 - ours


def test_picture_names_steps_curves_and_axes() -> None:
    made = draw(curves(bar(1, 0, 2, "load"), bar(2, 2, 4, "ask"), panels=(cpu(0, 1, 2, 1.5),)))
    found = texts(made)
    for text in ("words, run 1", "40 samples", "1 load", "2 ask", "CPU", "2 cores", "4 s"):
        assert text in found
    assert "host, at most 2 cores" in found


def test_phases_have_a_band_of_their_own() -> None:
    fine = Phase("ready", "SQLite", 0.0, 2.0, Outcome.COMPLETED)
    bad = Phase("stop", EVIL, 3.0, 4.0, Outcome.FAILED)
    made = replace(curves(bar(1, 2, 3), panels=(cpu(1, 1, 1, 1),)), phases=(fine, bad))
    groups = {
        title.text: rect
        for one in ET.fromstring(draw(made)).iter(f"{SVG}g")  # noqa: S314 - ours
        if (title := one.find(f"{SVG}title")) is not None
        and (rect := one.find(f"{SVG}rect")) is not None
    }
    ready, step_ = groups["ready SQLite: completed"], groups["1 load: completed"]
    assert "url(#hatch" in draw(made)
    assert ready.get("y") != step_.get("y")
    assert sum(rect.get("fill") == "#f3b6ae" for rect in groups.values()) == 1
    assert "ready SQLite" in texts(draw(made))


def test_panel_in_which_nothing_happened_is_left_out_and_said() -> None:
    quiet = replace(cpu(0, nan, 0, 0, name="received"), name="network", unit="B/s")
    found = texts(draw(curves(panels=(cpu(1, 1, 1, 1), quiet))))
    assert "40 samples; nothing on network" in found
    assert "network" not in found


def test_gap_is_no_zero() -> None:
    made = draw(curves(panels=(cpu(2, nan, 2, 2, host=False, name="R"),)))
    line = next(p for p in ET.fromstring(made).iter(f"{SVG}path") if p.get("stroke-width") == "1.3")  # noqa: S314
    assert len({point.split()[1] for point in (line.get("d") or "")[1:].split("L")}) == 1


EVIL = "</text><script>alert(1)</script>\x00\x1b\udcff\ufffe&amp;\"'"


def test_names_cannot_break_out_of_their_text() -> None:
    panels = (cpu(1, 1, 1, 1, name=EVIL), replace(cpu(*AT, name=EVIL), name="disk", unit="B/s"))
    made = draw(curves(bar(1, 0, 4, EVIL), title=EVIL, panels=panels))
    root = ET.fromstring(made)  # noqa: S314 - it is our own
    assert {one.tag.removeprefix(SVG) for one in root.iter()} <= {
        *("svg", "rect", "text", "path", "g", "title")
    }
    made.encode()


def test_steps_side_by_side_have_lanes() -> None:
    rects = ET.fromstring(draw(curves(bar(1, 0, 3), bar(2, 1, 4), bar(3, 3, 4)))).iter(f"{SVG}g")  # noqa: S314
    tops = [one.find(f"{SVG}rect").get("y") for one in rects]  # pyright: ignore[reportOptionalMemberAccess]
    assert len(set(tops)) == 2
    assert len(tops) == 3


def test_thousands_of_steps_do_not_make_it_large() -> None:
    many = [bar(n, n / 2500, (n + 1) / 2500) for n in range(10_000)]
    assert len(draw(curves(*many))) < 120_000


# -- scales
