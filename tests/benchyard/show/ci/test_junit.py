"""JUnit XML says what happened, to the readers that there are."""

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.core.model import Outcome
from benchyard.results.record import ErrorRecord
from benchyard.show.ci.checks import CheckedCase, State, StepCheck, checks_of, compared_checks
from benchyard.show.ci.reports import junit
from tests.benchyard.analysis.comparison.conftest import (
    BASE,
    compared,
    failed,
    run,
    runs,
    scaled,
    step,
)
from tests.benchyard.show.ci.conftest import attributes, outcome, xml


def test_steps_have_their_medians_and_all_that_happened(tmp_path: Path) -> None:
    records = [
        run(
            n,
            step(1.0 + n, index=1),
            failed("try", Outcome.TOLERATED, index=2),
            step(0.5, name="sort", index=3, suspect=("it swapped",) if n == 2 else ()),
            step(0.1, name="setup", index=4, measure=False),
        )
        for n in range(1, 8)
    ]
    root = xml([checks_of(outcome(tmp_path / "results", records))])
    assert attributes(root, "tests", "failures", "errors", "skipped") == ("4", "0", "0", "0")
    (suite,) = root
    assert attributes(suite, "name", "hostname") == ("tpch", "bench1")
    assert suite.get("timestamp") == "2026-01-01T00:01:00"
    tests = {test.get("name"): test for test in suite.iter("testcase")}
    assert list(tests) == ["Load", "Try", "Sort", "Setup"]
    assert {test.get("classname") for test in tests.values()} == {"tpch"}
    assert tests["Load"].get("time") == "5.0"
    facts = {one.get("name"): one.get("value") for one in tests["Load"].iter("property")}
    assert facts == {"runs": "7", "median_s": "5.0", "low_s": "2.0", "high_s": "8.0"}
    assert tests["Try"].findtext("system-out") == "tolerated in 7 of 7 runs"
    assert tests["Sort"].findtext("system-out") == "suspect in run 2: it swapped"
    assert tests["Setup"].get("time") is None
    assert float(suite.get("time") or 0) == pytest.approx(5.5)


def test_a_failed_step_tells_why_and_what_it_kept_from_running(tmp_path: Path) -> None:
    error = ErrorRecord("ResourceError", "'sqlite3' failed: exit code 9; on stderr: no such table")
    broken = failed("load", Outcome.FAILED)
    attempts = tuple(replace(one, error=error) for one in broken.attempts)
    records = [
        *runs(1.0, 2.0),
        run(
            3,
            failed("load", attempts=attempts),
            failed("sort", Outcome.SKIPPED, index=2, reason="load failed"),
        ),
    ]
    root = xml([checks_of(outcome(tmp_path / "results", records))])
    assert attributes(root, "tests", "failures", "skipped") == ("2", "1", "1")
    load, sort = root.iter("testcase")
    (failure,) = load.iter("failure")
    assert attributes(failure, "type", "message") == ("failed", "run 3: exit 9: no such table")
    assert failure.text == failure.get("message")
    assert sort.findtext("skipped") == "load failed"


def test_what_fails_outside_of_the_steps_is_a_test_too(tmp_path: Path) -> None:
    error = ErrorRecord("ResourceError", "the engine did not start")
    stopped = run(2, step(1.0), outcome=Outcome.FAILED, error=error)
    root = xml([checks_of(outcome(tmp_path / "results", [*runs(1.0), stopped]))])
    (failure,) = root.iter("failure")
    assert failure.text == "run 2: the engine did not start"


def test_what_cannot_be_compared_is_skipped_and_not_passed(tmp_path: Path) -> None:
    other = runs(*BASE, case={"name": "other", "title": "other"})
    root = xml([checks_of(outcome(tmp_path / "results", runs(*BASE), other))])
    (skipped,) = root.iter("skipped")
    assert skipped.text == "the baseline has no runs of tpch"


def test_a_case_without_runs_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    empty = outcome(tmp_path / "results", [run(1, outcome=Outcome.CANCELLED)])
    assert attributes(xml([checks_of(empty)]), "tests", "skipped") == ("1", "1")


def test_a_comparison_has_a_test_for_each_step_and_metric() -> None:
    root = xml(compared_checks(compared(scaled(1.0), scaled(2.0))))
    assert attributes(root, "tests", "failures") == ("1", "1")
    (failure,) = root.iter("failure")
    assert failure.get("type") == "regression"
    assert [one.get("time") for one in root.iter("testcase")] == ["2.002"]
    better = xml(compared_checks(compared(scaled(2.0), scaled(1.0))))
    assert attributes(better, "failures", "skipped") == ("0", "0")
    few = xml(compared_checks(compared(runs(1.0, 1.1), runs(2.0, 2.1))))
    (skipped,) = few.iter("skipped")
    assert "cannot tell" in str(skipped.text)


def test_two_steps_of_one_name_stay_two(tmp_path: Path) -> None:
    twice = run(1, step(1.0, index=1), step(2.0, name="again", index=2))
    alike = run(1, *(replace(one, name="Q") for one in twice.steps))
    root = xml([checks_of(outcome(tmp_path / "results", [alike]))])
    assert [one.get("name") for one in root.iter("testcase")] == ["Q", "Q (2)"]


HOSTILE = "\x00\x1b[31mred\x1b[0m ]]> <a b='c'>&amp; \ud800 \uffff \u202e \r\n\t\"end\""


def _case(text: str) -> CheckedCase:
    checks = [StepCheck(text, state=state, kind=text, text=text, notes=(text,)) for state in State]
    return CheckedCase(text, tuple(checks), host=text, notes=(text,), facts={text: text})


def test_hostile_text_is_text() -> None:
    made = junit([_case(HOSTILE)])
    assert b"\x1b" not in made
    assert b"\x00" not in made
    root = ET.fromstring(made)  # noqa: S314 - made here
    assert "\\x1b[31mred\\x1b[0m ]]> <a b='c'>&amp;" in str(root.findtext(".//failure"))
    tags = ("failure", "error", "skipped", "testcase")
    assert [len(list(root.iter(tag))) for tag in tags] == [1, 1, 1, 4]


@given(st.text(st.characters(codec=None)))
def test_any_text_makes_a_document_that_parses(text: str) -> None:
    root = ET.fromstring(junit([_case(text)]))  # noqa: S314 - made here
    assert len(list(root.iter("testcase"))) == len(State)
