"""The site has every page, its references are generated, and nothing comes from elsewhere."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from benchyard import schemas
from benchyard.catalogue.formats import OTHERS
from benchyard.catalogue.formats.mindspore import MINDSPORE
from docs.site import build
from tests.docs.test_docs import commands, link_targets, options

LOADED = re.compile(
    r'<(?:script|img|link rel="(?:stylesheet|icon)")[^>]* (?:src|href)="(https?:[^"]+)'
)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "pages"
    build.make_pages(folder)
    return folder


def test_the_navigation_has_every_page_once(pages: Path) -> None:
    text = (build.ROOT / "mkdocs.yml").read_text()
    named = re.findall(r": ([\w/-]+\.md)$", text, re.MULTILINE)
    assert sorted(named) == sorted(str(p.relative_to(pages)) for p in pages.rglob("*.md"))


def test_each_link_leads_into_the_site_or_to_the_repository(pages: Path) -> None:
    for page in pages.rglob("*.md"):
        for target in link_targets(page):
            assert (page.parent / target.partition("#")[0]).exists(), f"{page}: {target}"
    repository = re.compile(rf"{re.escape(build.REPOSITORY)}/blob/main/([^)#\s]+)")
    for page in pages.rglob("*.md"):
        for path in repository.findall(page.read_text()):
            assert (build.ROOT / path).exists(), path


def test_the_commands_have_every_option(pages: Path) -> None:
    text = (pages / "reference/commands.md").read_text()
    for name, command in commands().items():
        [section] = re.findall(rf"^## {name}\n.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
        missing = {one for one in options(command) if f"{one}" not in section}
        assert missing == set(), name


def test_the_page_on_formats_has_each() -> None:
    text = (build.DOCS / "reference/formats.md").read_text()
    assert {one.name for one in (*MINDSPORE, *OTHERS) if f"`{one.name}`" not in text} == set()


def _properties(schema: Any) -> Iterator[tuple[str, Any]]:
    """Yield each property at any depth, with its schema."""
    if isinstance(schema, list):
        for item in cast("list[Any]", schema):
            yield from _properties(item)
    elif isinstance(schema, dict):
        fields = cast("dict[str, Any]", schema)
        found = fields.get("properties", {})
        yield from found.items() if isinstance(found, dict) else ()
        for item in fields.values():
            yield from _properties(item)


@pytest.mark.parametrize(
    ("page", "schema"),
    [("metadata", "case"), ("run-json", "run"), ("run-json", "summary"), ("run-json", "counters")],
)
def test_a_page_describes_every_key_of_its_format(pages: Path, page: str, schema: str) -> None:
    text = (pages / f"reference/{page}.md").read_text()
    keys = dict(_properties(schemas.load(schema)))
    assert {key for key in keys if f"| `{key}`" not in text} == set()
    described = {key for key, one in keys.items() if "description" in one or "const" in one}
    assert set(keys) == described


@pytest.mark.slow
@pytest.mark.requires("module:zensical")
def test_the_site_builds_without_a_warning_and_loads_nothing_from_elsewhere() -> None:
    made = subprocess.run(
        [sys.executable, "-m", "docs.site.build"],
        cwd=build.ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    assert "No issues found" in made.stdout + made.stderr
    for page in build.SITE.rglob("*.html"):
        assert LOADED.findall(page.read_text()) == []
        assert 'class="mermaid"' not in page.read_text()
