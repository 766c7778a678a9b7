"""The documentation says what the code does: its examples are files, its commands exist."""

import json
import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import click
import pytest

from benchyard import cli, schemas
from benchyard.cli.group import COMMANDS
from benchyard.cli.group import cli as group
from benchyard.core.errors import ExitCode
from tests.benchyard.catalogue.formats.samples import write

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))

_FENCE = re.compile(r"^( *)```([\w-]*)[^\n]*\n(.*?)^\1```\s*?$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--\s*(\S+)\s*-->\s*\Z")
_LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)|!\[[^\]\n]*\]\(([^)\s]+)\)")
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_CALL = re.compile(r"^(?:\$ )?(?:[A-Z_]+=\S+ )*benchyard +(.+)$")
_SHELLS = ("sh", "bash", "console", "shell")

every_page = pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix()
)


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Args:
        origin: The file that the comment before it names, or nothing.
    """

    language: str
    text: str
    origin: str


def blocks(page: Path) -> list[Block]:
    text = page.read_text()
    return [Block(found[2], found[3], _origin(text, found)) for found in _FENCE.finditer(text)]


def _origin(text: str, fence: re.Match[str]) -> str:
    comment = _COMMENT.search(text, max(0, fence.start() - 200), fence.start())
    return comment[1] if comment else ""


def block_of(page: str, origin: str) -> str:
    """Return the one block that stands for ``origin``."""
    [block] = [block for block in blocks(DOCS / page) if block.origin == origin]
    return block.text


def prose(page: Path) -> str:
    """Return a page without its blocks."""
    return _FENCE.sub("", page.read_text())


# -- blocks


def test_there_are_pages_to_look_at() -> None:
    names = {page.relative_to(DOCS).as_posix() for page in PAGES}
    assert {
        "how-to/cases.md",
        "reference/resources.md",
        "reference/results.md",
        "how-to/running.md",
    } <= names


@every_page
def test_blocks_are_closed_and_json_is_json_and_cases_are_their_files(page: Path) -> None:
    assert "```" not in prose(page)
    for block in blocks(page):
        if block.language == "json":
            json.loads(block.text)
        if block.origin.startswith("cases/"):
            assert block.text == (ROOT / block.origin).read_text(), block.origin


def test_every_example_is_quoted_in_the_case_format() -> None:
    quoted = {block.origin for block in blocks(DOCS / "how-to/cases.md")}
    examples = (ROOT / "cases" / "examples").glob("*/metadata.json")
    assert {str(path.relative_to(ROOT)) for path in examples} <= quoted


# -- links


@every_page
def test_every_relative_link_resolves(page: Path) -> None:
    for target in _links(page):
        place, _, anchor = target.partition("#")
        path = (page.parent / place).resolve() if place else page
        assert path.exists(), target
        if anchor and path.suffix == ".md":
            assert anchor in _anchors(path), target


def _links(page: Path) -> Iterator[str]:
    for found in _LINK.finditer(_SPAN.sub("", prose(page))):
        target = found[1] or found[2]
        if not re.match(r"[a-z]+:", target):
            yield target


def _anchors(page: Path) -> set[str]:
    text = prose(page)
    titles = re.findall(r"^#+ +(.+?) *$", text, re.MULTILINE)
    own = re.findall(r'<a id="([^"]+)"', text)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles} | {*own}


# -- commands


def _commands() -> dict[str, click.Command]:
    context = click.Context(group)
    found = {name: group.get_command(context, name) for name in COMMANDS}
    return {name: command for name, command in found.items() if command is not None}


def _options(command: click.Command) -> set[str]:
    own = {word for each in command.params for word in (*each.opts, *each.secondary_opts)}
    return {word for word in own if word.startswith("-")} | {"-h", "--help"}


def calls(page: Path) -> Iterator[list[str]]:
    """Yield the words after ``benchyard`` wherever a page calls it."""
    lines = [line for b in blocks(page) if b.language in _SHELLS for line in b.text.splitlines()]
    for line in [*lines, *_SPAN.findall(prose(page))]:
        found = _CALL.match(line.strip())
        if found:
            yield list(_words(found[1]))


def _words(text: str) -> Iterator[str]:
    for word in shlex.split(text, comments=True):
        if word in ("|", ">", "&&", ";", "||"):
            return
        yield word


@every_page
def test_every_command_and_option_exists(page: Path) -> None:
    commands = _commands()
    for words in calls(page):
        shown = " ".join(words)
        if words[0].startswith(("-", "…")):
            assert words[0] in _options(group) | {"…"}, shown
            continue
        assert words[0] in commands, shown
        known = _options(commands[words[0]])
        given = {word.partition("=")[0] for word in words[1:] if re.match(r"--?[a-z]", word)}
        assert given <= known, shown


def test_running_tells_every_command_and_option() -> None:
    """The options of a command stand there, or on the page that its line leads to."""
    text = (DOCS / "how-to/running.md").read_text()
    for name, command in _commands().items():
        (line,) = re.findall(rf"^\| `benchyard {name}` \|.*$", text, re.MULTILINE)
        pages = re.findall(r"\]\(([\w./-]+\.md)", line)
        told = "\n".join([text, *((DOCS / "how-to" / page).read_text() for page in pages)])
        for option in _options(command):
            assert re.search(rf"`{option}[ `=]", told), f"{name} {option}"


@pytest.mark.parametrize(
    "name",
    ["how-to/cases.md", "reference/resources.md", "reference/results.md", "how-to/running.md"],
)
def test_every_option_in_the_text_exists(name: str) -> None:
    known = set[str]().union(_options(group), *map(_options, _commands().values()))
    spans = _SPAN.findall(prose(DOCS / name))
    mentioned = {span.split()[0] for span in spans if span.startswith("--")}
    assert mentioned <= known


# -- formats


def _properties(schema: Any) -> Iterator[str]:
    """Yield the name of each property at any depth."""
    if isinstance(schema, list):
        for item in cast("list[Any]", schema):
            yield from _properties(item)
    elif isinstance(schema, dict):
        fields = cast("dict[str, Any]", schema)
        found = fields.get("properties", {})
        yield from found if isinstance(found, dict) else ()
        for item in fields.values():
            yield from _properties(item)


@pytest.mark.parametrize(
    ("page", "schema"), [("how-to/cases.md", "case"), ("reference/results.md", "run")]
)
def test_a_page_tells_every_key_of_its_format(page: str, schema: str) -> None:
    text = (DOCS / page).read_text()
    keys = set(_properties(schemas.load(schema)))
    assert {key for key in keys if f"`{key}`" not in text} == set()


# -- what the pages claim to be real is executed


def test_the_page_tells_the_broken_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "broken/data/shared/words.txt", b"word\n")
    case = block_of("how-to/cases.md", "broken/metadata.json").encode()
    folder = write(tmp_path, "broken/metadata.json", case).parent
    assert cli.call(["validate", str(folder)]) == ExitCode.WRONG_INPUT
    said = capsys.readouterr()
    real = (said.out + said.err).replace(str(tmp_path.resolve()), "/lab")
    page = DOCS / "how-to/cases.md"
    assert f"$ benchyard validate broken\n{real}" in {b.text for b in blocks(page)}


def test_the_class_in_the_pages_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    classes = tmp_path / "classes"
    for name in ("classes/static_server.py", "fetch/metadata.json"):
        write(tmp_path, name, block_of("reference/resources.md", name).encode())
    write(tmp_path, "fetch/data/shared/words.txt", b"word\n" * 2000)
    options = ["--root", str(tmp_path), "--resources", str(classes)]

    assert cli.call(["resources", "StaticServer", "--resources", str(classes)]) == ExitCode.DONE
    listed = capsys.readouterr().out
    assert any(listed in block.text for block in blocks(DOCS / "reference/resources.md"))

    run = ["run", str(tmp_path / "fetch"), "--direct", "--cooldown", "0", "--runs", "1"]
    assert cli.call([*run, *options]) == ExitCode.DONE
    record: Any = json.loads((tmp_path / "fetch/results/run_1/run.json").read_text())
    [step] = record["steps"]
    assert step["outcome"] == "completed"
    assert [r["values"]["bytes"] for r in step["attempts"][0]["repetitions"]] == [1_000_000] * 3
    of_the_host = re.compile("the lab itself|is suspect")
    assert [text for text in record["warnings"] if not of_the_host.search(text)] == []
    assert not _left_running(tmp_path)


def _left_running(folder: Path) -> list[str]:
    found: list[str] = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):
            found.append(str(link.readlink()))
    return [place for place in found if str(folder) in place]
