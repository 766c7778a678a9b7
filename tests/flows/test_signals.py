"""Ctrl-C and SIGTERM in each stage of a case: what is recorded and left, and that it goes on."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.places import archive_of
from benchyard.process.labels import OWNER, labelled
from benchyard.results.folders import Results
from benchyard.results.record import read_record
from tests.children import ending
from tests.conftest import RECORDED, MakeCase, eventually, process
from tests.flows.conftest import ask

pytestmark = pytest.mark.slow

INT, TERM = signal.SIGINT, signal.SIGTERM
HOLDING = Path(__file__).parents[1] / "holding.py"
#: What a user is told after the first Ctrl-C; while runs are published it ends the command.
HEARD, PUBLISHING = "press Ctrl-C again", ("upload", "archive")
FINAL = {"COMPLETED", "FAILED", "CANCELLED", "CRASHED"}


@dataclass
class Command:
    """Executes two runs of a case, direct or through Prefect, and waits in one stage of it."""

    case: Path
    stage: str
    way: str
    up: Path
    go: Path

    def start(self, cooldown: float) -> "subprocess.Popen[str]":
        """Start it; what waits is let go once there is ``go``."""
        of_case = ["run", self.case, self.way, "--runs", "2", "--cooldown", str(cooldown)]
        return subprocess.Popen(
            [sys.executable, HOLDING, self.stage, self.up, self.go, *of_case],
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.case.parent,
            start_new_session=True,
        )

    def end_by(self, first: signal.Signals, *more: signal.Signals) -> tuple[int, str]:
        """Send signals, the second once the first was heard; return how the command ends."""
        once = first is INT and not more
        cooling = once and self.stage == "cooldown"
        if cooling:
            self.go.touch()  # what is to end is a rest of an hour
        with ending(self.start(3600 if cooling else 0.01)) as lab:
            assert lab.stderr is not None
            assert eventually(lambda: self.up.exists() or lab.poll() is not None, 180)
            os.killpg(lab.pid, first)  # as a terminal does
            if first is INT and self.stage not in PUBLISHING:
                assert any(HEARD in line for line in lab.stderr)
            for number in more:
                os.killpg(lab.pid, number)
            if once:
                self.go.touch()
            _, said = lab.communicate(timeout=180)
        self.go.touch()
        owned = f"{lab.pid}:"
        assert eventually(lambda: not [p for p, o in labelled(OWNER) if o.startswith(owned)], 30)
        return lab.returncode, said

    def recorded(self) -> dict[int, str]:
        """Return how each run ended that has a record."""
        files = sorted((self.case / "results").glob("run_*/run.json"))
        return {one.run: one.outcome.value for one in (read_record(f.parent) for f in files)}

    def done(self) -> list[int]:
        return [*Results(self.case / "results").done()]

    def states(self) -> set[str]:
        """Return the states of its flow runs and task runs that the server knows."""
        chosen = {"flow_runs": {"name": {"any_": [self.case.name]}}, "limit": 200}
        found = [*ask("/flow_runs/filter", chosen), *ask("/task_runs/filter", chosen)]
        return {str(one["state_type"]) for one in found}


NONE, ONE, BOTH = {1: "cancelled"}, {1: "completed"}, {1: "completed", 2: "completed"}


def ways() -> Iterator[Any]:
    """Yield what is executed how, the stage, the signals, the exit code and the records."""
    for stage in ("initialize", "start-collector", "step"):
        yield from [(stage, [INT], 130, NONE), (stage, [INT, INT], 130, NONE)]
    for stage in ("stop", "stop-collector", "keep-outputs", "record", "checkpoint"):
        yield from [(stage, [INT], 130, ONE), (stage, [INT, INT], 130, NONE)]
    yield "step", [TERM], 130, NONE
    for signals in ([INT], [INT, INT], [TERM]):
        yield "cooldown", signals, 130, ONE
    yield from [("summarize", [INT], 0, BOTH), ("summarize", [INT, INT], 130, BOTH)]
    yield from [(stage, [INT], 130, BOTH) for stage in PUBLISHING]


#: The stages in which signals come another way through Prefect.
DIFFERENT = ("step", "stop", "cooldown", "upload")
DIRECT = [pytest.param("--direct", *of) for of in ways()]
PREFECT = [
    pytest.param("--prefect", *of, marks=pytest.mark.long) for of in ways() if of[0] in DIFFERENT
]


@pytest.mark.parametrize(("way", "stage", "signals", "code", "recorded"), [*DIRECT, *PREFECT])
def test_signals_end_a_case_wherever_it_is_and_the_same_command_goes_on(
    command: Command, signals: list[signal.Signals], code: int, recorded: dict[int, str]
) -> None:
    ended, said = command.end_by(*signals)

    assert ended == code, said
    assert "Traceback" not in said
    asked = signals == [INT] and command.stage not in PUBLISHING
    why = "stopped; the same command goes on where this one ended" if asked else "interrupted"
    assert not code or said.splitlines()[-1] == f"benchyard: {why}"
    assert command.recorded() == recorded
    assert command.done() == [run for run, outcome in recorded.items() if outcome == "completed"]
    if command.way == "--prefect":
        assert eventually(lambda: command.states() <= FINAL, RECORDED), command.states()
    with ending(command.start(0)) as again:
        _, said = again.communicate(timeout=180)
    assert again.returncode == 0, said
    assert command.recorded() == BOTH
    assert command.done() == [1, 2]
    assert len(list(archive_of("local").glob("*.json"))) == 2, "each is published, and once"


@pytest.fixture
def command(
    case_folder: MakeCase, tmp_path: Path, request: pytest.FixtureRequest, way: str, stage: str
) -> Command:
    if way == "--prefect":
        url = request.getfixturevalue("prefect_server")
        request.getfixturevalue("monkeypatch").setenv("PREFECT_API_URL", url)
    up, go = tmp_path / "up", tmp_path / "go"
    waits = f"sleep 300 & : > {up}; while [ ! -e {go} ]; do sleep 0.01; done"
    work = process("work", waits if stage == "step" else "true")
    case = case_folder(f"signals-{tmp_path.name}", work, process("next", "true"))
    return Command(case, stage, way, up, go)
