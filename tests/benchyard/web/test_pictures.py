import io
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, fromstring

import pytest
from fastapi import APIRouter, FastAPI
from fastapi.testclient import TestClient
from PIL import Image

from benchyard.catalogue.catalogue import Catalogue
from benchyard.core.errors import InputError
from benchyard.show.drawing import Drawing, Text
from benchyard.web.app import make_app
from benchyard.web.explorer import Explorer
from benchyard.web.pictures import WIDTHS, Picture, Width, add_picture

HOSTILE = 'case $x$ <script>alert(1)</script> & "q"'


def parsed(svg: str) -> Element:
    return fromstring(svg)  # noqa: S314 - it is our own


class Pages:
    """An application with one picture, that counts how often it is drawn."""

    def __init__(self, roots: Path) -> None:
        self.drawn: list[str] = []
        self.catalogue = Catalogue([roots])
        app: FastAPI = make_app(Explorer(self.catalogue))
        router = APIRouter()
        add_picture(router, "/some/{name}", self.picture)
        app.include_router(router)
        self.client: Any = TestClient(app)

    def picture(self, name: str, step: str = "load") -> Picture:
        def draw(width: Width) -> Drawing:
            self.drawn.append(step)
            if step == "none":
                raise InputError(f"there is no step of {HOSTILE}")
            return Drawing(100 * WIDTHS[width], 100, [Text(9, 50, step)])

        href = f"/some/{name}"
        return Picture("some", f"All of {step}", f"{step} over time", href, draw, {"step": step})


@pytest.fixture
def pages(tmp_path: Path) -> Pages:
    return Pages(tmp_path)


def test_both_kinds_are_served_as_what_they_are(pages: Pages) -> None:
    svg, png = (pages.client.get(f"/some/a.{kind}") for kind in ("svg", "png"))
    assert svg.headers["content-type"] == "image/svg+xml"
    assert parsed(svg.text).tag.endswith("svg")
    assert png.headers["content-type"] == "image/png"
    assert Image.open(io.BytesIO(png.content)).format == "PNG"
    for answer in (svg, png):
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; style")
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_picture_is_drawn_once_until_something_changes(pages: Pages) -> None:
    first = pages.client.get("/some/a.svg")
    assert pages.client.get("/some/a.svg").content == first.content
    assert pages.drawn == ["load"]
    (pages.catalogue.roots[0] / "run_1").mkdir()
    (pages.catalogue.roots[0] / "run_1" / ".done").touch()
    pages.catalogue.refresh()
    pages.client.get("/some/a.svg")
    assert pages.drawn == ["load", "load"]


def test_forms_and_queries_are_kept_apart(pages: Pages) -> None:
    queries = ("", "?theme=dark", "?width=narrow", "?step=other")
    answers = {pages.client.get(f"/some/a.svg{query}").content for query in queries}
    assert len(answers) == len(queries)
    assert pages.client.get("/some/a.svg?theme=pink").status_code == 422


def test_what_cannot_be_drawn_is_said_in_its_place(pages: Pages) -> None:
    answer = pages.client.get("/some/a.svg?step=none")
    assert answer.status_code == 422
    words = " ".join("".join(parsed(answer.text).itertext()).split())
    assert f"there is no step of {HOSTILE}" in words
