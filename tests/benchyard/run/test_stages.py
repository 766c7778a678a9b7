"""The stages as plain calls: attempts in a row, threads only where steps run side by side."""

import queue
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.errors import CommandFailedError
from benchyard.core.model import Step
from benchyard.core.places import archive_of, spool_of
from benchyard.run.session import Session
from benchyard.run.stages import DirectStages, Publication
from tests.benchyard.publish.conftest import names
from tests.benchyard.run.conftest import Call, Lab, step

NO = CommandFailedError("no")


def ready(lab: Lab, **keys: Any) -> tuple[Session, Step]:
    case = lab.case(step("a", **keys))
    return lab.session(case), case.steps[0]


@pytest.mark.parametrize(("failures", "attempts"), [([NO] * 9, 4), ([], 1)])
def test_a_step_is_tried_until_it_succeeds_and_as_often_as_it_may_be(
    lab: Lab, failures: list[Exception], attempts: int
) -> None:
    lab.script.on("Alpha.work", *failures)
    session, a = ready(lab, retries=3)

    assert DirectStages().step(session, a, ()) == "a"

    assert lab.script.count("Alpha.work") == attempts
    session.abandon()


def test_a_wish_to_stop_ends_the_delay_before_the_next_attempt(lab: Lab) -> None:
    session, a = ready(lab, retries=3, retry_delay=3600)

    def fail(_call: Call) -> None:
        session.stopping.set()
        raise NO

    lab.script.on("Alpha.work", fail)

    DirectStages().step(session, a, ())

    assert lab.script.count("Alpha.work") == 1
    session.abandon()


def test_a_submitted_step_runs_in_a_thread_and_reports_its_end(lab: Lab) -> None:
    session, a = ready(lab)
    done: queue.Queue[Step] = queue.Queue()
    names: list[str] = []
    lab.script.on("Alpha.work", lambda _: names.append(threading.current_thread().name))

    assert DirectStages().submit(session, a, (), done) == "a"

    assert done.get(timeout=10) is a
    assert names == ["01-a"]
    session.abandon()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_submitted_step_reports_its_end_even_if_its_thread_breaks(lab: Lab) -> None:
    """Else the engine would wait for ever."""
    session, a = ready(lab)
    done: queue.Queue[Step] = queue.Queue()
    lab.script.on("Alpha.work", SystemExit(1), always=None)
    lab.script.on("Alpha.start", KeyboardInterrupt())

    DirectStages().submit(session, a, (), done)

    assert done.get(timeout=10) is a
    session.abandon()


def test_what_is_done_is_uploaded_and_then_archived(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "home"))
    case = lab.case(step("a"))
    lab.execute(case, (1,))

    publication = Publication(replace(lab.setting(case), sinks=("local",)))

    publication.upload()
    assert len(names(spool_of("local"))) == 1
    publication.archive()
    assert names(spool_of("local")) == []
    assert len(names(archive_of("local"))) == 1
    publication.tell()
    assert not any("local" in str(event) for event in lab.events)


def test_without_a_sink_nothing_is_published(lab: Lab) -> None:
    case = lab.case(step("a"))
    lab.execute(case, (1,))

    assert not Publication(lab.setting(case)).runs
