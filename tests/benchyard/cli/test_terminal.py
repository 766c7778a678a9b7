"""What others wrote is shown and never obeyed: names, tags, values, files, what programs said."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.cli import call
from benchyard.cli.terminal import print_json, print_table, safe, say, styled
from benchyard.core.table import text_table
from tests.benchyard.cli.conftest import seen_in_a_terminal
from tests.benchyard.show.shipyard.conftest import START, prepared, row
from tests.conftest import process

#: A window's title, a colour, a C1 code, marks of direction, and what a line must not hold.
EVIL = "\x1b]0;owned\x07\x1b[31m\x9b2J\u202e\u2066\u200f\u061c\x7f\r[bold]"
#: The same without C0, for names of cases and steps: these may not have it.
NAME = "x\x9b2J\u202e\u2066\u200f\u061c[bold]"
#: ``EVIL`` and a byte that is no text, for names of files.
FILE = EVIL + os.fsdecode(b"\xff")
SAY = (
    r"sleep 0.4; printf '\033]0;owned\007\233\342\200\256bad\377' >&2; "
    r'touch "$(printf "a\033]0;b\377")"'
)
QUIET = ("--direct", "--runs", "1", "--cooldown", "0", "--interval", "0.05")


@dataclass(frozen=True)
class Lab:
    """Two cases whose names, tags, values and files are full of escapes, executed and published."""

    root: Path
    env: Mapping[str, str]

    def call(self, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
        """Run the command line in a process of its own."""
        return subprocess.run(
            [Path(sys.executable).with_name("benchyard"), *arguments],
            cwd=self.root,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=300,
        )

    def here(self, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
        """Run the command line in this process, with streams as strict as those of one."""
        streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.root)
            for name, value in self.env.items():
                patch.setenv(name, value)
            patch.setattr(sys, "stdout", streams[0])
            patch.setattr(sys, "stderr", streams[1])
            code = call(list(arguments))
        return subprocess.CompletedProcess(arguments, code, *map(_written, streams))

    @property
    def store(self) -> str:
        return f"local:{self.root / 'store.sqlite'}"


def make_case(root: Path, name: str, *steps: Mapping[str, Any], **more: Any) -> None:
    folder = root / "cases" / name
    (folder / "data" / "shared").mkdir(parents=True)
    (folder / "data" / "shared" / FILE.replace("/", "")).write_text("")
    document = {"@id": f"urn:{EVIL}:{name}", "name": f"{name}{NAME}", "steps": steps, **more}
    (folder / "metadata.json").write_text(json.dumps(document))


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    root = tmp_path_factory.mktemp("escapes")
    more = {"tags": [EVIL], "description": EVIL}
    step = {**process(f"works{EVIL}", SAY), "name": f"works{NAME}"}
    make_case(root, "good", step, matrix={"scale": [EVIL]}, **more)
    broken = {**process("breaks", f"{SAY}; exit 3"), "name": f"breaks{NAME}"}
    make_case(root, "bad", broken, **more)
    make_case(root, "wrong", {**step, "command": EVIL}, **more, **{EVIL: 1})
    rows = [*prepared(EVIL), row(START, EVIL, EVIL)]
    (root / "rows.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    for name in ("waits", "goes"):
        (root / name).mkdir()
        (root / name / f"{FILE}.json").write_text('{"entries": {}}')
    (root / "classes").mkdir()
    (root / "classes" / "broken.py").write_text(f"raise RuntimeError({EVIL!r})\n")
    home = {"BENCHYARD_HOME": str(root / "home"), "BENCHYARD_LOCK": str(root / "lock")}
    made = Lab(root, {**os.environ, **home, "PYTHONIOENCODING": "utf-8"})
    for case in ("good", "bad"):
        ended = made.call("run", f"cases/{case}", *QUIET, "--publish", made.store)
        assert ended.returncode == (case == "bad"), ended.stderr
    made.call("run", "cases/good", *QUIET, "--publish", "none", "--results", "other")
    return made


def hostile(output: bytes) -> str:
    """Return the characters that a terminal would obey, or could not show."""
    text = output.decode(errors="surrogateescape")
    return "".join(sorted({c for c in text if not c.isprintable() and c not in "\n\t"}))


COMMANDS: dict[str, tuple[str, ...]] = {
    "list": ("list",),
    "validate": ("validate",),
    "run": ("run", "cases/bad", *QUIET, "--publish", "none", "--verbose"),
    "plan": ("run", "cases/good", "--dry-run", "--force"),
    "suite": ("suite", "--dry-run"),
    "stats": ("stats",),
    "compare": ("compare", "cases/good/results", "other"),
    "publish": ("publish", "--datadir", "goes", "--sink", "STORE", "--retries", "0"),
    "waiting": ("publish", "--datadir", "waits", "--sink", "STORE", "--dry-run"),
    "history": ("history", "--sink", "STORE"),
    "failures": ("failures",),
    "plot": ("plot", "cases/bad", "--out", f"{EVIL}.svg"),
    "graph": ("graph", "rows.jsonl"),
    "clean": ("clean",),
    "resources": ("resources", "--resources", "classes", EVIL),
    "option": ("run", "--interval", EVIL),
    "unknown": (EVIL,),
    "doctor": ("doctor", "--look", "0", "--results", FILE),
}
#: Folders of results have names of their own, and a host's fitness is told without a folder's.
SAYS_NONE = ("clean", "doctor")


@pytest.mark.slow
@pytest.mark.parametrize("name", list(COMMANDS))
def test_no_command_passes_an_escape_on(lab: Lab, name: str) -> None:
    ended = lab.here(*(word.replace("STORE", lab.store) for word in COMMANDS[name]))
    assert ended.returncode != 4, ended.stderr
    assert hostile(ended.stdout) == hostile(ended.stderr) == ""
    told = ended.stdout + ended.stderr
    assert name in SAYS_NONE or b"\\x9b" in told or b"\\x1b" in told, told


JSON = ("list", "validate", "plan", "suite", "stats", "compare", "waiting", "history", "failures")


@pytest.mark.slow
@pytest.mark.parametrize("name", JSON)
def test_json_has_them_escaped_and_means_the_same(lab: Lab, name: str) -> None:
    words = (word.replace("STORE", lab.store) for word in COMMANDS[name])
    ended = lab.here(*words, "--json")
    assert hostile(ended.stdout) == hostile(ended.stderr) == ""
    read = repr(json.loads(ended.stdout))
    # Sentences have them escaped already, and not whole.
    assert any(repr(text)[1:-1] in read for text in (NAME, EVIL, safe(NAME), safe(EVIL)[:20]))


@pytest.mark.slow
def test_the_lock_holders_words_are_escaped(lab: Lab) -> None:
    holds = "import fcntl; f = open('lock', 'a'); fcntl.flock(f, 2); print(flush=True); input()"
    holding = subprocess.Popen(
        [sys.executable, "-c", holds], cwd=lab.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with holding:
        assert holding.stdout
        assert holding.stdin
        assert holding.stdout.readline()
        holder = {"pid": holding.pid, "user": NAME, "purpose": EVIL, "since": EVIL}
        (lab.root / "lock").write_text(json.dumps(holder))
        ended = lab.call("run", "cases/good", *QUIET, "--force", "--no-wait")
        holding.stdin.write(b"\n")
        holding.stdin.flush()
    assert ended.returncode == 1
    assert hostile(ended.stdout) == hostile(ended.stderr) == ""
    assert b"\\x1b]0;owned" in ended.stderr


@pytest.mark.slow
def test_a_live_line_is_escaped_in_a_terminal(lab: Lab) -> None:
    env = {**lab.env, "TERM": "xterm", "COLUMNS": "300"}
    _, seen = seen_in_a_terminal("run", "cases/bad", *QUIET, cwd=lab.root, env=env)
    text = seen.decode(errors="surrogateescape")
    assert "\\x9b2J\\u202e" in text
    assert "[bold]" in text
    assert [mark for mark in ("\x1b]", "\x07", *"\x9b\u202e\u2066\u200f") if mark in text] == []


# -- the parts


@given(st.text())
def test_whatever_is_said_is_printable(text: str) -> None:
    shown = safe(text)
    assert all(c.isprintable() or c in "\n\t" for c in shown)
    assert safe(shown) == shown


@given(st.text())
def test_json_is_printable_and_means_the_same(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        printed = _printed(patch, lambda: print_json({text: [text]}))
    assert all(c.isprintable() or c == "\n" for c in printed)
    assert json.loads(printed) == {text: [text]}


def _printed(patch: pytest.MonkeyPatch, act: Callable[[], None]) -> str:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    patch.setattr(sys, "stdout", stream)
    act()
    return _written(stream).decode()


def _written(stream: io.TextIOWrapper) -> bytes:
    stream.flush()
    written = stream.buffer
    assert isinstance(written, io.BytesIO)
    return written.getvalue()


def test_our_own_colours_stay_and_others_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert styled("a\x1b[31m", fg="red") == "\x1b[31ma\\x1b[31m\x1b[0m"
    assert safe(styled("a", bold=True)) == "\x1b[1ma\x1b[0m"
    assert "\x1b" not in safe(styled("a", bold=True) + "b")


def test_columns_are_aligned_by_what_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(text_table(("A", "B"), [("x\ny", "1"), ("\x1b", "2")]))
    say("a", styled("\x07", bold=True), "\x1b[1m")
    assert capsys.readouterr().out == "A     B\nx\\ny  1\n\\x1b  2\na\\x07\\x1b[1m\n"
