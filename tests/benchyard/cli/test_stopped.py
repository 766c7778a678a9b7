"""A lab that was stopped (Ctrl-Z and fg) while it measured says so, and its numbers are suspect."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.conftest import MakeCase, eventually, process

pytestmark = pytest.mark.slow

#: It ends at the first look after it was let go, so there is time to stop who waits for it.
WAITS = "echo $$ > BEGUN.new; mv BEGUN.new BEGUN; until [ -e GO ]; do sleep 0.02; done"
SAID = "{} was stopped (Ctrl-Z, SIGSTOP) and went on"


def lab(folder: Path, *options: str) -> "subprocess.Popen[bytes]":
    program = Path(sys.executable).with_name("benchyard")
    arguments = [program, "run", "--runs", "1", *options, folder.name]
    return subprocess.Popen(arguments, cwd=folder.parent)


def ended(folder: Path, running: "subprocess.Popen[bytes]") -> list[Any]:
    assert running.wait(120) == 0
    record = json.loads((folder / "results/run_1/run.json").read_bytes())
    return [step["attempts"][0]["repetitions"][0]["suspect"] for step in record["steps"]]


def has_stopped(pid: int) -> bool:
    return psutil.Process(pid).status() == psutil.STATUS_STOPPED


@pytest.mark.parametrize(
    ("who", "said"),
    [("lab", "the lab"), ("launcher", "the process that starts the lab's children")],
)
@pytest.mark.parametrize("through", ["--direct", pytest.param("prefect", marks=pytest.mark.long)])
def test_a_step_during_which_the_lab_was_stopped_is_suspect(
    who: str,
    said: str,
    through: str,
    case_folder: MakeCase,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    options = ["--direct"]
    if through == "prefect":
        monkeypatch.setenv("PREFECT_API_URL", request.getfixturevalue("prefect_server"))
        options = []
    script = WAITS.replace("BEGUN", str(tmp_path / "begun")).replace("GO", str(tmp_path / "go"))
    folder = case_folder("waits", process("waits", script), process("next", "true"))

    with lab(folder, *options) as running:
        assert eventually((tmp_path / "begun").exists, 120)
        program = psutil.Process(int((tmp_path / "begun").read_text()))
        pid = {"lab": running.pid, "launcher": program.ppid()}[who]
        os.kill(pid, signal.SIGSTOP)
        assert eventually(lambda: has_stopped(pid), 60)
        (tmp_path / "go").touch()
        # A zombie: whoever is stopped has not seen the end.
        assert eventually(lambda: program.status() == psutil.STATUS_ZOMBIE, 60)
        os.kill(pid, signal.SIGCONT)
        suspect, _ = ended(folder, running)

    assert SAID.format(said) in suspect


def test_a_lab_that_only_waits_is_not_taken_for_a_stopped_one(case_folder: MakeCase) -> None:
    folder = case_folder("waits", process("waits", "sleep 0.5"), process("next", "true"))
    with lab(folder, "--direct") as running:
        assert not [
            text for suspect in ended(folder, running) for text in suspect if "stop" in text
        ]
