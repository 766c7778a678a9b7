"""The life of resources: started once, stopped always, in reverse, whatever else goes wrong."""

import contextlib
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from benchyard.core.errors import CommandFailedError, NotReadyError
from benchyard.core.model import Outcome
from benchyard.results.record import RunRecord
from tests.benchyard.run.conftest import (
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


@pytest.mark.parametrize("method", ["start", "wait_until_ready"])
def test_a_half_finished_start_is_stopped_too(lab: Lab, method: str) -> None:
    lab.script.on(f"Alpha.{method}", NotReadyError("the port is taken"))

    record = lab.one(step("a"))

    assert record.outcome is FAILED
    assert life(lab.script)[-2:] == [method, "stop"]
    assert lab.script.count("Alpha.stop") == 1
    broken = phases(record)[-2]
    assert (broken.phase, broken.outcome) == (method[:5].replace("wait_", "ready"), FAILED)
    assert broken.error is not None
    assert broken.error.message == "the port is taken"
    (attempt,) = record.steps[0].attempts
    assert (attempt.outcome, attempt.repetitions) == (FAILED, ())
    assert attempt.error == broken.error


def test_a_retry_starts_a_new_instance_after_a_broken_start(lab: Lab) -> None:
    lab.script.on("Alpha.wait_until_ready", NotReadyError("died"))

    record = lab.one(step("a", retries=1))

    assert record.outcome is DONE
    assert life(lab.script) == [
        *("initialize", "start", "wait_until_ready"),
        *("stop", "start", "wait_until_ready", "work", "stop"),
    ]
    first, second = (c.resource for c in lab.script.calls if c.key == "Alpha.start")
    assert first is not second
    assert first.workspace == second.workspace


@pytest.mark.parametrize("method", ["start", "wait_until_ready", "initialize"])
def test_a_false_from_a_krown_style_life_method_is_an_error(lab: Lab, method: str) -> None:
    lab.script.on(f"Alpha.{method}", lambda _: False)

    record = lab.one(step("a"))

    assert record.outcome is FAILED
    assert "Alpha.work" not in lab.script.keys
    errors = [p.error.message for p in record.phases if p.error]
    assert errors == [f"Alpha.{method} returned False"]


# -- defects 35 and 36: whatever raises, everything is stopped


def raised_in(lab: Lab, place: str, error: BaseException) -> RunRecord:
    """Execute a run of three resources in which ``place`` raises."""
    lab.script.on(place, error)
    return lab.one(step("a"), step("b", "Beta"), step("c", "Crowd"))


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
    record = raised_in(lab, place, error)

    assert [key for key in lab.script.keys if key.endswith(".stop")] == stopped
    assert lab.collectors[0].running is False
    assert record.outcome is (DONE if place == "Beta.stop" else FAILED)


def test_defect_36_a_stop_that_fails_keeps_no_other_from_stopping(lab: Lab) -> None:
    for name in ("Alpha", "Beta", "Crowd"):
        lab.script.on(f"{name}.stop", RuntimeError(f"{name} is stuck"))

    record = lab.one(step("a"), step("b", "Beta"), step("c", "Crowd"))

    assert [key for key in lab.script.keys if key.endswith(".stop")] == [
        *("Crowd.stop", "Beta.stop", "Alpha.stop")
    ]
    assert record.outcome is DONE
    assert record.warnings == tuple(
        f"{name} did not stop cleanly: {name} is stuck" for name in ("Crowd", "Beta", "Alpha")
    )


def test_a_constructor_that_raises_fails_the_run_and_is_recorded(lab: Lab) -> None:
    class Gamma(FakeResource):
        script = lab.script

        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            raise RuntimeError("cannot be made")

    lab.classes["Gamma"] = Gamma

    record = lab.one(step("a"), step("b", "Gamma"))

    assert record.outcome is FAILED
    assert record.error is not None
    assert record.error.message == "cannot be made"
    assert [s.outcome for s in record.steps] == [Outcome.SKIPPED] * 2
    assert "Alpha.work" not in lab.script.keys


# -- broken instances


def after_timeout(lab: Lab) -> None:
    aborted = threading.Event()

    def late(_call: Call) -> None:
        assert aborted.wait(10)
        raise CommandFailedError("killed")

    lab.script.on("Alpha.abort", lambda _: aborted.set())
    lab.script.on("Alpha.work", late)


def workers(lab: Lab) -> list[FakeResource]:
    return [call.resource for call in lab.script.calls if call.key == "Alpha.work"]


def test_an_aborted_instance_is_stopped_and_a_new_one_takes_over(lab: Lab) -> None:
    after_timeout(lab)

    record = lab.one(step("a", timeout=0.5, retries=1))

    assert record.outcome is DONE
    assert life(lab.script) == [
        *("initialize", "start", "wait_until_ready", "work", "abort"),
        *("stop", "start", "wait_until_ready", "work", "stop"),
    ]
    first, second = workers(lab)
    assert first is not second
    assert first.workspace == second.workspace, "a database's files outlive its server"


@pytest.mark.parametrize("expect_failure", [False, True])
def test_an_instance_that_died_of_a_command_is_not_used_again(
    lab: Lab, *, expect_failure: bool
) -> None:
    lab.script.on("Alpha.work", NO)
    lab.script.on("Alpha.alive", lambda _: False)

    record = lab.one(step("a", expect_failure=expect_failure, may_fail=True, retries=0), step("b"))

    assert record.outcome is DONE
    first, second = workers(lab)
    assert first is not second
    assert lab.script.count("Alpha.stop") == 2


@pytest.mark.parametrize(("alive", "starts"), [(None, 1), (ConnectionError("gone"), 2)])
def test_an_instance_that_survived_a_failure_is_used_again_if_it_can_say_so(
    lab: Lab, alive: Exception | None, starts: int
) -> None:
    lab.script.on("Alpha.work", NO)
    lab.script.on("Alpha.alive", alive)

    record = lab.one(step("a", retries=1))

    assert record.outcome is DONE
    assert len(set(map(id, workers(lab)))) == lab.script.count("Alpha.start") == starts


def test_a_replacement_that_cannot_be_made_says_why_each_time(lab: Lab) -> None:
    made: list[object] = []

    class Gamma(FakeResource):
        script = lab.script

        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            made.append(self)
            if len(made) > 1:
                raise RuntimeError("no second one")

    lab.classes["Gamma"] = Gamma
    lab.script.on("Gamma.work", NO)
    lab.script.on("Gamma.alive", lambda _: False)

    record = lab.one(step("a", "Gamma", retries=2))

    errors = [attempt.error for attempt in record.steps[0].attempts]
    assert [error.message for error in errors if error] == ["no", *["no second one"] * 2]
    assert lab.script.count("Gamma.stop") == 1


# -- side by side


def two_at_once(lab: Lab, resource: str, patience: float) -> tuple[RunRecord, bool]:
    """Execute two independent steps; tell whether both commands were under way at once."""
    both = threading.Barrier(2)
    met: list[bool] = []

    def work(_call: Call) -> None:
        try:
            both.wait(patience)
            met.append(True)
        except threading.BrokenBarrierError:
            met.append(False)

    lab.script.on(f"{resource}.work", always=work)
    record = lab.one(step("a", resource, needs=[]), step("b", resource, needs=[]))
    return record, met == [True, True]


def test_a_resource_that_takes_one_command_gets_one_at_a_time(lab: Lab) -> None:
    record, together = two_at_once(lab, "Alpha", 0.2)

    assert record.outcome is DONE
    assert not together
    assert lab.script.count("Alpha.start") == 1


def test_a_concurrent_resource_gets_several(lab: Lab) -> None:
    record, together = two_at_once(lab, "Crowd", 30)

    assert record.outcome is DONE
    assert together
    assert lab.script.count("Crowd.start") == 1


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
    threads = [
        threading.Thread(target=ignoring(lambda s=s: session.attempt(s))) for s in case.steps
    ]
    threads[0].start()
    assert busy.wait(10)
    threads[1].start()
    session.abort()
    go_on.set()
    for thread in threads:
        thread.join(10)
    session.abandon()

    assert lab.script.count("Alpha.start") == 1
    assert lab.script.count("Alpha.work") == 1
    assert lab.script.count("Alpha.stop") == 1


def ignoring(action: Callable[[], None]) -> Callable[[], None]:
    def act() -> None:
        with contextlib.suppress(Exception):  # how it failed is in the record
            action()

    return act


# -- what resources say of themselves


def test_a_version_is_asked_while_the_system_runs(lab: Lab) -> None:
    """A server that was stopped answers nothing."""

    def version(call: Call) -> str:
        alive = lab.script.count("Alpha.wait_until_ready") > lab.script.count("Alpha.stop")
        if not alive:
            raise ConnectionError("connection refused")
        return f"{call.resource.settings.password}16.4"

    lab.script.on("Alpha.version", always=version)

    record = lab.one(step("a"), step("b"))

    assert record.resources["Alpha"] == {"version": "16.4", "settings": {}}
    assert lab.script.count("Alpha.version") == 1


def test_a_version_that_cannot_be_told_is_null(lab: Lab) -> None:
    lab.script.on("Alpha.version", always=RuntimeError("no idea"))

    record = lab.one(step("a"))

    assert record.outcome is DONE
    assert record.resources["Alpha"] == {"version": None, "settings": {}}


def facts_of(lab: Lab, *told: Any) -> Any:
    """Execute a case whose resource tells these facts, or raises them, one after another."""
    facts = iter(told)

    class Alpha(FakeResource):
        script = lab.script

        def facts(self) -> Mapping[str, Any]:
            each = next(facts, dict[str, Any]())
            if isinstance(each, Exception):
                raise each
            return each

    lab.classes["Alpha"] = Alpha
    return lab.one(step("a")).resources["Alpha"]


@pytest.mark.parametrize(
    ("told", "recorded"),
    [
        (
            [{"id": "sha256:1", "limits": {"cpus": None}}],
            {"id": "sha256:1", "limits": {"cpus": None}},
        ),
        ([{"id": "begin"}, {"id": "ready"}], {"id": "ready"}),
        ([{"id": "begin"}, RuntimeError("no idea")], {"id": "begin"}),
        ([{"version": "another"}], {}),
    ],
    ids=["facts", "the last ones count", "the first ones stay", "never the version"],
)
def test_what_a_resource_tells_of_itself_is_in_the_record(
    lab: Lab, told: list[Any], recorded: dict[str, Any]
) -> None:
    assert facts_of(lab, *told) == {"version": "1.2.3", "settings": {}, **recorded}


def test_a_resource_that_cannot_say_what_it_owns_owns_nothing(lab: Lab) -> None:
    class Vague(FakeResource):
        script = lab.script

        def pids(self, step: str | None = None) -> list[int]:
            raise RuntimeError(f"no idea of {step}")

    lab.classes["Vague"] = Vague

    assert lab.one(step("a", "Vague")).outcome is DONE
