"""Pictures of a report: well-formed whatever a step is called, with everything that is known."""

from typing import Any
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from benchyard.show.results_plot.chart import Chart, Kind, Mark, Panel, Series
from benchyard.web.report.pictures import rows_picture, with_ids


def chart(*marks: Mark, kind: Kind = Kind.POINTS, **more: Any) -> Chart:
    rows = tuple(f"step {n}" for n in range(len(marks)))
    panel = Panel(more.pop("panel", ""), (Series(0, marks),), more.pop("rows", rows))
    values: dict[str, Any] = {
        "title": "case",
        "quantity": "time",
        "unit": "s",
        "series": ("one",),
        **more,
    }
    return Chart(kind=kind, panels=(panel,), **values)


def looks(svg: str) -> list[str]:
    return [
        one.get("class", "").split()[0]
        for one in ET.fromstring(svg).iter()  # noqa: S314 - it is ours
        if one.get("class")
    ]


@given(st.text(), st.text(), st.text())
def test_any_name_is_a_text(title: str, row: str, panel: str) -> None:
    svg = rows_picture(chart(Mark(0, 1.0), title=title, rows=(row,), panel=panel))
    assert {one.tag for one in ET.fromstring(svg).iter()} <= {"svg", "text", "path"}  # noqa: S314


def test_a_mark_without_interval_is_hollow() -> None:
    assert "mark" in looks(rows_picture(chart(Mark(0, 2.0, 1.0, 3.0, (1.0, 2.0, 3.0)))))
    svg = rows_picture(chart(Mark(0, 2.0)))
    assert "hollow" in looks(svg)
    assert "interval" not in looks(svg)


def test_no_value_is_said() -> None:
    svg = rows_picture(chart(Mark(0, None), Mark(1, 2.0)))
    assert "no value" in svg
    assert "2.00 s" in svg


def test_strips_have_a_dot_for_each_run() -> None:
    svg = rows_picture(chart(Mark(0, 2.0, values=(1.0, 2.0, 3.0)), kind=Kind.STRIPS))
    [runs] = [one for one in ET.fromstring(svg).iter() if one.get("class") == "runs c0"]  # noqa: S314
    assert runs.get("d", "").count("h0") == 3
    assert "median" in looks(svg)


def test_a_ratio_marks_one() -> None:
    assert "one" in looks(rows_picture(chart(Mark(0, 2.0, 1.5, 2.5), kind=Kind.RATIO)))


def test_several_series_have_a_legend_and_differ() -> None:
    panel = Panel("", (Series(0, (Mark(0, 1.0),)), Series(1, (Mark(0, 2.0),))), ("load",))
    svg = rows_picture(Chart(Kind.POINTS, "t", "time", "s", (panel,), ("left", "right")))
    assert "left" in svg
    assert "right" in svg
    shapes = {one.get("class"): one.get("d", "") for one in ET.fromstring(svg).iter("path")}  # noqa: S314
    assert shapes["hollow c0"].partition("m")[2] != shapes["hollow c1"].partition("m")[2]


def test_ids_differ_between_pictures_and_texts_stay() -> None:
    text = "<text>id=&quot;phase&quot;</text>"
    svg = f'<svg><pattern id="phase"/><rect fill="url(#phase)"/>{text}</svg>'
    made = f'<svg><pattern id="p3-phase"/><rect fill="url(#p3-phase)"/>{text}</svg>'
    assert with_ids(svg, "p3-") == made
