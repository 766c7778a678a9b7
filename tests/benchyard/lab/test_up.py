"""A whole lab, brought up, disturbed and let down."""

import os
import signal
import time
import urllib.error
from collections.abc import Callable, Generator
from contextlib import suppress
from pathlib import Path

import pytest

from benchyard.core.model import Outcome
from benchyard.process.labels import start_time
from benchyard.results.record import read_record
from tests.benchyard.lab.labs import FINAL, RunningLab, Shell, add_case, make_shell
from tests.conftest import eventually

pytestmark = [
    pytest.mark.slow,
    pytest.mark.lab,
    pytest.mark.long,
    # A server that is killed while it answers leaves a socket to the garbage collector: here, and
    # not in a later test.
    pytest.mark.usefixtures("collected"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def waiting(up: Path, seconds: int = 300) -> str:
    """Return a script that says when it began, then waits beside a child of its own."""
    return f"sleep {seconds} & echo $$ $! > {up}; wait"


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    base = tmp_path_factory.mktemp("lab")
    shell = make_shell(base)
    add_case(shell.checkout, "quick", "echo hello")
    for name, seconds in (("some-seconds", 8), ("few-seconds", 4)):
        add_case(shell.checkout, name, f"echo $$ > {base}/began; sleep {seconds}")
    add_case(shell.checkout, "long", waiting(base / "up"))
    add_case(shell.checkout, "stubborn", f"trap '' TERM INT; {waiting(base / 'stubborn')}; wait")
    return shell


@pytest.fixture(scope="module")
def lab(shell: Shell) -> Generator[RunningLab]:
    with shell.up("--testbed", "bench", "--testbed-tag", "nvme") as lab:
        yield lab


@pytest.fixture(scope="module")
def other(shell: Shell) -> Shell:
    """Give a home in which no lab is up, with the same checkout."""
    home = shell.home.with_name("other-home")
    home.mkdir()
    return Shell(home, shell.checkout)


def began(shell: Shell, name: str) -> Path:
    """Return the file that a case writes when it begins; there is none yet."""
    file = shell.home.parent / name
    file.unlink(missing_ok=True)
    return file


def gone(pids: list[int]) -> bool:
    return all(start_time(pid) is None for pid in pids)


def results(shell: Shell, case: str) -> Path:
    return shell.checkout / case / "results"


# -- what is there


def test_the_form_offers_the_cases_and_takes_no_other(lab: RunningLab) -> None:
    offered = lab.deployment()["parameter_openapi_schema"]["properties"]["case"]["enum"]

    told = lab.told["deployments"]
    assert not any(active for one in told for active in one["schedules"].values())
    assert offered == lab.told["cases"]
    assert {"cases/quick", "cases/examples/first", "cases/tpch/sqlite[scale=0.01]"} <= set(offered)
    with pytest.raises(urllib.error.HTTPError) as caught:
        lab.start("cases/nonsense")
    assert caught.value.code == 409


def test_pools_queues_and_the_testbed_are_known(lab: RunningLab) -> None:
    queue = lab.ask("/work_pools/testbeds/queues/bench")
    told = lab.ask("/variables/name/benchyard_testbed_bench")["value"]

    assert queue["concurrency_limit"] == 1
    assert (told["name"], told["tags"], told["queue"]) == ("bench", ["nvme"], "bench")
    assert told["cores"] == os.cpu_count()
    assert {one["type"] for one in lab.ask("/work_pools/filter", {})} == {"process"}


def test_a_second_lab_on_this_machine_says_so(lab: RunningLab, shell: Shell) -> None:
    ended = shell.run("up")

    assert ended.returncode == 2
    assert f"a lab is up on this machine already (pid {lab.process.pid})" in ended.stderr
    assert "Traceback" not in ended.stderr


# -- flow runs, and what may happen to them


def test_a_killed_worker_is_started_again_and_the_run_in_progress_finishes(
    lab: RunningLab, shell: Shell
) -> None:
    up = began(shell, "began")
    first = lab.start("cases/some-seconds")
    assert eventually(up.exists, 120)
    worker = lab.pid_of("benchyard.lab.working testbeds")
    os.kill(worker, signal.SIGKILL)
    second = lab.start("cases/some-seconds", force=True)

    assert lab.wait_for(first, *FINAL) == "COMPLETED"
    assert lab.wait_for(second, *FINAL) == "COMPLETED"
    assert "the worker testbeds bench ended (killed by signal 9)" in lab.said
    ends = lab.flow_run(first)["end_time"]
    assert lab.flow_run(second)["start_time"] >= ends, "two runs at once on one testbed"


def test_a_killed_flow_run_crashes_and_a_retry_goes_on(lab: RunningLab, shell: Shell) -> None:
    up = began(shell, "began")
    flow_run = lab.start("cases/few-seconds", force=True)
    assert eventually(up.exists, 120)
    child = int(up.read_text())
    pid = int(lab.flow_run(flow_run)["infrastructure_pid"])
    os.kill(pid, signal.SIGKILL)

    assert lab.wait_for(flow_run, *FINAL) == "CRASHED"
    assert eventually(lambda: gone([child]), 20)
    tasks = {"flow_runs": {"id": {"any_": [flow_run]}}}

    def open_tasks() -> list[str]:
        found = lab.ask("/task_runs/filter", tasks)
        left = [one for one in found if one["state_type"] not in FINAL]
        return [f"{one['name']} {one['state_type']}" for one in left]

    assert eventually(lambda: not open_tasks(), 60), open_tasks()
    lab.retry(flow_run)
    assert eventually(lambda: lab.flow_run(flow_run)["run_count"] == 2, 120)
    assert lab.wait_for(flow_run, *FINAL) == "COMPLETED"


def test_a_killed_server_is_started_again_and_the_run_in_progress_finishes(
    lab: RunningLab, shell: Shell
) -> None:
    up = began(shell, "began")
    flow_run = lab.start("cases/few-seconds", force=True)
    assert eventually(up.exists, 120)
    os.kill(lab.pid_of("benchyard.lab.serving"), signal.SIGKILL)

    assert eventually(lambda: "the server ended (killed by signal 9)" in lab.said, 30)
    assert lab.wait_for(flow_run, *FINAL) == "COMPLETED"
    assert lab.wait_for(lab.start("cases/quick", force=True), *FINAL) == "COMPLETED"


# -- one more testbed


def test_a_worker_joins_with_a_queue_of_its_own_and_leaves(lab: RunningLab, shell: Shell) -> None:
    with shell.worker(lab, "--testbed", "second", "--testbed-tag", "slow") as worker:
        assert eventually(lambda: "the testbed second serves the lab" in worker.said, 120)
        told = lab.ask("/variables/name/benchyard_testbed_second")["value"]
        assert (told["tags"], told["queue"]) == (["slow"], "second")
        assert "2 testbeds share a server on SQLite" in worker.said
        twice = worker.shell.run("worker", "--testbed", "second")
        assert twice.returncode == 2
        assert f"served already, by pid {worker.process.pid}" in twice.stderr

        flow_run = lab.start("cases/quick", queue="second", force=True)
        assert lab.wait_for(flow_run, *FINAL) == "COMPLETED"
        assert lab.flow_run(flow_run)["labels"]["prefect.worker.name"] == "second"
        worker.process.send_signal(signal.SIGTERM)
        assert worker.process.wait(60) == 0, worker.said
    with pytest.raises(urllib.error.HTTPError):
        lab.ask("/variables/name/benchyard_testbed_second")


# -- the end: this one takes the lab down that the others above have in common


def test_ctrl_c_lets_the_run_in_progress_finish(lab: RunningLab, shell: Shell) -> None:
    up = began(shell, "began")
    flow_run = lab.start("cases/few-seconds", force=True)
    assert eventually(up.exists, 120)
    waits = lab.start("cases/quick", force=True)
    lab.press()

    assert lab.process.wait(120) == 0, lab.said
    assert "waiting for execute-case 'few-seconds' to finish" in lab.said
    assert shell.stored_states()[flow_run] == "COMPLETED"
    assert shell.stored_states()[waits] == "SCHEDULED"
    assert shell.left() == []


def press(lab: RunningLab, *words: str) -> None:
    """Press Ctrl-C, wait for the words, and press once more."""
    for said in words:
        lab.press()
        assert eventually(lambda said=said: said in lab.said, 60), lab.said
    lab.press()


def press_twice(lab: RunningLab) -> None:
    press(lab, "waiting for execute-case 'long'")


def press_thrice(lab: RunningLab) -> None:
    press(lab, "waiting for execute-case 'stubborn'", "stopping execute-case 'stubborn'")


def terminate(lab: RunningLab) -> None:
    lab.press(signal.SIGTERM)
    assert eventually(lambda: "waiting for execute-case 'long' to finish" in lab.said, 60), lab.said


@pytest.mark.parametrize(
    ("case", "file", "end"),
    [
        ("long", "up", press_twice),
        ("stubborn", "stubborn", press_thrice),
        ("long", "up", terminate),  # and the grace is over
    ],
    ids=["second-ctrl-c", "third-ctrl-c", "grace"],
)
def test_a_run_that_is_stopped_or_killed_leaves_nothing(
    other: Shell, case: str, file: str, end: Callable[[RunningLab], None]
) -> None:
    with other.up("--name", "bench", "--grace", "2") as lab:
        up = began(other, file)
        flow_run = lab.start(f"cases/{case}", force=True)
        assert eventually(up.exists, 180), lab.said
        end(lab)

        assert lab.process.wait(120) == 130, lab.said
        assert other.stored_states()[flow_run] == "CANCELLED"
        assert eventually(lambda: gone(list(map(int, up.read_text().split()))), 10)
        assert other.left() == []
        if case == "long":  # what is killed writes no record
            record = read_record(results(other, "cases/long") / "run_1")
            assert record.outcome is Outcome.CANCELLED


def test_a_power_cut_is_seen_at_the_next_start_and_a_killed_lab_winds_up(other: Shell) -> None:
    """First everything is gone at once, and nobody could say so; then only the lab itself is."""
    with other.up("--name", "bench") as lab:
        up = began(other, "up")
        lost = lab.start("cases/long", force=True)
        assert eventually(up.exists, 180), lab.said
        for _ in range(3):
            for pid in [lab.process.pid, *other.left()]:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.2)
        lab.process.wait()
    with other.up("--name", "bench") as lab:
        assert lab.wait_for(lost, *FINAL, timeout=60) == "CRASHED"
        assert eventually(lambda: gone(list(map(int, up.read_text().split()))), 10)

        up = began(other, "began")
        flow_run = lab.start("cases/few-seconds", force=True)
        assert eventually(up.exists, 180), lab.said
        os.kill(lab.process.pid, signal.SIGKILL)
        lab.process.wait()
        assert eventually(lambda: other.left() == [], 90)
        assert other.stored_states()[flow_run] == "COMPLETED"
