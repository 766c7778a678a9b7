"""The dashboards in the UI, looked at with a browser: what is to be seen, and nothing active."""

import json
import re
from pathlib import Path
from typing import Any, cast

import pytest

from benchyard.show.pages import key_of
from tests.conftest import MakeCase, process
from tests.flows.test_ui import Ui, ui

__all__ = ["ui"]

pytestmark = [pytest.mark.slow, pytest.mark.requires("chromium", "chromedriver")]

#: Would be an element, a link of a dangerous scheme, and a picture from somewhere else.
EVIL = "<img src=x onerror=alert(1)> [go](javascript:alert(2)) ![p](https://evil.example/p.png)"


def newest(ui: Ui, key: str) -> str:
    """Return the place of the newest artifact of a key."""
    wanted = {"artifacts": {"key": {"any_": [key]}}, "sort": "CREATED_DESC", "limit": 1}
    (found,) = cast("list[dict[str, Any]]", ui.server.ask("/artifacts/filter", wanted))
    return f"/artifacts/artifact/{found['id']}"


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
        page = ui.browser.page(newest(ui, key), "onerror=alert(1)")
        assert not re.search(r"<img[^>]*(?:onerror|evil|src=.?x\b)", page), key
        assert not re.search(r"href=.?javascript", page), key
    assert "data:image/svg+xml" not in ui.browser.page(newest(ui, keys[0]), "2 of 2")


def test_result_shows_numbers_and_curves(ui: Ui, tmp_path: Path) -> None:
    ui.execute("failures", "--root", "cases/examples", "--runs", "2", "--results", str(tmp_path))
    page = ui.browser.page(newest(ui, "result-example-failures"), "2 tolerated")
    assert re.search(r'<img[^>]*src="data:image/svg\+xml;base64,', page)
    ui.browser.keep_picture("result.png")
    retries = newest(ui, "retries-example-failures")
    page = ui.browser.page(retries, "01-Tolerated", "recovered", "2 of 2", "100 %")
    assert re.search(r'href="/runs/flow-run/[0-9a-f-]{36}"', page)
    ui.browser.keep_picture("retries.png")
    ui.browser.page("/artifacts", "retries-example-failures")
