"""The life of resources: started once, stopped always, in reverse, whatever else goes wrong."""

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest.mock import Mock

import pytest

from benchyard.core.errors import CommandFailedError, NotReadyError
from benchyard.core.model import Outcome
from tests.benchyard.run.conftest import (
    Act,
    Call,
    FakeResource,
    Lab,
    Script,
    named,
    phases,
    step,
)

DONE, FAILED = Outcome.COMPLETED, Outcome.FAILED
NO = CommandFailedError("no")


def life(script: Script, name: str = "Alpha") -> list[str]:
    """Return what was asked of a resource, in order, its version aside."""
    asked = [key.partition(".") for key in script.keys]
    return [method for owner, _, method in asked if owner == name and method != "version"]


def test_defect_15_two_steps_share_one_live_instance(lab: Lab) -> None:
    record = lab.one(step("a"), step("b"), step("c", repeat=3, warmup=1))

    assert life(lab.script) == ["initialize", "start", "wait_until_ready", *["work"] * 6, "stop"]
    assert len({id(call.resource) for call in lab.script.calls}) == 1
    assert [p.step for p in phases(record) if p.phase in ("start", "ready")] == [1, 1]


def test_all_are_initialized_first_and_each_starts_when_it_is_needed(lab: Lab) -> None:
    record = lab.one(step("a"), step("b", "Beta"), step("c"))

    assert lab.script.keys[:2] == ["Alpha.initialize", "Beta.initialize"]
    assert [p.step for p in phases(record, "Beta")] == [None, 2, 2, None]
    assert lab.script.keys.index("Beta.start") > lab.script.keys.index("Alpha.work")


def test_what_never_started_is_not_stopped_and_may_know_its_version(lab: Lab) -> None:
    lab.script.on("Alpha.work", NO)

    record = lab.one(step("a"), step("b", "Beta"))

    assert life(lab.script, "Beta") == ["initialize"]
    assert named(record, "b").outcome is Outcome.SKIPPED
    assert record.resources["Beta"] == {"version": "1.2.3", "settings": {}}


# -- half-finished starts


@pytest.mark.parametrize(
    ("method", "phase"),
    [("initialize", "initialize"), ("start", "start"), ("wait_until_ready", "ready")],
)
@pytest.mark.parametrize("says_false", [True, False])
def test_a_start_that_fails_or_says_false_is_an_error_and_is_stopped(
    lab: Lab, method: str, phase: str, *, says_false: bool
) -> None:
    taken = NotReadyError("the port is taken")
    lab.script.on(f"Alpha.{method}", (lambda _: False) if says_false else taken)

    record = lab.one(step("a"))

    assert record.outcome is FAILED
    assert "Alpha.work" not in lab.script.keys
    (broken,) = (p for p in phases(record) if p.error)
    assert (broken.phase, broken.outcome) == (phase, FAILED)
    assert broken.error is not None
    assert broken.error.message == (f"Alpha.{method} returned False" if says_false else str(taken))
    if method != "initialize":
        assert life(lab.script)[-2:] == [method, "stop"]
        (attempt,) = record.steps[0].attempts
        assert (attempt.outcome, attempt.repetitions) == (FAILED, ())
        assert attempt.error == broken.error


# -- defects 35 and 36: whatever raises, everything is stopped


@pytest.mark.parametrize("error", [RuntimeError("boom"), NO, MemoryError()])
@pytest.mark.parametrize(
    ("place", "stopped"),
    [
        ("Beta.initialize", []),
        ("Beta.start", ["Beta.stop", "Alpha.stop"]),
        ("Beta.wait_until_ready", ["Beta.stop", "Alpha.stop"]),
        ("Beta.work", ["Beta.stop", "Alpha.stop"]),
        ("Beta.stop", ["Crowd.stop", "Beta.stop", "Alpha.stop"]),
    ],
)
def test_defect_35_an_exception_anywhere_stops_everything(
    lab: Lab, place: str, stopped: list[str], error: Exception
) -> None:
    lab.script.on(place, error)

    record = lab.one(step("a"), step("b", "Beta"), step("c", "Crowd"))

    assert [key for key in lab.script.keys if key.endswith(".stop")] == stopped
    assert lab.collectors[0].running is False
    assert record.outcome is (DONE if place == "Beta.stop" else FAILED)


def test_defect_36_a_stop_that_fails_keeps_no_other_from_stopping(lab: Lab) -> None:
    names = ("Alpha", "Beta", "Crowd")
    for name in names:
        lab.script.on(f"{name}.stop", RuntimeError(f"{name} is stuck"))

    record = lab.one(*(step(name, name) for name in names))

    stopped = [key.removesuffix(".stop") for key in lab.script.keys if key.endswith(".stop")]
    assert stopped == ["Crowd", "Beta", "Alpha"]
    assert record.outcome is DONE
    assert record.warnings == tuple(
        f"{name} did not stop cleanly: {name} is stuck" for name in stopped
    )


def breaking(lab: Lab, good: int) -> None:
    """Add a class ``Gamma`` of which only the first ``good`` instances can be made."""
    made: list[object] = []

    class Gamma(FakeResource):
        script = lab.script

        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            made.append(self)
            if len(made) > good:
                raise RuntimeError("cannot be made")

    lab.classes["Gamma"] = Gamma


def test_a_constructor_that_raises_fails_the_run_and_is_recorded(lab: Lab) -> None:
    breaking(lab, 0)

    record = lab.one(step("a"), step("b", "Gamma"))

    assert record.outcome is FAILED
    assert record.error is not None
    assert record.error.message == "cannot be made"
    assert [s.outcome for s in record.steps] == [Outcome.SKIPPED] * 2
    assert "Alpha.work" not in lab.script.keys


# -- broken instances


@pytest.mark.parametrize("broken", [["work", "abort"], []], ids=["aborted", "never ready"])
def test_a_broken_instance_is_stopped_and_a_new_one_takes_over(lab: Lab, broken: list[str]) -> None:
    aborted = threading.Event()

    def late(_call: Call) -> None:
        assert aborted.wait(10)
        raise CommandFailedError("killed")

    lab.script.on("Alpha.abort", lambda _: aborted.set())
    if broken:
        lab.script.on("Alpha.work", late)
    else:
        lab.script.on("Alpha.wait_until_ready", NotReadyError("died"))

    record = lab.one(step("a", timeout=0.5, retries=1))

    assert record.outcome is DONE
    assert life(lab.script) == [
        *("initialize", "start", "wait_until_ready", *broken),
        *("stop", "start", "wait_until_ready", "work", "stop"),
    ]
    first, second = (c.resource for c in lab.script.calls if c.key == "Alpha.start")
    assert first is not second
    assert first.workspace == second.workspace, "a database's files outlive its server"


def workers(lab: Lab) -> list[FakeResource]:
    return [call.resource for call in lab.script.calls if call.key == "Alpha.work"]


@pytest.mark.parametrize("expect_failure", [False, True])
@pytest.mark.parametrize(
    ("alive", "starts"), [(Mock(return_value=False), 2), (ConnectionError("gone"), 2), (None, 1)]
)
def test_an_instance_is_used_again_after_a_failure_only_if_it_says_that_it_lives(
    lab: Lab, alive: Act, starts: int, *, expect_failure: bool
) -> None:
    lab.script.on("Alpha.work", NO)
    lab.script.on("Alpha.alive", alive)

    record = lab.one(step("a", expect_failure=expect_failure, may_fail=True, retries=0), step("b"))

    assert record.outcome is DONE
    workers = {id(call.resource) for call in lab.script.calls if call.key == "Alpha.work"}
    assert len(workers) == lab.script.count("Alpha.start") == starts
    assert lab.script.count("Alpha.stop") == starts


def test_a_replacement_that_cannot_be_made_says_why_each_time(lab: Lab) -> None:
    breaking(lab, 1)
    lab.script.on("Gamma.work", NO)
    lab.script.on("Gamma.alive", lambda _: False)

    record = lab.one(step("a", "Gamma", retries=2))

    errors = [attempt.error for attempt in record.steps[0].attempts]
    assert [error.message for error in errors if error] == ["no", *["cannot be made"] * 2]
    assert lab.script.count("Gamma.stop") == 1


# -- side by side


@pytest.mark.parametrize(("resource", "patience"), [("Alpha", 0.2), ("Crowd", 30)])
def test_only_a_concurrent_resource_gets_several_commands_at_once(
    lab: Lab, resource: str, patience: float
) -> None:
    both = threading.Barrier(2)
    met: list[bool] = []

    def work(_call: Call) -> None:
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait(patience)
            met.append(True)

    lab.script.on(f"{resource}.work", always=work)

    record = lab.one(step("a", resource, needs=[]), step("b", resource, needs=[]))

    assert record.outcome is DONE
    assert met == [True] * (2 if resource == "Crowd" else 0)
    assert lab.script.count(f"{resource}.start") == 1


def test_nothing_starts_any_more_once_all_was_aborted(lab: Lab) -> None:
    """A step that waits its turn must not bring up a new instance after the second Ctrl-C."""
    case = lab.case(step("a", needs=[]), step("b", needs=[]))
    session = lab.session(case)
    busy, go_on = threading.Event(), threading.Event()

    def hold(_call: Call) -> None:
        busy.set()
        assert go_on.wait(10)
        raise CommandFailedError("killed")

    lab.script.on("Alpha.work", hold)
    with ThreadPoolExecutor(2) as pool:
        pool.submit(session.steps.execute, case.steps[0])
        assert busy.wait(10)
        pool.submit(session.steps.execute, case.steps[1])
        session.abort()
        go_on.set()
    session.abandon()

    assert [lab.script.count(f"Alpha.{method}") for method in ("start", "work", "stop")] == [1] * 3


# -- what resources say of themselves


@pytest.mark.parametrize("known", [True, False])
def test_a_version_is_asked_while_the_system_runs(lab: Lab, *, known: bool) -> None:
    """A server that was stopped answers nothing; a version that cannot be told is null."""

    def version(_call: Call) -> str:
        alive = lab.script.count("Alpha.wait_until_ready") > lab.script.count("Alpha.stop")
        if not alive or not known:
            raise ConnectionError("connection refused")
        return "16.4"

    lab.script.on("Alpha.version", always=version)

    record = lab.one(step("a"), step("b"))

    assert record.outcome is DONE
    assert record.resources["Alpha"] == {"version": "16.4" if known else None, "settings": {}}
    assert not known or lab.script.count("Alpha.version") == 1


@pytest.mark.parametrize(
    ("told", "recorded"),
    [
        ([{"id": 1, "limits": {"cpus": None}}], {"id": 1, "limits": {"cpus": None}}),
        ([{"id": "begin"}, {"id": "ready"}], {"id": "ready"}),
        ([{"id": "begin"}, RuntimeError("no idea")], {"id": "begin"}),
        ([{"version": "another"}], {}),
    ],
    ids=["facts", "the last ones count", "the first ones stay", "never the version"],
)
def test_what_a_resource_tells_of_itself_is_in_the_record(
    lab: Lab, told: list[Any], recorded: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = Mock(side_effect=[*told, *[{}] * 9])
    monkeypatch.setattr(lab.classes["Alpha"], "facts", facts)

    resources = lab.one(step("a")).resources

    assert resources["Alpha"] == {"version": "1.2.3", "settings": {}, **recorded}


def test_a_resource_that_cannot_say_what_it_owns_owns_nothing(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab.classes["Alpha"], "pids", Mock(side_effect=RuntimeError("no idea")))

    assert lab.one(step("a")).outcome is DONE
