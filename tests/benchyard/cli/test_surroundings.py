"""Whatever shell, locale or terminal the command is called from: no internal error, a code."""

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from benchyard.cli import call
from tests.benchyard.cli.conftest import Cli
from tests.conftest import MakeCase, RunBenchyard, eventually, process
from tests.databases import put_database

PROGRAM = Path(sys.executable).with_name("benchyard")
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
LATIN_1 = {"PYTHONIOENCODING": "iso-8859-1", **ASCII}
DEEP = "[" * 100_000


@pytest.fixture
def case(case_folder: MakeCase) -> Path:
    return case_folder("one", process("schrïtt ✓", "echo uni"))


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["2>&-", ">&-", "0<&-", "0<&- >&- 2>&-"])
@pytest.mark.parametrize("command", ["run --direct --runs 1", "list --json", "doctor --look 0"])
def test_closed_streams_are_no_error(case: Path, closed: str, command: str) -> None:
    script = f"exec {PROGRAM} {command} {closed}"
    ended = subprocess.run(
        ["/bin/sh", "-c", script], cwd=case.parent, capture_output=True, check=False
    )
    assert ended.returncode == 0, ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("locale", [ASCII, LATIN_1], ids=["ascii", "latin-1"])
def test_a_locale_without_our_characters_is_no_error(
    case: Path, run_benchyard: RunBenchyard, locale: dict[str, str]
) -> None:
    inherited = {key: os.environ[key] for key in os.environ if not key.startswith("LC_")}
    for command in (["list"], ["validate"], ["run", "--direct", "--runs", "1"], ["stats"]):
        environment = {**inherited, **locale}
        ended = run_benchyard(*command, cwd=case.parent, env=environment, errors="replace")
        assert ended.returncode == 0, ended.stderr


@pytest.mark.slow
def test_a_folder_that_is_no_unicode_is_no_error(
    case_folder: MakeCase, run_benchyard: RunBenchyard, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = case_folder(os.fsdecode(b"bytes\xff"), process("a", "true"))
    (case / "metadata.json").write_text(
        (case / "metadata.json").read_text().replace("bytes\\udcff", "bytes")
    )
    ended = run_benchyard("run", "--runs", "1", "--direct", cwd=case.parent)
    assert ended.returncode == 0, ended.stderr
    # Before anything is started or asked: nobody listens there.
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:1/api")
    ended = run_benchyard("run", "--runs", "2", cwd=case.parent)
    assert ended.returncode == 2, ended.stderr
    assert "rename the folder, or use --direct" in ended.stderr


@pytest.mark.slow
def test_a_summary_full_of_brackets_is_a_sentence_or_written_anew(
    case: Path, run_here: Cli
) -> None:
    run_here("run", case, "--direct", "--runs", "1")
    for name in ("summary.json", "run_1/run.json", "tries.jsonl", "run_1/events.jsonl"):
        (case / "results" / name).write_text(DEEP)
        for command in ("run", "stats", "failures"):
            options = ["--direct", "--runs", "1"] if command == "run" else []
            assert call([command, str(case), *options]) in {0, 1, 2}, (name, command)


@contextmanager
def in_a_terminal(case: Path, up: Path) -> Generator[tuple["subprocess.Popen[bytes]", bytearray]]:
    """Run a case through Prefect in a terminal; give it once its step runs, with what it says."""
    ours, theirs = pty.openpty()
    said = bytearray()

    def read() -> None:
        try:
            while chunk := os.read(ours, 65536):
                said.extend(chunk)
        except OSError:  # nobody has the other end any more
            return

    with subprocess.Popen(
        [PROGRAM, "run", case, "--prefect", "--runs", "1"],
        cwd=case.parent,
        start_new_session=True,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as lab:
        os.close(theirs)
        reader = Thread(target=read)
        reader.start()
        try:
            assert eventually(lambda: up.exists() or lab.poll() is not None, 180)
            yield lab, said
        finally:
            lab.kill()
            reader.join(60)
            os.close(ours)


@pytest.mark.slow
@pytest.mark.parametrize(
    "signals",
    [
        [signal.SIGTERM],
        pytest.param([signal.SIGINT, signal.SIGTERM], marks=pytest.mark.long),
        [signal.SIGINT] * 10,
        pytest.param([signal.SIGTERM] * 10, marks=pytest.mark.long),
    ],
    ids=["SIGTERM", "Ctrl-C and SIGTERM", "ten Ctrl-C", "ten SIGTERM"],
)
def test_signals_under_prefect_end_with_130_and_a_cursor(
    case_folder: MakeCase, tmp_path: Path, signals: list[signal.Signals]
) -> None:
    put_database(Path(os.environ["PREFECT_HOME"], "prefect.db"))
    case = case_folder("long", process("wait", f"echo > {tmp_path / 'up'}; sleep 300"))
    with in_a_terminal(case, tmp_path / "up") as (lab, said):
        for number in signals:
            lab.send_signal(number)
            # As a user presses: the next one comes when this one has been heard, or at the end.
            eventually(lambda: lab.poll() is not None, 0.1)
        code = lab.wait(120)
    told = said.decode(errors="replace")
    assert code == 130, told
    assert told.rfind("\x1b[?25h") > told.rfind("\x1b[?25l"), "the cursor is hidden"
    assert "Traceback" not in told
    assert told.rstrip().endswith("benchyard: interrupted")
