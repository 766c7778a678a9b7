"""The stages as plain calls: attempts in a row, threads only where steps run side by side."""

import os
import queue
import threading
from typing import Any

import pytest

from benchyard.core.errors import CommandFailedError
from benchyard.core.model import Step
from benchyard.results.layout import done_runs
from benchyard.run.plain import PlainStages, summarize, summarize_if_older
from benchyard.run.session import Session
from tests.benchyard.run.conftest import Call, Lab, step

NO = CommandFailedError("no")


def ready(lab: Lab, **keys: Any) -> tuple[Session, Step]:
    case = lab.case(step("a", **keys))
    return lab.session(case), case.steps[0]


def test_a_step_is_tried_as_often_as_it_may_be(lab: Lab) -> None:
    lab.script.on("Alpha.work", always=NO)
    session, a = ready(lab, retries=3)

    assert PlainStages().step(session, a, ()) == "a"

    assert lab.script.count("Alpha.work") == 4
    session.abandon()


def test_no_attempt_follows_a_success(lab: Lab) -> None:
    session, a = ready(lab, retries=3)

    PlainStages().step(session, a, ())

    assert lab.script.count("Alpha.work") == 1
    session.abandon()


def test_a_wish_to_stop_ends_the_delay_before_the_next_attempt(lab: Lab) -> None:
    session, a = ready(lab, retries=3, retry_delay=3600)

    def fail(_call: Call) -> None:
        session.stopping.set()
        raise NO

    lab.script.on("Alpha.work", fail)

    PlainStages().step(session, a, ())

    assert lab.script.count("Alpha.work") == 1
    session.abandon()


def test_a_submitted_step_runs_in_a_thread_and_reports_its_end(lab: Lab) -> None:
    session, a = ready(lab)
    done: queue.Queue[Step] = queue.Queue()
    names: list[str] = []
    lab.script.on("Alpha.work", lambda _: names.append(threading.current_thread().name))

    assert PlainStages().submit(session, a, (), done) == "a"

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

    PlainStages().submit(session, a, (), done)

    assert done.get(timeout=10) is a
    session.abandon()


def test_a_summary_covers_the_finished_runs_and_no_others(lab: Lab) -> None:
    lab.script.on("Alpha.work", 1.0, NO, 3.0)
    case = lab.case(step("a"))
    lab.execute(case, (1, 2, 3))
    results = case.folder / "results"
    written = (results / "summary.json").read_bytes()
    (results / "summary.json").unlink()

    summarize(case.title, results)

    assert done_runs(results) == [1, 3]
    assert (results / "summary.json").read_bytes() == written


def test_defect_37_a_summary_is_never_older_than_the_runs(lab: Lab) -> None:
    """A lab that was killed between the last run and the summary left an old one."""
    case = lab.case(step("a"))
    lab.execute(case, (1, 2))
    results = case.folder / "results"
    written = (results / "summary.json").read_bytes()
    summarize_if_older(case.title, results)
    untouched = (results / "summary.json").stat().st_mtime_ns

    (results / "summary.json").write_text('{"format": "benchyard-summary"}')
    os.utime(results / "summary.json", ns=(0, 1))
    summarize_if_older(case.title, results)

    assert (results / "summary.json").read_bytes() == written
    assert untouched <= (results / "summary.json").stat().st_mtime_ns
    (results / "summary.json").unlink()
    summarize_if_older(case.title, results)
    assert (results / "summary.json").read_bytes() == written


def test_without_a_finished_run_no_summary_is_made(lab: Lab) -> None:
    case = lab.case(step("a"))

    summarize_if_older(case.title, case.folder / "results")

    assert not (case.folder / "results").exists()


def test_a_summary_without_runs_is_no_error(lab: Lab) -> None:
    case = lab.case(step("a"))
    lab.script.on("Alpha.work", NO)

    lab.execute(case)

    assert done_runs(case.folder / "results") == []
