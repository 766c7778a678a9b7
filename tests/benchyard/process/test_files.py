"""What programs say reaches the disk without secrets: at once, in bounded memory, whatever dies."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from pathlib import Path

import pytest

from benchyard.core.redaction import Redaction
from benchyard.process.children import spawn
from benchyard.process.files import kept_output, temporary_folder
from tests.children import ending
from tests.conftest import eventually

WORD = "swordfish-9"


@pytest.fixture
def known() -> Redaction:
    redaction = Redaction()
    redaction.add(WORD)
    return redaction


def say(script: str, file: Path) -> None:
    with kept_output(file) as stream:
        child = spawn(["sh", "-c", script], folder=file.parent, stdout=stream)
        assert child.wait().exit_status == 0


def test_without_secrets_a_program_writes_its_file_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Those of earlier tests are known until they are collected.
    monkeypatch.setattr("benchyard.core.redaction._known", weakref.WeakSet[Redaction]())
    say(f"readlink /proc/self/fd/1; echo {WORD}", tmp_path / "said")
    assert (tmp_path / "said").read_text() == f"{tmp_path / 'said'}\n{WORD}\n"


@pytest.mark.usefixtures("known")
def test_all_that_was_said_is_there_at_the_end(tmp_path: Path) -> None:
    say(f"echo {WORD} sword; printf swordfi", tmp_path / "said")
    assert (tmp_path / "said").read_text() == "****** sword\nswordfi"
    assert not [one for one in threading.enumerate() if one.name == "kept output"]


@pytest.mark.slow
@pytest.mark.usefixtures("known")
def test_what_a_daemon_says_later_follows(tmp_path: Path) -> None:
    later = tmp_path / "later"
    script = f"(until [ -e {later} ]; do sleep 0.05; done; echo late {WORD}) & echo now {WORD}"
    said = tmp_path / "said"
    say(script, said)
    assert said.read_text() == "now ******\n"
    later.touch()
    assert eventually(lambda: said.read_text() == "now ******\nlate ******\n", 60)


_LAB = """
import sys
from pathlib import Path
from benchyard.process.children import spawn
from benchyard.process.files import kept_output
from benchyard.core.redaction import Redaction
known = Redaction()
known.add(sys.argv[2])
with kept_output(Path(sys.argv[1])) as stream:
    spawn(["sh", "-c", sys.argv[3]], folder=Path("/"), stdout=stream).wait()
"""


@pytest.mark.slow
def test_nothing_is_on_the_disk_after_kill_9_in_the_middle(tmp_path: Path) -> None:
    said = tmp_path / "said"
    script = f"while :; do echo 'the word is {WORD}, in a line'; done"
    with ending(subprocess.Popen([sys.executable, "-c", _LAB, said, WORD, script])) as lab:
        assert eventually(lambda: said.exists() and said.stat().st_size > 100_000, 120)
        lab.send_signal(signal.SIGKILL)
    found = said.read_bytes()
    assert b"the word is ******, in a line\n" in found
    assert b"sword" not in found


@pytest.mark.slow
def test_much_output_takes_little_memory(tmp_path: Path) -> None:
    said = tmp_path / "said"
    script = f"yes 'some text and {WORD} of a line that goes on' | head -c 200000000"
    # Not getrusage, whose peak began with that of these tests.
    peak = "next(line.split()[1] for line in open('/proc/self/status') if line[:5] == 'VmHWM')"
    program = f"{_LAB}\nprint({peak})"
    ended = subprocess.run(
        [sys.executable, "-c", program, said, WORD, script],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(ended.stdout) * 1024 < 150_000_000
    assert said.stat().st_size > 150_000_000
    with said.open("rb") as file:
        file.seek(-100_000, os.SEEK_END)
        assert b"sword" not in file.read()


#: Says which folder it has made, and kills itself.
_KILLED = """
import os, pathlib, sys
from benchyard.process.files import temporary_folder
with temporary_folder(*map(pathlib.Path, sys.argv[1:])) as folder:
    (folder / "a").touch()
    print(folder, flush=True)
    os.kill(os.getpid(), 9)
"""


def killed(*beside: Path) -> Path:
    """Return the folder that a process has left that was killed."""
    words = [sys.executable, "-c", _KILLED, *map(str, beside)]
    ended = subprocess.run(words, check=False, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL
    left = Path(ended.stdout.strip())
    assert (left / "a").is_file()
    return left


def test_it_is_gone_afterwards_unless_it_was_renamed(tmp_path: Path) -> None:
    with temporary_folder(tmp_path) as folder:
        assert folder.parent == tmp_path
    with temporary_folder(tmp_path) as folder:
        folder.rename(tmp_path / "kept")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_the_next_removes_those_of_the_killed_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = tmp_path / "system"
    system.mkdir()
    monkeypatch.setenv("TMPDIR", str(system))
    monkeypatch.setattr(tempfile, "tempdir", None)
    (tmp_path / ".benchyard-temporary_of-somebody").mkdir()
    with temporary_folder(tmp_path) as own:
        left = [killed(), killed(tmp_path)]
        with temporary_folder(tmp_path):
            assert own.is_dir()
        assert not any(folder.exists() for folder in left)
    assert [path.name for path in tmp_path.glob(".*")] == [".benchyard-temporary_of-somebody"]
