"""Every page of the explorer, in Debian's Chromium: readable, reachable, and safe to look at.

The results are real ones, of cases whose names, logs and outputs contain markup, scripts and
escape sequences. With BENCHYARD_PICTURES naming a folder, a picture of each page is kept there.
"""

import base64
import json
import os
import re
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from tests.benchyard.catalogue.formats.samples import write, write_all
from tests.benchyard.catalogue.mindspore.writing import explain, sample, write_job
from tests.conftest import process
from tests.exploring import Surfer, crawl, serving, surfing

pytestmark = [pytest.mark.slow, pytest.mark.requires("chromium")]

_SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(2)>"
_HOSTILE = (
    f"{_SCRIPT} \x1b[31mred\x1b[0m \x1b]8;;http://evil.invalid\x07link\x1b]8;;\x07 &lt; $x_1$"
)
LOOKS: Mapping[str, Mapping[str, Any]] = {
    "light": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
    "no-script": {"viewport": {"width": 1280, "height": 900}, "java_script_enabled": False},
}
#: What axe looks at: in the dark and on a telephone, what differs there.
RULES: Mapping[str, Mapping[str, Any]] = {
    "light": {},
    "dark": {"runOnly": ["color-contrast"]},
    "phone": {"runOnly": ["scrollable-region-focusable", "target-size", "color-contrast"]},
}
#: A picture of one point, as PNG.
_PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def _put_case(root: Path, name: str, *steps: Mapping[str, Any], **more: Any) -> Path:
    folder = root / "cases" / re.sub(r"\W+", "-", name)
    (folder / "data" / "shared").mkdir(parents=True)
    document = {"@id": f"urn:test:{len(name)}", "name": name, "steps": steps, **more}
    (folder / "metadata.json").write_text(json.dumps(document))
    return folder


def _put_explain_job(folder: Path) -> None:
    names = {"label": [_SCRIPT, "dog"], "explain_method": ["Gradient", _SCRIPT]}
    maps = [
        {"explain_method": name, "label": 0, "heatmap_path": "_explain_1700000000/original/0.png"}
        for name in names["explain_method"]
    ]
    score = {"benchmark_method": _SCRIPT, "explain_method": _SCRIPT, "total_score": 0.5}
    write_job(
        folder,
        explain(metadata=names),
        sample(0, explanation=maps, hoc=[{"label": 0, "layer": [{"prob": 0.5}]}]),
        explain(benchmark=[score]),
    )
    picture = folder / "_explain_1700000000" / "original" / "0.png"
    picture.parent.mkdir(parents=True)
    picture.write_bytes(base64.b64decode(_PIXEL))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Execute some cases: good, failing, of a matrix, and with hostile texts everywhere."""
    root = tmp_path_factory.mktemp("explored")
    says = f"printf '%s' {json.dumps(_SCRIPT)}; printf '\\033[31mred\\n'"
    cases = [
        _put_case(root, "spin", process("spin", "sleep 0.02"), matrix={"threads": [1, 2, 4]}),
        _put_case(root, "fails", process("wrong", "echo '<b>why</b>' >&2; exit 3", retries=1)),
        _put_case(
            root,
            f"hostile {_SCRIPT[:40]}",
            process("say", says, parameters={"stdout_file": "<i>out.html"}),
            description=_HOSTILE,
            tags=["<b>tag</b>"],
        ),
    ]
    _put_explain_job(root / "explain")
    program = Path(sys.executable).with_name("benchyard")
    for case in cases:
        command = [program, "run", case, "--direct", "--cooldown", "0", "--runs", "6"]
        subprocess.run(command, check=False, capture_output=True)
    write_all(root / "others")
    write(root, "others/<i>.folded", b"<script>alert(1)</script>;<b>load</b> 3\n")
    return root


@pytest.fixture(scope="module")
def explorer(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    home = tmp_path_factory.mktemp("home")
    with serving(results, BENCHYARD_HOME=str(home)) as address:
        yield address


@pytest.fixture(scope="module")
def pages(explorer: str) -> dict[str, list[str]]:
    with surfing(explorer) as surfer:
        return crawl(surfer)


def test_links_lead_to_every_kind_of_page(pages: dict[str, list[str]]) -> None:
    lists = {"/", "/runs", "/cases", "/failures", "/testbeds", "/entries", "/profiles/difference"}
    expected = lists | {"/run/ID", "/case/ID", "/explain/ID", "/entry/ID", "/entry/ID/flame"}
    assert expected <= set(pages)


@pytest.mark.parametrize("look", LOOKS)
def test_pages_fit_complain_of_nothing_and_are_accessible(
    look: str, explorer: str, pages: dict[str, list[str]]
) -> None:
    found: list[str] = []
    with surfing(explorer, **LOOKS[look]) as surfer:
        for address, *_ in pages.values():
            surfer.open(address)
            if look == "phone" and surfer.width_of_content() > 390:
                found.append(f"{address}: {surfer.width_of_content()} px wide")
            if look in RULES:
                found += [f"{address}: {one}" for one in complaints(surfer.page, RULES[look])]
            keep_picture(surfer, address, look)
        assert not surfer.trouble
    assert not found, "\n".join(found)


def complaints(page: Page, rules: Mapping[str, Any]) -> list[str]:
    """Return what keeps people from a page, as axe says it."""
    page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text())
    answer: Mapping[str, Any] = page.evaluate("rules => axe.run(rules)", rules)
    return [
        f"{one['id']}: {one['help']}: {[node['target'] for node in one['nodes']][:3]}"
        for one in answer["violations"]
        if one["impact"] in ("serious", "critical")
    ]


def test_hostile_texts_are_texts(explorer: str, pages: dict[str, list[str]]) -> None:
    """Scripts in names, logs and outputs neither run nor become elements."""
    shown = False
    with surfing(explorer) as surfer:
        for address in [one for some in pages.values() for one in some]:
            surfer.open(address)
            assert surfer.page.locator("img[src='x'], main b, main i > *").count() == 0, address
            shown = shown or "<script>alert(1)" in surfer.page.inner_text("body")
            assert "\x1b" not in surfer.page.inner_text("body"), address
        assert not surfer.trouble
    assert shown


def test_the_keyboard_reaches_everything(explorer: str) -> None:
    with ExitStack() as stack:
        surfer = stack.enter_context(surfing(explorer))
        surfer.open("/runs")
        surfer.page.keyboard.press("Tab")
        assert surfer.page.evaluate("document.activeElement.getAttribute('href')") == "#main"
        focused = set[str]()
        for _ in range(200):
            surfer.page.keyboard.press("Tab")
            focused.add(surfer.page.evaluate("document.activeElement.href || ''"))
        first = surfer.page.eval_on_selector_all("nav a", "all => all.map(a => a.href)")
        assert set(first) <= focused


def keep_picture(surfer: Surfer, address: str, look: str) -> None:
    """Keep a picture of a page, if BENCHYARD_PICTURES names a folder for it."""
    folder = os.environ.get("BENCHYARD_PICTURES")
    if folder:
        name = re.sub(r"\W+", "-", urlsplit(address).path).strip("-") or "first"
        surfer.page.screenshot(path=Path(folder) / f"{name[:60]}.{look}.png", full_page=True)
