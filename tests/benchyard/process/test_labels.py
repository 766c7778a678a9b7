"""Labels: the lab finds what it started, and touches nothing else."""

import os
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Generator
from pathlib import Path
from unittest.mock import Mock

import pytest

from benchyard.process import labels
from benchyard.process.labels import kill_labelled, labelled, owner_is_alive, start_time, this_owner
from tests.children import ending, speaking
from tests.conftest import eventually, is_gone

Start = Callable[..., "subprocess.Popen[bytes]"]

LABEL = "BENCHYARD_TEST_LABEL"


@pytest.fixture
def sleeper() -> Generator[Start]:
    """Start a sleeping process with an environment of its own."""
    made: list[subprocess.Popen[bytes]] = []

    def start(name: str = "sleep", **environment: str) -> "subprocess.Popen[bytes]":
        # Popen returns once the program was executed: its environment is what /proc shows.
        process = subprocess.Popen([name, "300"], executable="sleep", env=os.environ | environment)
        made.append(process)
        return process

    yield start
    for process in made:
        process.kill()
        process.wait()


def test_all_that_carry_the_value_die_and_foreign_ones_with_similar_names_do_not(
    sleeper: Start,
) -> None:
    doomed = sorted(sleeper("benchyard", **{LABEL: "run:1"}).pid for _ in range(3))
    foreign = [sleeper("benchyard"), sleeper(f"{LABEL}=run:1")]
    foreign += [sleeper(**{LABEL: value}) for value in ("run:10", "run:1 ", "")]
    foreign += [sleeper(**{name: "run:1"}) for name in (f"X{LABEL}", f"{LABEL}X")]
    foreign += [sleeper(OTHER=f"{before}{LABEL}=run:1") for before in ("x ", "\n")]

    assert kill_labelled(LABEL, lambda value: value == "run:1") == doomed
    assert eventually(lambda: all(map(is_gone, doomed)))
    assert [process.poll() for process in foreign] == [None] * len(foreign)


def test_a_pid_given_out_again_is_never_killed(
    sleeper: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look and the blow the pid became another's: that one is looked at again."""
    other = sleeper()
    monkeypatch.setattr(labels, "labelled", Mock(return_value=[(other.pid, "mine")]))
    assert kill_labelled(LABEL, lambda value: value == "mine", timeout=0.05) == []
    assert other.poll() is None


def test_a_process_that_forks_while_it_is_hunted_is_caught() -> None:
    """Each generation starts the next before it dies: one look at /proc is not enough."""
    program = "while :; do sleep 0.01 & wait; done"
    hydra = subprocess.Popen(
        ["/bin/sh", "-c", f"({program}) & ({program}) & {program}"],
        env=os.environ | {LABEL: "hydra"},
    )
    seen: set[int] = set()

    def has_grown() -> bool:
        # Under load a look seldom meets the shells and what they start at once.
        seen.update(pid for pid, value in labelled(LABEL) if value == "hydra")
        return len(seen) > 4

    assert eventually(has_grown)
    kill_labelled(LABEL, lambda value: value == "hydra")
    hydra.wait()

    assert not [pid for pid, value in labelled(LABEL) if value == "hydra"]


def test_values_that_are_no_text_are_read_and_the_lab_is_not_among_them(sleeper: Start) -> None:
    process = sleeper(**{LABEL: "caf\udce9"})
    assert (process.pid, "caf\udce9") in list(labelled(LABEL))
    assert os.getpid() not in [pid for pid, _ in labelled(next(iter(os.environ)))]


def test_the_start_time_of_a_process_with_an_evil_name() -> None:
    calls_itself = "open('/proc/self/comm', 'w').write(') S 1 1 1'); print(flush=True); input()"
    with speaking(calls_itself) as (started, _):
        assert (start_time(started.pid) or 0) >= (start_time(os.getpid()) or 0) > 0
        started.communicate("\n")


def test_an_owner_is_alive_while_its_process_is(sleeper: Start) -> None:
    process = sleeper()
    namespace = this_owner().rpartition(":")[2]
    began = start_time(process.pid) or 0
    owner = f"{process.pid}:{began}:{namespace}"
    assert owner_is_alive(this_owner())
    assert owner_is_alive(owner)
    assert not owner_is_alive(f"{process.pid}:{began - 1}:{namespace}"), "had the pid before"
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert start_time(process.pid) is None, "a zombie does not run"
    process.wait()
    assert start_time(process.pid) is None
    assert not owner_is_alive(owner)


@pytest.mark.parametrize("owner", ["", "x", "1:2", "1:2:3:4", "{pid}:1:another"])
def test_an_owner_that_cannot_be_seen_from_here_may_live(owner: str) -> None:
    """A lab in another container, or of another version: its processes are left alone."""
    assert owner_is_alive(owner.replace("{pid}", str(os.getpid())))


@pytest.fixture
def dead(monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the label of an owner that is gone, under a name that no other lab here looks for."""
    monkeypatch.setattr(labels, "OWNER", LABEL)
    return "1:1:" + this_owner().rpartition(":")[2]


def test_what_the_dead_left_is_killed_and_what_may_be_owned_is_not(
    sleeper: Start, dead: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labels, "GRACE", 0.1)
    left = [sleeper(**{LABEL: owner}).pid for owner in (dead, dead + labels.WINDS_UP)]
    kept = [sleeper(**{LABEL: owner}).pid for owner in (this_owner(), "1:1:elsewhere")]

    assert labels.kill_leftovers() == sorted(left)
    assert eventually(lambda: all(map(is_gone, left)))
    assert not any(map(is_gone, kept))


@pytest.mark.usefixtures("dead")
def test_where_nothing_is_left_one_look_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    look = Mock(return_value=[(1, this_owner()), (2, f"{this_owner()}{labels.WINDS_UP}")])
    monkeypatch.setattr(labels, "labelled", look)
    assert labels.kill_leftovers() == []
    look.assert_called_once_with(LABEL)


def test_what_saves_something_after_its_owner_gets_a_moment(
    dead: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labels, "GRACE", 30)
    saves = subprocess.Popen(
        ["/bin/sh", "-c", "sleep 0.2; touch saved"],
        cwd=tmp_path,
        env={**os.environ, LABEL: dead + labels.WINDS_UP},
    )
    threading.Thread(target=saves.wait).start()  # what is dead and not waited for has no label

    assert labels.kill_leftovers() == []
    assert (tmp_path / "saved").exists()
    assert saves.wait() == 0


def test_process_that_executes_another_program_is_not_missed(tmp_path: Path) -> None:
    """While it is inside execve, the kernel shows no environment."""
    marker = uuid.uuid4().hex
    script = (
        "import os, sys; python = [sys.executable, '-I', '-S', '-c']; "
        "os.execv(python[0], [*python, open(sys.argv[1]).read(), sys.argv[1]])"
    )
    program = tmp_path / "again.py"
    program.write_text(script)
    arguments = [sys.executable, "-I", "-S", "-c", script, str(program)]
    for _ in range(5):
        with ending(subprocess.Popen(arguments, env={**os.environ, LABEL: marker})) as process:
            seen = [dict(labelled(LABEL)).get(process.pid) for _ in range(20)]
            assert set(seen) == {marker}
            assert kill_labelled(LABEL, lambda value: value == marker)
