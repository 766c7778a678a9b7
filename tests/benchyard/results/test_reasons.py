"""Why something failed, as a line."""

import os
from pathlib import Path

import pytest

from benchyard.core.model import Outcome
from benchyard.results.reasons import (
    fail_alike,
    failed_alike,
    reason,
    shorten_error,
    telling_line,
    why_failed,
)
from benchyard.results.record import ErrorRecord, RunRecord
from tests.benchyard.analysis.comparison.conftest import failed, run, step
from tests.conftest import MakeCase, RunBenchyard, process

JAVA = (
    'Exception in thread "main" x.Broken: mapping\n\tat x.Main.main(Main.java:7)\n'
    "Caused by: java.io.IOException: disk full\n\tat x.Out.write(Out.java:3)\n\t... 1 more"
)
WANTED = "exit 0, and 3 was expected: n"
PYTHON = "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'name'\n"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("'sh' failed: exit code 9; on stderr: connection refused", "exit 9: connection refused"),
        ("'sh' failed: exit code 1; on stderr: nothing", "exit 1"),
        ("'a' failed: exit code 0, and 3 was expected; it said: n", WANTED),
        ("'sh' failed: killed by SIGKILL; on stderr: nothing", "killed by SIGKILL"),
        (f"'a' failed: exit code 1; on stderr: {JAVA}", f"exit 1: {JAVA.splitlines()[2]}"),
        ("'p' failed in the container of 'i:1': exit code 7; it said: a\nb c\n", "exit 7: b c"),
        ("its process died (exit code 9); on stderr: gone", "its process died (exit 9): gone"),
        ("stopped after 0.5 s (timeout)", "stopped after 0.5 s (timeout)"),
        ("ERROR: no table\nLINE 1: select\n       ^", "ERROR: no table LINE 1: select ^"),
    ],
)  # fmt: skip
def test_an_error_is_how_it_ended_and_what_was_said_last(message: str, expected: str) -> None:
    assert reason(ErrorRecord("CommandFailedError", message)) == expected


def test_a_word_alone_has_its_kind_before_it() -> None:
    assert reason(ErrorRecord("KeyError", "'name'")) == "KeyError: 'name'"
    assert reason(ErrorRecord("RuntimeError", "")) == "RuntimeError"


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (PYTHON, "KeyError: 'name'"),
        ("ls: no option 'x'\nTry 'ls --help' for more information.", "ls: no option 'x'"),
        ("panicked: no file\nnote: run with RUST_BACKTRACE=1", "panicked: no file"),
        ("it is down\n---\n", "it is down"),
        ("  only indented", "only indented"),
        ("hint: alone", "hint: alone"),
        ("\n \n", ""),
    ],
)
def test_frames_and_advice_are_no_reasons(said: str, line: str) -> None:
    assert telling_line(said) == line


def test_a_long_text_keeps_both_ends() -> None:
    assert shorten_error("short", 5) == "short"
    cut = shorten_error("a" * 50 + "end", 20)
    assert (len(cut), cut[:6], cut[-3:]) == (20, "aaaaaa", "end")


def test_a_failed_run_is_the_step_that_broke_it() -> None:
    skipped = step(name="after", outcome=Outcome.SKIPPED, index=2)
    assert why_failed(run(1, failed(), skipped)) == "step Load: failed"
    late = failed(outcome=Outcome.TIMED_OUT, reason="its deadline was over")
    assert why_failed(run(1, late)) == "step Load: its deadline was over"
    broke = run(1, error=ErrorRecord("OSError", "no room left"), outcome=Outcome.FAILED)
    assert why_failed(broke) == "no room left"
    assert why_failed(run(1, outcome=Outcome.CANCELLED)) == "cancelled"


def test_runs_that_failed_alike_are_one_group() -> None:
    def broke(number: int, text: str) -> RunRecord:
        return run(number, error=ErrorRecord("OSError", text), outcome=Outcome.FAILED)

    one, two = broke(1, "no /r/run_1/x there"), broke(2, "no /r/run_2/x there")
    three = broke(3, "the disk is full")

    assert failed_alike([one, two, three]) == [[one, two], [three]]
    assert fail_alike([one, two])
    assert not fail_alike([two, three])
    assert not fail_alike([one])
    assert not fail_alike([run(1, step(1.0)), run(2, step(1.0))])


def test_a_command_says_it_and_keeps_secrets(
    case_folder: MakeCase, run_benchyard: RunBenchyard, tmp_path: Path
) -> None:
    script = 'echo "refused for $TOKEN" >&2; exit 9'
    environment = {"TOKEN": "${env:BENCHYARD_EXAMPLE_TOKEN}"}
    case_folder("told", process("load", script, parameters={"environment": environment}))

    ended = run_benchyard(
        *("run", "told", "--root", tmp_path / "cases", "--direct", "--runs", "1"),
        env={**os.environ, "BENCHYARD_EXAMPLE_TOKEN": "s3cr3t-t0ken"},
    )

    assert ended.returncode == 1
    assert "run 1 failed: step load: exit 9: refused for " in ended.stdout
    assert "s3cr3t-t0ken" not in ended.stdout + ended.stderr
