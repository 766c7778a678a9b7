"""One run: its folder, its log, its record, its secrets, and what is left when things go wrong."""

import errno
import logging
import os
from contextlib import nullcontext
from unittest.mock import Mock

import pytest

from benchyard.core.errors import (
    CommandFailedError,
    MeasurementError,
)
from benchyard.core.model import Case, Outcome
from benchyard.results.folders import Results
from benchyard.results.record import RunRecord, read_record
from benchyard.run import session as session_module
from benchyard.run.progress import LOGGER
from tests.benchyard.run.conftest import Act, Call, Lab, results, step
from tests.conftest import tree

DONE, FAILED = Outcome.COMPLETED, Outcome.FAILED
SECRET = "hunter2'\\\" ü"  # noqa: S105 - a word to look for


def record_of(case: Case, run: int = 1) -> RunRecord:
    return read_record(results(case) / f"run_{run}")


@pytest.fixture(autouse=True)
def handlers_stay_as_they_were() -> object:
    """Defect 38: whatever becomes of a run, its log is closed."""
    logger = logging.getLogger(LOGGER)
    before = list(logger.handlers)
    yield
    assert logger.handlers == before


# -- files


def test_an_input_is_read_and_stays_where_it_is(lab: Lab) -> None:
    """Defect 33: a step that makes a file takes no other file away."""
    seen: list[str] = []
    lab.script.on(
        "Alpha.work", lambda c: seen.append(c.resource.workspace.file("in.nt").read_text())
    )
    made = {"reads": "in.nt", "makes": "out.nq", "text": "new"}
    case = lab.case(step("a", parameters=made), data={"in.nt": "old", "deep/er/x.nt": "x"})
    before = tree(case.shared)

    record = lab.execute(case).records[0]

    assert seen == ["old"]
    assert tree(case.shared) == before
    kept = {str(p.relative_to(results(case))) for p in results(case).rglob("*.n*") if p.is_file()}
    assert kept == {"run_1/alpha/out.nq"}
    assert [output["path"] for output in record.outputs] == ["alpha/out.nq"]
    assert record.changed_inputs == ()


def test_defect_34_two_outputs_of_one_name_are_both_kept(lab: Lab) -> None:
    case = lab.case(
        step("first", parameters={"makes": "out", "text": "1"}),
        step("second", parameters={"makes": "out", "text": "2"}),
    )

    lab.execute(case)

    kept = sorted(p.read_text() for p in results(case).rglob("out") if p.is_file())
    assert kept == ["1", "2"]


def test_an_input_that_a_run_changed_is_reported(lab: Lab) -> None:
    def spoil(call: Call) -> None:
        (call.resource.workspace.inputs / "words.txt").write_text("spoiled!")
        (call.resource.workspace.inputs / "new.txt").write_text("")

    lab.script.on("Alpha.work", spoil)

    record = lab.one(step("a"), data={"words.txt": "fine", "other.txt": "x"})

    assert record.changed_inputs == ("new.txt", "words.txt")
    assert "the run changed the input 'words.txt'" in record.warnings
    assert "the run changed the input 'words.txt'" in record.steps[0].suspect


def test_defect_20_nothing_of_a_run_passes_to_the_next(lab: Lab) -> None:
    """Nor anything of a failed try to the next try."""

    def use(call: Call) -> None:
        place = call.resource.workspace
        assert list(place.own.iterdir()) == []
        assert [f.name for f in place.shared.iterdir()] == ["words.txt"]
        (place.own / "database").write_text("state")
        (place.shared / "undeclared").write_text("state")

    def fail(call: Call) -> None:
        use(call)
        raise CommandFailedError("no")

    lab.script.on("Alpha.work", fail, always=use)
    case = lab.case(step("a"), data={"words.txt": "x"})

    tries = [lab.execute(case, runs) for runs in [(1,), (1, 2, 3)]]

    outcomes = [record.outcome for executed in tries for record in executed.records]
    assert outcomes == [FAILED, DONE, DONE, DONE]
    leftovers = {"database", "undeclared", ".work"}
    assert {p.name for p in results(case).rglob("*")}.isdisjoint(leftovers)


def test_defect_45_the_umask_is_the_users(lab: Lab) -> None:
    seen: list[int] = []

    def look(_call: Call) -> None:
        seen.append(os.umask(0o027))
        os.umask(seen[-1])

    lab.script.on("Alpha.work", look)
    case = lab.case(step("a", parameters={"makes": "out"}))
    before = os.umask(0o027)
    try:
        lab.execute(case)
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)

    assert seen == [0o027]
    files = [path for path in results(case).rglob("*") if path.is_file()]
    assert {oct(path.stat().st_mode & 0o777) for path in files} == {"0o640"}


# -- the log


def test_defect_38_each_line_is_written_once_into_the_log_of_its_run(lab: Lab) -> None:
    lab.script.on("Alpha.work", CommandFailedError("first line\nsecond line"))
    case = lab.case(step("a", may_fail=True, retries=0), step("b"))

    lab.execute(case, (1, 2))

    for run, other in ((1, 2), (2, 1)):
        text = (results(case) / f"run_{run}/log.txt").read_text()
        assert text.count(f"run {run}: 2 steps") == 1
        assert text.count(f"run {run} step 1 a: started") == 1
        assert text.count(f"run {run}: ✓ completed") == 1
        assert text.count("attempt failed, no attempt left: first line\nsecond line") == (run == 1)
        assert f"run {other}" not in text


def test_a_bug_is_in_the_log_with_its_traceback(lab: Lab) -> None:
    lab.script.on("Alpha.initialize", ZeroDivisionError("a bug"))
    case = lab.case(step("a"))

    lab.execute(case)

    text = (results(case) / "run_1/log.txt").read_text()
    assert "the run broke off" in text
    assert "Traceback" in text


# -- secrets


def leak(call: Call) -> None:
    """Raise what a careless class would: the secret is in the text and in its cause."""
    secret = call.resource.settings.password or SECRET
    cause = ValueError(f"password was {secret}")
    raise CommandFailedError(f"login with {secret} refused") from cause


def leaky(lab: Lab, key: str, act: Act = leak) -> Case:
    lab.environment["DB_PASSWORD"] = SECRET
    lab.script.on(key, always=act)
    return lab.case(
        step("a", parameters={"text": "${env:DB_PASSWORD}"}, may_fail=True, retries=1),
        step("b", "Beta", parameters={"text": "x ${env:DB_PASSWORD} y"}),
        resources={"Alpha": {"password": "${env:DB_PASSWORD}"}},
    )


@pytest.mark.parametrize(
    "key",
    [
        *("none", "Alpha.work", "Alpha.initialize", "Alpha.start", "Alpha.wait_until_ready"),
        *("Alpha.stop", "Alpha.alive", "Alpha.version"),
    ],
)
def test_a_secret_is_in_no_file_of_the_results_and_in_no_log(
    lab: Lab, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    said = {"url": f"db://{SECRET}@host", "rows": 3, "more": [{"x": SECRET}]}
    case = leaky(lab, key)
    if key == "Alpha.alive":
        lab.script.on("Alpha.work", CommandFailedError("no"))
    elif key == "none":
        lab.script.on("Alpha.work", lambda _: said)

    [record] = lab.execute(case).records

    if key == "none":
        alpha, beta = (c for c in lab.script.calls if c.key.endswith("work"))
        assert (alpha.parameters["text"], alpha.resource.settings.password) == (SECRET, SECRET)
        assert beta.parameters["text"] == f"x {SECRET} y"
        values = record.steps[0].attempts[0].repetitions[0].values
        assert values == {"url": "db://******@host", "rows": 3, "more": [{"x": "******"}]}
    assert (results(case) / "run_1/run.json").is_file()
    for path in results(case).rglob("*"):
        assert not path.is_file() or b"hunter2" not in path.read_bytes(), path
    assert "hunter2" not in caplog.text
    assert "hunter2" not in repr(lab.events)


def test_a_missing_variable_of_a_setting_is_one_clear_sentence(lab: Lab) -> None:
    record = lab.one(step("a"), resources={"Alpha": {"password": "${env:NOT_SET}"}})

    assert record.outcome is FAILED
    assert record.error is not None
    assert "environment variable 'NOT_SET'" in record.error.message
    assert lab.script.calls == []


# -- when things go wrong


@pytest.mark.parametrize("place", ["start", "stop"])
def test_a_collector_that_breaks_fails_the_run(lab: Lab, place: str) -> None:
    lab.trouble[place] = MeasurementError("no samples")
    case = lab.case(step("a"), step("b", "Beta"))

    with pytest.raises(MeasurementError, match="no samples") if place == "stop" else nullcontext():
        lab.execute(case)

    record = record_of(case)
    assert record.outcome is FAILED
    assert record.error is not None
    assert record.error.message == "no samples"
    assert lab.collectors[0].running is False
    assert [*Results(results(case)).done()] == []
    started = [key[:-6] for key in lab.script.keys if key.endswith(".start")]
    stopped = [key[:-5] for key in lab.script.keys if key.endswith(".stop")]
    assert stopped == started[::-1]


def test_a_listener_that_breaks_does_not_disturb_the_run(lab: Lab) -> None:
    """A closed terminal must not leave a container behind."""
    lab.listeners.append(Mock(side_effect=BrokenPipeError(errno.EPIPE, "Broken pipe")))

    executed = lab.execute(lab.case(step("a"), step("b", "Beta")))

    assert executed.records[0].outcome is DONE
    assert lab.script.count("Alpha.stop") == lab.script.count("Beta.stop") == 1


@pytest.mark.parametrize("name", ["View", "begin_run", "write_down", "finish_run", "Keeper"])
def test_a_full_disk_at_any_point_is_the_error_that_is_told(
    lab: Lab, name: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    case = lab.case(step("a"))
    lab.execute(case, (1,))
    before = tree(results(case) / "run_1")
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(session_module, name, Mock(side_effect=full, __name__=name))

    with pytest.raises(OSError, match="No space left on device"):
        lab.execute(case, (1, 2, 3))

    assert [*Results(results(case)).done()] == [1]
    assert tree(results(case) / "run_1") == before
    assert lab.script.count("Alpha.start") == lab.script.count("Alpha.stop")
    assert all(not collector.running for collector in lab.collectors)
    assert "Traceback" not in capfd.readouterr().err
    if name == "finish_run":
        assert record_of(case, 2).outcome is FAILED, "a run without .done did not complete"


def test_leftovers_of_a_dead_lab_are_killed_and_noted(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_module, "kill_leftovers", lambda: [4711])
    case = lab.case(step("a"))

    lab.execute(case)

    text = (results(case) / "run_1/log.txt").read_text()
    assert "killed processes that a dead lab had left: [4711]" in text
