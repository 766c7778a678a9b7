"""Executions in turns: their order, their end, and what surrounds them."""

import re
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from benchyard.core.errors import CommandFailedError
from benchyard.core.outputs import Output
from benchyard.process.labels import kin_of
from benchyard.timing.commands import Surroundings, make_commands
from benchyard.timing.course import INTERRUPTED, Course, Options, execute
from benchyard.timing.execution import CommandStreams, Execution, executor
from benchyard.timing.exports import warnings
from benchyard.timing.ranking import Plan
from tests.conftest import ctrl_c

ONCE = Plan(1, 1)


def course(
    *lines: str,
    plan: Plan = ONCE,
    options: Options | None = None,
    around: Surroundings | None = None,
    streams: CommandStreams | None = None,
    watch: Callable[[Course], None] = lambda _: None,
    in_shell: bool = True,
) -> Course:
    commands = make_commands(lines, (), around or Surroundings(), {}, in_shell=in_shell)
    with executor(streams or CommandStreams()) as running:
        return execute(commands, running, plan, options or Options(), watch)


def test_each_round_executes_each_once_in_an_order_of_its_own(tmp_path: Path) -> None:
    log = tmp_path / "log"
    lines = [f"echo {name} >> {log}" for name in "abc"]
    done = course(*lines, plan=Plan(8, 8), options=Options(seed=5))
    rounds = log.read_text().split()[3:27]  # what is first goes into a pipe
    assert [sorted(rounds[at : at + 3]) for at in range(0, 24, 3)] == [["a", "b", "c"]] * 8
    assert len({tuple(rounds[at : at + 3]) for at in range(0, 24, 3)}) > 2
    assert done.rounds == 8
    positions = sorted(one.position for some in done.executions for one in some)
    assert positions == list(range(24))
    log.unlink()
    course(*lines, plan=Plan(8, 8), options=Options(seed=5))
    assert log.read_text().split()[3:27] == rounds


def test_what_surrounds_is_executed_when_it_should_be(tmp_path: Path) -> None:
    log = tmp_path / "log"
    around = Surroundings((f"echo p >> {log}",), f"echo s >> {log}", f"echo c >> {log}")
    done = course(f"echo x >> {log}", plan=Plan(2, 2), options=Options(warmup=1), around=around)
    assert re.fullmatch("s(px){4,}c", "".join(log.read_text().split()))
    assert len(done.executions[0]) == 2


def test_time_and_use_are_the_commands_own() -> None:
    spin = "import time; end = time.process_time() + 0.2\nwhile time.process_time() < end: pass"
    done = course(f"exec {sys.executable} -c '{spin}; x = b\"x\" * 50_000_000'")
    (one,) = done.executions[0]
    assert 0.2 <= one.cpu_s < 2
    assert one.wall_s >= 0.2
    assert one.peak_rss_bytes is not None
    assert one.peak_rss_bytes > 50_000_000
    assert one.exit_code == 0


def test_input_begins_anew_and_output_is_the_last_ones(tmp_path: Path) -> None:
    given, written = tmp_path / "in", tmp_path / "out"
    given.write_text("b\na\n")
    course("sort", plan=Plan(3, 3), streams=CommandStreams(given, Output.opened(written)))
    assert written.read_text() == "a\nb\n"


def test_stderr_goes_where_it_is_wanted(tmp_path: Path) -> None:
    errors = tmp_path / "errors"
    with pytest.raises(CommandFailedError, match="exit code 3; on stderr: no; --ignore"):
        course("echo no >&2; exit 3", streams=CommandStreams(errors=Output.opened(errors)))
    assert errors.read_text() == "no\n"


def test_stderr_is_discarded_as_stdout_is(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    course(f"readlink /proc/self/fd/2 > {seen}", f"readlink /proc/self/fd/1 >> {seen}.out")
    assert seen.read_text() == "/dev/null\n"


def fails_at(count: int, folder: Path) -> str:
    """Return a command that fails when it is executed for that many times."""
    count_up = f"n=$(($(cat {folder}/n 2>/dev/null || echo 0) + 1)); echo $n > {folder}/n"
    return f"{count_up}; test $n -ne {count}"


def test_a_failure_of_what_surrounds_keeps_what_was_measured(tmp_path: Path) -> None:
    done = course("true", around=Surroundings(cleanup="exit 6"), plan=Plan(3, 3))
    assert (done.failure, done.rounds) == ("the cleanup 'exit 6' failed: exit code 6", 3)
    around = Surroundings(prepare=(fails_at(4, tmp_path),))
    done = course("true", around=around, plan=Plan(9, 9))
    assert "the preparation" in done.failure
    assert len(done.executions[0]) == 2


def test_failures_are_kept_apart(tmp_path: Path) -> None:
    options = Options(ignore_failure=True)
    done = course("true", "exit 3", fails_at(4, tmp_path), plan=Plan(9, 9), options=options)
    assert done.ranking is not None
    assert {place for pair in done.ranking.pairs for place in (pair.first, pair.second)} == {0, 2}
    assert [len(done.succeeded(at)) for at in range(3)] == [9, 0, 8]
    said = warnings(done, 0.0, 0.01)
    assert any("'exit 3' failed in 9 of 9 executions: it is not ranked" in one for one in said)
    assert any("in 1 of 9 executions: they are not in its numbers" in one for one in said)


def test_what_a_command_leaves_running_is_ended_before_the_next(tmp_path: Path) -> None:
    pids, alive = tmp_path / "pids", tmp_path / "alive"
    look = f"for pid in $(cat {pids}); do kill -0 $pid && echo $pid >> {alive}; done"
    leave = f"setsid sh -c 'echo $$ >> {pids}; exec sleep 60' > /dev/null 2>&1 & sleep 60 &"
    done = course(f"touch {pids}; {look}; {leave} sleep 0.1", plan=Plan(2, 2))
    assert len(pids.read_text().split()) >= 3
    assert not alive.exists()
    assert not any(kin_of(int(pid)) for pid in pids.read_text().split())
    (said,) = [one for one in warnings(done, 0.0, 10.0) if "left processes running" in one]
    assert said.count("sleep (pid ") == 2
    assert said.endswith("; so after 2 of 2 executions")


def test_what_the_setup_leaves_running_is_there_to_the_end(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    around = Surroundings((), f"sleep 60 > /dev/null 2>&1 & echo $! > {pid}", f"kill $(cat {pid})")
    done = course(f"kill -0 $(cat {pid})", around=around, plan=Plan(2, 2))
    assert not done.failure
    assert not any(one.left_running for one in done.executions[0])


def test_a_setup_or_preparation_may_make_the_program(tmp_path: Path) -> None:
    made = tmp_path / "made"
    make = f"cp /bin/true {made}"
    for around in (Surroundings(setup=make), Surroundings(prepare=(make,))):
        done = course(str(made), around=around, in_shell=False)
        assert done.rounds == 1
        made.unlink()


def test_an_execution_that_does_not_end_is_killed(tmp_path: Path) -> None:
    with pytest.raises(CommandFailedError, match=r"it was killed after 0.2 s \(--timeout\)"):
        course("sleep 60", options=Options(timeout=0.2))
    line = f"{fails_at(3, tmp_path)} || sleep 60"
    done = course(line, plan=Plan(4, 4), options=Options(ignore_failure=True, timeout=0.5))
    assert [one.exit_code for one in done.executions[0]] == [0, -9, 0, 0]


def test_a_program_that_sees_dev_null_is_told() -> None:
    lazy = "test $(readlink /proc/$$/fd/1) = /dev/null || sleep 0.1"
    done = course(lazy, "seq 100", plan=Plan(6, 6))
    assert done.sees_null == [0]
    assert len(done.piped[0]) > 1
    # On a busy host there may be more to say of the command, whose name has /dev/null in it.
    told = warnings(done, 0.0, 10.0)
    assert sum(one.startswith(f"'{lazy}' takes ") for one in told) == 1
    done = course(lazy, plan=Plan(2, 2), streams=CommandStreams(pipe=True))
    assert min(one.wall_s for one in done.executions[0]) >= 0.1
    assert done.piped == [[]]


def test_a_pipe_takes_all_that_is_written() -> None:
    done = course("head -c 3000000 /dev/zero", plan=Plan(2, 2), streams=CommandStreams(pipe=True))
    assert [one.exit_code for one in done.executions[0]] == [0, 0]


def test_a_slow_first_execution_into_the_pipe_is_no_doubt(tmp_path: Path) -> None:
    once = f"test -e {tmp_path}/mark || sleep 0.3; touch {tmp_path}/mark"
    done = course(once, plan=Plan(6, 6))
    assert len(done.piped[0]) > 1
    assert not done.sees_null


@pytest.mark.parametrize(
    ("around", "said"),
    [
        (Surroundings(setup="exit 4"), "the setup 'exit 4' failed: exit code 4"),
        (Surroundings(prepare=("exit 5",)), "the preparation 'exit 5' failed"),
        (Surroundings(), "'exit 1' failed in execution 1"),
    ],
)
def test_what_surrounds_must_not_fail_and_the_cleanup_comes(
    around: Surroundings, said: str, tmp_path: Path
) -> None:
    mark = tmp_path / "cleaned"
    with pytest.raises(CommandFailedError, match=said):
        course("exit 1", around=replace(around, cleanup=f"touch {mark}"))
    assert mark.exists() is (not around.setup)


def test_ctrl_c_keeps_what_is_there() -> None:
    seen: list[int] = []

    def watch(so_far: Course) -> None:
        seen.append(so_far.rounds)
        if so_far.rounds == 7:
            ctrl_c()

    done = course("sleep 0.001", "sleep 0.05", plan=Plan(20, 20), watch=watch)
    assert (done.why, done.rounds) == (INTERRUPTED, 7)
    assert done.ranking is not None
    assert done.ranking.pairs[0].told_apart


def test_ctrl_c_during_a_long_execution_kills_it() -> None:
    def press(so_far: Course) -> None:
        if so_far.rounds == 1:
            threading.Timer(0.3, ctrl_c).start()

    done = course("test -e /nowhere || sleep 1", plan=Plan(50, 50), watch=press)
    assert done.why == INTERRUPTED
    assert done.rounds < 50


def test_ctrl_c_before_the_first_round_is_over_is_an_interrupt() -> None:
    with pytest.raises(KeyboardInterrupt):
        course("true", "true", plan=Plan(2, 2), watch=lambda _: ctrl_c())


def test_the_clock_ends_it() -> None:
    done = course("sleep 0.05", "sleep 0.0501", plan=Plan(max_time=0.4, threshold=0))
    assert done.why == "the time is up"
    assert done.ranking is not None
    assert done.ranking.rounds == done.rounds


def test_a_minimum_of_time_is_kept() -> None:
    done = course("true", "sleep 0.02", plan=Plan(min_time=0.05))
    spent = [sum(one.wall_s for one in some) for some in done.executions]
    assert min(spent) >= 0.05


def told(load: float, waited_s: float) -> list[str]:
    """Say what is told of six like executions, each of which waited so long for a CPU."""
    some = [
        Execution(0.01 + at / 1e5, 0.01, 0.0, None, 0, 0, waited_s) for at in (2, 0, 4, 1, 5, 3)
    ]
    commands = make_commands(["spin"], (), Surroundings(), {}, in_shell=True)
    return warnings(Course(commands, 1, [some]), load, 10.0)


def test_a_busy_host_is_told() -> None:
    assert told(0.0, 0.0) == []
    assert "load 1,000 on" in told(1000.0, 0.0)[0]
    assert "'spin' waited for a CPU for 50 % of its time" in told(0.0, 0.005)[0]
