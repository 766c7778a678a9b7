"""Executions in turns: their order, their end, and what surrounds them."""

import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from benchyard.core.errors import CommandFailedError
from benchyard.timing.commands import Surroundings, make_commands
from benchyard.timing.course import INTERRUPTED, Course, Options, execute
from benchyard.timing.execution import Execution, Streams, executor
from benchyard.timing.noise import warnings
from benchyard.timing.plan import Plan
from tests.conftest import ctrl_c

ONCE = Plan(1, 1)


def course(
    *lines: str,
    plan: Plan = ONCE,
    options: Options | None = None,
    around: Surroundings | None = None,
    streams: Streams | None = None,
    watch: Callable[[Course], None] = lambda _: None,
) -> Course:
    commands = make_commands(lines, (), around or Surroundings(), {}, in_shell=True)
    with executor(streams or Streams()) as running:
        return execute(commands, running, plan, options or Options(), watch)


def test_each_round_executes_each_once_in_an_order_of_its_own(tmp_path: Path) -> None:
    log = tmp_path / "log"
    lines = [f"echo {name} >> {log}" for name in "abc"]
    done = course(*lines, plan=Plan(8, 8), options=Options(seed=5))
    rounds = log.read_text().split()
    assert [sorted(rounds[at : at + 3]) for at in range(0, 24, 3)] == [["a", "b", "c"]] * 8
    assert len({tuple(rounds[at : at + 3]) for at in range(0, 24, 3)}) > 2
    assert done.rounds == 8
    positions = sorted(one.position for some in done.executions for one in some)
    assert positions == list(range(24))
    log.unlink()
    course(*lines, plan=Plan(8, 8), options=Options(seed=5))
    assert log.read_text().split() == rounds


def test_what_surrounds_is_executed_when_it_should_be(tmp_path: Path) -> None:
    log = tmp_path / "log"
    around = Surroundings(f"echo s >> {log}", (f"echo p >> {log}",), f"echo c >> {log}")
    done = course(f"echo x >> {log}", plan=Plan(2, 2), options=Options(warmup=1), around=around)
    assert "".join(log.read_text().split()) == "spxpxpxc"
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
    course("sort", plan=Plan(3, 3), streams=Streams(given, written))
    assert written.read_text() == "a\nb\n"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "echo no >&2; exit 3",
            "'echo no >&2; exit 3' failed: exit code 3; on stderr: no; --ignore",
        ),
        ("kill -9 $$", "failed: signal 9; --ignore-failure goes on"),
    ],
)
def test_a_failure_ends_it_in_a_sentence(line: str, said: str) -> None:
    with pytest.raises(CommandFailedError) as caught:
        course(line)
    assert said in str(caught.value)


def test_a_failure_may_be_ignored_and_is_told() -> None:
    done = course("exit 3", plan=Plan(2, 2), options=Options(ignore_failure=True))
    assert [one.exit_code for one in done.executions[0]] == [3, 3]
    assert any("failed in 2 of 2 executions" in text for text in warnings(done, 0.0, 0.01))


@pytest.mark.parametrize(
    ("around", "said"),
    [
        (Surroundings(setup="exit 4"), "the setup 'exit 4' failed: exit code 4"),
        (Surroundings(prepare=("exit 5",)), "the preparation 'exit 5' failed"),
        (Surroundings(cleanup="exit 6"), "the cleanup 'exit 6' failed"),
    ],
)
def test_what_surrounds_must_not_fail(around: Surroundings, said: str) -> None:
    with pytest.raises(CommandFailedError, match=said):
        course("true", around=around)


def test_cleanup_comes_after_a_failure_too(tmp_path: Path) -> None:
    mark = tmp_path / "cleaned"
    with pytest.raises(CommandFailedError):
        course("exit 1", around=Surroundings(cleanup=f"touch {mark}"))
    assert mark.exists()


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
    done = course("sleep 0.05", "sleep 0.0501", plan=Plan(max_s=0.4, threshold=0))
    assert done.why == "the time is up"
    assert done.ranking is not None
    assert done.ranking.rounds == done.rounds


def test_it_ends_when_they_are_told_apart() -> None:
    done = course("true", "sleep 0.05", plan=Plan())
    assert done.why == "they are told apart"
    assert 10 <= done.rounds < 100


def test_a_minimum_of_time_is_kept() -> None:
    done = course("true", "sleep 0.02", plan=Plan(min_s=0.05))
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
