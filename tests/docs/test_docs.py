"""The documentation says what the code does: its examples are files, its commands exist."""

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

from benchyard import cli
from benchyard.cli.group import COMMANDS
from benchyard.cli.group import cli as group
from benchyard.core.errors import ExitCode
from docs.site import build
from tests.benchyard.catalogue.formats.samples import write

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    *sorted(page for page in DOCS.rglob("*.md") if "decisions" not in page.as_posix()),
]
#: Pages that are made with the site.
_GENERATED = {DOCS / f"reference/{name}.md": text for name, text in build.GENERATED.items()}

_FENCE = re.compile(r"^( *)```([\w-]*)[^\n]*\n(.*?)^\1```\s*?$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--\s*(\S+)\s*-->\s*\Z")
_LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)|!\[[^\]\n]*\]\(([^)\s]+)\)")
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_CALL = re.compile(r"^(?:\$ )?(?:[A-Z_]+=\S+ )*benchyard +(.+)$")
#: Options of the Datastore emulator, pytest and Prefect, and arguments in published documents.
_OF_OTHERS = {
    *("--batch-bytes", "--data", "--index", "--legacy", "--port", "--dist"),
    *("--no-loadscope-reorder", "--param", "--started-at", "--step.late", "--subject"),
    *("--benchmark-json", "--benchmark-autosave", "--benchmark-compare", "--export-json"),
    *("--benchmark-compare-fail", "--benchmark-save-data"),
}
_SHELLS = ("sh", "bash", "console", "shell")

every_page = pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix()
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


@every_page
def test_blocks_are_closed_and_json_is_json_and_cases_are_their_files(page: Path) -> None:
    assert "```" not in prose(page)
    for block in blocks(page):
        if block.language == "json":
            json.loads(block.text)
        if block.origin.startswith("cases/"):
            assert block.text == (ROOT / block.origin).read_text(), block.origin


def test_every_example_is_in_the_page_on_cases() -> None:
    text = (DOCS / "how-to/cases.md").read_text()
    examples = (ROOT / "cases" / "examples").glob("*/metadata.json")
    assert [path for path in examples if str(path.relative_to(ROOT)) not in text] == []


#: Words that hide who does what, and what docs once said wrongly.
_BANNED = re.compile(
    r"\b(is told|tells|stands|nobody|that of an?|history CASE|compact NAME|cgroup_at)\b",
    re.IGNORECASE,
)


@every_page
def test_no_page_has_a_banned_word(page: Path) -> None:
    assert _BANNED.findall(prose(page)) == []


@every_page
def test_lines_of_prose_have_at_most_120_characters(page: Path) -> None:
    lines = [line for line in prose(page).splitlines() if not line.startswith(("|", "!["))]
    assert [line for line in lines if len(line) > 120] == []


# -- links


@every_page
def test_every_relative_link_resolves(page: Path) -> None:
    for target in link_targets(page):
        place, _, anchor = target.partition("#")
        path = (page.parent / place).resolve() if place else page
        if path in _GENERATED:
            assert not anchor or anchor in _anchors("".join(_GENERATED[path]())), target
            continue
        assert path.exists(), target
        if anchor and path.suffix == ".md":
            assert anchor in _anchors(path.read_text()), target


def link_targets(page: Path) -> Iterator[str]:
    for found in _LINK.finditer(_SPAN.sub("", prose(page))):
        target = found[1] or found[2]
        if not re.match(r"[a-z]+:", target):
            yield target


def _anchors(text: str) -> set[str]:
    text = _FENCE.sub("", text)
    titles = re.findall(r"^#+ +(.+?) *$", text, re.MULTILINE)
    own = re.findall(r'<a id="([^"]+)"', text)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles} | {*own}


# -- commands


def commands() -> dict[str, click.Command]:
    context = click.Context(group)
    found = {name: group.get_command(context, name) for name in COMMANDS}
    return {name: command for name, command in found.items() if command is not None}


def options(command: click.Command) -> set[str]:
    """Return the options that a command's help shows."""
    shown = (each for each in command.params if not getattr(each, "hidden", False))
    own = {word for each in shown for word in (*each.opts, *each.secondary_opts)}
    return {word for word in own if word.startswith("-")} | {"-h", "--help"}


def calls(page: Path) -> Iterator[list[str]]:
    """Yield the words after ``benchyard`` wherever a page calls it."""
    shell = [b.text.replace("\\\n", " ") for b in blocks(page) if b.language in _SHELLS]
    lines = [line for text in shell for line in text.splitlines()]
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
    known_commands = commands()
    for words in calls(page):
        shown = " ".join(words)
        if words[0].startswith(("-", "…")):
            assert words[0] in options(group) | {"…"}, shown
            continue
        assert words[0] in known_commands, shown
        known = options(known_commands[words[0]])
        given = {word.partition("=")[0] for word in words[1:] if re.match(r"--?[a-z]", word)}
        assert given <= known, shown


@every_page
def test_every_option_in_the_text_exists(page: Path) -> None:
    known = set[str]().union(options(group), *map(options, commands().values()))
    spans = _SPAN.findall(prose(page))
    mentioned = {re.split("[ =]", span)[0] for span in spans if span.startswith("--")}
    assert mentioned - _OF_OTHERS <= known


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
