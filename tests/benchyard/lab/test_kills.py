"""kill -9 of flow process, worker and server at random moments of a case with three runs.

``BENCHYARD_KILLS`` says how often each is killed (2); ``BENCHYARD_SEED`` chooses other moments.
"""

import os
import signal
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchyard.process.labels import RUN, labelled, start_time
from benchyard.results.folders import Results
from tests.benchyard.lab.labs import FINAL, RunningLab, add_case, make_shell
from tests.conftest import eventually, tree

pytestmark = [
    pytest.mark.slow,
    pytest.mark.lab,
    pytest.mark.soak,
    # A server that is killed while it answers leaves a socket to the garbage collector: here, and
    # not in a later test.
    pytest.mark.usefixtures("collected"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

KILLS = int(os.environ.get("BENCHYARD_KILLS", "2"))
SEED = int(os.environ.get("BENCHYARD_SEED", "1"))
RUNS = (1, 2, 3)
#: About what the flow run takes from its start to its end (s); later moments find it over.
SPAN = 9.0


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningLab]:
    base = tmp_path_factory.mktemp("kills")
    shell = make_shell(base)
    add_case(shell.checkout, "three", "sleep 1.2 & wait")
    # Results lie outside of the checkout, where flow runs may write only if told so.
    with shell.up("--name", "bench", "--allow", str(base)) as lab:
        yield lab


def flow_process(lab: RunningLab, flow_run: str) -> int | None:
    pid = lab.flow_run(flow_run)["infrastructure_pid"]
    return None if pid is None else int(pid)


def worker(lab: RunningLab, _flow_run: str) -> int | None:
    return lab.pid_of("benchyard.lab.working testbeds")


def server(lab: RunningLab, _flow_run: str) -> int | None:
    return lab.pid_of("benchyard.lab.serving")


def finished(results: Path) -> dict[int, dict[str, Any]]:
    """Return every byte of the runs that are done."""
    return {run: tree(results / f"run_{run}") for run in Results(results).done()}


def orphans(lab: RunningLab) -> list[int]:
    """Return what a step's program left; by its label, since a pid is soon given out again."""
    here = str(lab.shell.home.parent)
    return [pid for pid, run in labelled(RUN) if run.startswith(here) and start_time(pid)]


def go_on(lab: RunningLab, flow_run: str, wanted: dict[str, Any]) -> str:
    """Do what a user does: retry what failed, or else start the same once more."""
    if lab.state(flow_run) == "COMPLETED":
        return lab.start("cases/three", **wanted)
    lab.retry(flow_run)
    assert eventually(lambda: lab.state(flow_run) not in FINAL, 60)
    return flow_run


@pytest.mark.parametrize("victim", [flow_process, worker, server], ids=lambda v: v.__name__)
def test_nothing_is_lost_whenever_it_is_killed(
    lab: RunningLab, victim: Callable[[RunningLab, str], int | None]
) -> None:
    moments = Random(f"{SEED} {victim.__name__}")  # noqa: S311 - repeatable
    seen = 0
    for number in range(KILLS):
        folder = lab.shell.home.parent / f"{victim.__name__}-{number}"
        print(f"{victim.__name__} {number}", flush=True)  # noqa: T201 - it takes an hour
        wanted: dict[str, Any] = {"runs": len(RUNS), "results": str(folder)}
        results = folder / "three"
        flow_run = lab.start("cases/three", **wanted)
        assert eventually(lambda one=flow_run: flow_process(lab, one), 120), lab.said
        moment = moments.uniform(0, SPAN)
        time.sleep(moment)
        pid = victim(lab, flow_run)
        before = finished(results)
        seen += bool(orphans(lab))
        if pid is not None:
            with suppress(ProcessLookupError):  # it was over by then
                os.kill(pid, signal.SIGKILL)

        ended = lab.wait_for(flow_run, *FINAL, timeout=120)
        again = go_on(lab, flow_run, wanted)

        told = (victim.__name__, number, moment, ended, lab.said[-2000:])
        assert lab.wait_for(again, *FINAL, timeout=120) == "COMPLETED", told
        assert [*Results(results).done()] == list(RUNS), told
        kept = finished(results)
        assert {run: kept[run] for run in before} == before, told
        assert eventually(lambda: not orphans(lab), 20), told
    assert seen, "none was killed while a step's program ran: there was nothing to leave"
