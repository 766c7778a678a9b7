"""Each page is executed from an empty home, block by block, as a reader would.

A comment on the line before a block marks it:

- ``<!-- execute -->``, ``<!-- execute: 3 -->``: execute it here, and expect that exit code;
- ``<!-- file: NAME -->``: write it to that file;
- ``<!-- tested: PATH -->``: that test executes it, since it needs a server, a cloud or minutes;
- ``<!-- main -->``, ``<!-- test -->``: CI executes it in a clone (``.ci/run``).

``<!-- prepare``, shell commands, ``-->`` are executed and not shown. ``$REPOSITORY`` is the root of
the checkout. Of a ``console`` block the lines after ``$ `` are executed, with what continues them.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: Programs that a page executes and a fresh machine may lack.
NEEDS = {"history": ["sqlite3"]}
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_PART = re.compile(
    r"^<!-- prepare\n(?P<prepare>.*?)^-->$"
    r"|(?P<marks>(?:^ *<!--[^\n]*-->\n)*)"
    r"^(?P<indent> *)```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
_MARK = re.compile(r"<!-- (execute|file|tested|main|test)(?:: (\S+))? -->")
_COMMAND = re.compile(r"^ *\$ ((?:.*\\\n)*.*)$", re.MULTILINE)
_CALL = re.compile(r"(?:^|[ /;&|(])benchyard +[a-z-]", re.MULTILINE)

every_page = pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix()
)


@dataclass(frozen=True)
class Block:
    """A block: its mark with what it is given, its text, and the commands to execute."""

    mark: str
    given: str
    text: str
    commands: str


def _blocks(page: Path) -> Iterator[Block]:
    for part in _PART.finditer(page.read_text()):
        if part["prepare"]:
            yield Block("execute", "", part["prepare"], part["prepare"])
            continue
        console = "\n".join(_COMMAND.findall(part["text"]))
        commands = {"sh": part["text"], "bash": part["text"], "console": console}
        mark, given = (_MARK.findall(part["marks"]) or [("", "")])[0]
        yield Block(mark, given, part["text"], commands.get(part["language"], ""))


@every_page
def test_every_call_is_executed(page: Path) -> None:
    """What a page shows and no test executes goes wrong in silence."""
    blocks = list(_blocks(page))
    unmarked = [block.text for block in blocks if not block.mark and _CALL.search(block.commands)]
    assert unmarked == []
    assert [b.given for b in blocks if b.mark == "tested" and not (ROOT / b.given).exists()] == []


def _to_follow() -> list[object]:
    return [
        pytest.param(page, id=page.stem, marks=pytest.mark.requires(*NEEDS.get(page.stem, ())))
        for page in PAGES
        if any(block.mark == "execute" for block in _blocks(page))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("page", _to_follow())
def test_a_page_can_be_followed(page: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for block in _blocks(page):
        if block.mark == "file":
            file = home / block.given
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text)
        elif block.mark == "execute":
            _execute(block.commands, home, int(block.given or 0))


def _execute(commands: str, home: Path, code: int) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    kept = {name: os.environ[name] for name in ("BENCHYARD_LOCK", "LANG") if name in os.environ}
    ended = subprocess.run(
        ["/bin/bash", "-euo", "pipefail", "-c", commands],
        cwd=home,
        env={**kept, "PATH": path, "HOME": str(home), "REPOSITORY": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert ended.returncode == code, f"{commands}\n{ended.stdout}"
    assert "Traceback" not in ended.stdout, ended.stdout
