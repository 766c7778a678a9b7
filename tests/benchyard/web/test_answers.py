"""Answers are made once for each state of the catalogue, and never when they are old."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, PlainTextResponse
from fastapi.testclient import TestClient

from benchyard.catalogue.catalogue import Catalogue
from benchyard.web.answers import Answers
from benchyard.web.explorer import Explorer, keep_fresh
from tests.benchyard.catalogue.making import put_run


class Counting:
    """An application that counts how often it is asked."""

    def __init__(self, root: Path, room: int = 2**20) -> None:
        self.made = 0
        self.catalogue = Catalogue([root], root / "index.sqlite")
        self._lock = threading.Lock()
        app = FastAPI()
        app.add_api_route("/{kind}", self.answer, methods=["GET"])
        app.add_middleware(Answers, explorer=Explorer(self.catalogue), room=room)
        self.client: Any = TestClient(app, raise_server_exceptions=False)

    def answer(self, request: Request, kind: str) -> Response:
        with self._lock:
            self.made += 1
            number = self.made
        if kind == "fresh":
            keep_fresh(request)
        if kind == "file":
            return PlainTextResponse(f"{number}")
        if kind == "fails":
            raise RuntimeError(kind)
        status = 404 if kind == "missing" else 200
        return HTMLResponse(f"{kind} {number} " + "x" * 5_000, status)


@pytest.fixture
def counting(tmp_path: Path) -> Counting:
    return Counting(tmp_path)


def test_an_answer_is_made_once_until_the_catalogue_changes(
    counting: Counting, tmp_path: Path
) -> None:
    first = counting.client.get("/page")
    assert counting.client.get("/page").text == first.text
    put_run(tmp_path / "tpch" / "results")
    counting.catalogue.refresh()
    assert counting.client.get("/page").text != first.text
    assert counting.made == 2


def test_a_browser_is_told_that_nothing_changed(counting: Counting) -> None:
    first = counting.client.get("/page")
    assert first.headers["cache-control"] == "no-cache"
    again = counting.client.get("/page", headers={"If-None-Match": first.headers["etag"]})
    assert again.status_code == 304
    assert again.content == b""
    other = counting.client.get("/page", headers={"If-None-Match": '"other"'})
    assert other.status_code == 200


@pytest.mark.parametrize("kind", ["fresh", "file", "missing", "fails"])
def test_what_nobody_watches_and_errors_are_made_each_time(counting: Counting, kind: str) -> None:
    answers = [counting.client.get(f"/{kind}") for _ in range(2)]
    assert counting.made == 2
    assert all("etag" not in one.headers for one in answers) or kind == "fresh"


def test_large_answers_are_packed_for_those_who_unpack(counting: Counting) -> None:
    packed = counting.client.get("/page", headers={"Accept-Encoding": "gzip"})
    plain = counting.client.get("/page", headers={"Accept-Encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert int(packed.headers["content-length"]) < len(plain.content) / 10
    assert len(packed.text) == len(plain.text)


def test_the_room_is_bounded_and_the_oldest_goes_first(tmp_path: Path) -> None:
    counting = Counting(tmp_path, room=12_000)
    headers = {"Accept-Encoding": "identity"}
    for number in (1, 2, 3, 3, 1):
        counting.client.get(f"/page?{number}", headers=headers)
    assert counting.made == 4


def test_many_who_ask_at_once_are_answered_by_one(counting: Counting) -> None:
    def ask(_: int) -> Any:
        return counting.client.get("/page").text

    with counting.client, ThreadPoolExecutor(16) as pool:
        texts = set(pool.map(ask, range(64)))
    assert len(texts) == 1
    assert counting.made == 1
