"""Ctrl-C: once is a wish, twice is a command; in a real process too."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchyard.core.model import Outcome
from benchyard.process.labels import OWNER, labelled
from benchyard.results.record import read_record
from benchyard.run.interrupts import reraise_interrupt, two_stage_ctrl_c
from tests.conftest import MakeCase, eventually, process


def test_what_is_around_hears_the_first_one_too() -> None:
    heard: list[str] = []

    with two_stage_ctrl_c(lambda: heard.append("suite")):
        with two_stage_ctrl_c(lambda: heard.append("case")):
            signal.raise_signal(signal.SIGINT)
        with two_stage_ctrl_c(lambda: heard.append("next")):
            pass

    assert heard == ["suite", "case"]


def came_up_behind(end: BaseException) -> ValueError:
    """Return an error as Prefect raises it where a signal hits its making of a task run."""
    error = ValueError("nothing to clean up yet")
    error.__context__ = end
    return error


def test_what_fails_while_the_process_is_to_end_does_not_keep_it_from_ending() -> None:
    end = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt) as raised:
        reraise_interrupt(came_up_behind(end))
    assert raised.value is end


@pytest.mark.parametrize("ordinary", [SystemExit(2), OSError(), asyncio.CancelledError()])
def test_an_ordinary_failure_stays_one(ordinary: BaseException) -> None:
    reraise_interrupt(came_up_behind(ordinary))


# -- a real lab, a real signal

#: Says on a file that it runs, then waits to be let go on by another.
WAITING = "echo up > {up}; while [ ! -e {go} ]; do sleep 0.01; done"


@contextmanager
def running_lab(
    case_folder: MakeCase, tmp_path: Path
) -> Generator[tuple["subprocess.Popen[str]", Path, Path]]:
    """Start ``benchyard run --direct``; give it with its results once its first step runs."""
    up, go = tmp_path / "up", tmp_path / "go"
    waiting = f"sleep 300 & {WAITING.format(up=up, go=go)}"
    folder = case_folder("interrupted", process("wait", waiting), process("next", "true"))
    program = Path(sys.executable).with_name("benchyard")
    arguments = [program, "run", folder, "--direct", "--runs", "2", "--cooldown", "0"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        arguments, stdout=pipe, stderr=pipe, text=True, cwd=tmp_path, start_new_session=True
    ) as lab:
        try:
            assert eventually(up.exists, 60)
            yield lab, folder / "results", go
        finally:
            lab.kill()


def nothing_runs(lab: "subprocess.Popen[str]") -> bool:
    return not [pid for pid, owner in labelled(OWNER) if owner.startswith(f"{lab.pid}:")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("presses", "outcomes", "said"),
    [
        (1, ["completed", "cancelled"], "stopped; the same command goes on where this one ended"),
        (2, ["cancelled", "cancelled"], "interrupted"),
    ],
)
def test_a_sigint_finishes_the_step_and_two_stop_now(
    case_folder: MakeCase, tmp_path: Path, presses: int, outcomes: list[str], said: str
) -> None:
    with running_lab(case_folder, tmp_path) as (lab, results, go):
        os.killpg(lab.pid, signal.SIGINT)  # as a terminal does
        assert lab.stderr is not None
        heard = next(line for line in lab.stderr if "stopping after this step" in line)
        assert "press Ctrl-C again" in heard
        if presses == 1:
            go.touch()
        else:
            os.killpg(lab.pid, signal.SIGINT)
        _, stderr = lab.communicate(timeout=60)

        assert lab.returncode == 130
        assert stderr.splitlines()[-1] == f"benchyard: {said}"
        assert "Traceback" not in stderr
        record = read_record(results / "run_1")
        assert [s.outcome.value for s in record.steps] == outcomes
        assert not list(results.glob("run_*/.done"))
        assert eventually(lambda: nothing_runs(lab), 30)


@pytest.mark.slow
def test_a_sigterm_leaves_no_process_and_the_next_call_goes_on(
    case_folder: MakeCase, tmp_path: Path
) -> None:
    with running_lab(case_folder, tmp_path) as (lab, results, _go):
        lab.terminate()
        lab.communicate(timeout=60)

        assert lab.returncode == 130
        assert eventually(lambda: nothing_runs(lab), 30)
        assert read_record(results / "run_1").outcome is Outcome.CANCELLED
        assert not list(results.glob("run_*/.done"))
