"""The dashboards in the UI, looked at with a browser: what is to be seen, and nothing active."""

import json
import os
import re
import shutil
import urllib.request
from pathlib import Path
from typing import Any, cast

import pytest

from benchyard.pages import key_of
from tests.conftest import MakeCase, process
from tests.flows.test_ui import Ui, ui

__all__ = ["ui"]

pytestmark = [pytest.mark.slow, pytest.mark.requires("chromium")]

#: Would be an element, a link of a dangerous scheme, and a picture from somewhere else.
EVIL = "<img src=x onerror=alert(1)> [go](javascript:alert(2)) ![p](https://evil.example/p.png)"


def newest(ui: Ui, key: str) -> str:
    """Return the place of the newest artifact of a key."""
    wanted = {"artifacts": {"key": {"any_": [key]}}, "sort": "CREATED_DESC", "limit": 1}
    request = urllib.request.Request(  # noqa: S310 - our own server
        f"{ui.url}/api/artifacts/filter",
        json.dumps(wanted).encode(),
        {"content-type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:  # noqa: S310
        (found,) = cast("list[dict[str, Any]]", json.load(answer))
    return f"/artifacts/artifact/{found['id']}"


def keep_picture(ui: Ui, page: str, name: str) -> None:
    file = ui.scratch / name
    ui.picture(page, file)
    assert file.stat().st_size > 20_000
    wanted = os.environ.get("BENCHYARD_PICTURES")
    if wanted:
        shutil.copy(file, Path(wanted) / name)


def test_retries_are_found_and_hostile_texts_stay_texts(ui: Ui, case_folder: MakeCase) -> None:
    script = f"cat >&2 <<'END'\n{EVIL}\nEND\nexit 3"
    bad = {**process("bad", script, may_fail=True, retries=1), "name": f"Bad {EVIL}"}
    case = case_folder("evil", bad, process("fine", "true"))
    title = f"evil {EVIL}"
    metadata = json.loads((case / "metadata.json").read_text())
    (case / "metadata.json").write_text(json.dumps(metadata | {"name": title}))
    ui.execute(str(case), "--runs", "1")

    keys = [key_of(kind, title) for kind in ("retries", "retry-table", "result")]
    for key in (*keys, "retries", "retry-table"):
        page = ui.page(newest(ui, key))
        assert "onerror=alert(1)" in page.replace("&quot;", '"'), f"{key}: the text is to be read"
        assert not re.search(r"<img[^>]*(?:onerror|evil|src=.?x\b)", page), key
        assert not re.search(r"href=.?javascript", page), key
    assert "2 of 2" in ui.page(newest(ui, keys[0]))
    assert "data:image/svg+xml" not in ui.page(newest(ui, keys[0]))


def test_result_shows_numbers_and_curves(ui: Ui, tmp_path: Path) -> None:
    ui.execute("failures", "--root", "cases/examples", "--runs", "2", "--results", str(tmp_path))
    place = newest(ui, "result-example-failures")
    page = ui.page(place)
    assert "2 tolerated" in page
    assert re.search(r'<img[^>]*src="data:image/svg\+xml;base64,', page)
    keep_picture(ui, place, "result.png")
    retries = newest(ui, "retries-example-failures")
    page = ui.page(retries)
    for text in ("01-Tolerated", "recovered", "2 of 2", "100 %"):
        assert text in page
    assert re.search(r'href="/runs/flow-run/[0-9a-f-]{36}"', page)
    keep_picture(ui, retries, "retries.png")
    assert "retries-example-failures" in ui.page("/artifacts")
