"""What the events say, and that no trouble with them is anybody else's."""

from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from prefect.exceptions import EventTooLarge

from benchyard.analysis.comparison.gate import Regression
from benchyard.core.model import Outcome
from benchyard.results.record import Attempt, ErrorRecord
from tasks import events
from tests.benchyard.analysis.comparison.conftest import WHEN, failed, repetition, run, step


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """Stand in for Prefect's function."""
    heard = Mock()
    monkeypatch.setattr(events, "emit_event", heard)
    return heard


def names(heard: Mock) -> list[str]:
    return [call.args[0] for call in heard.call_args_list]


def payloads(heard: Mock) -> list[dict[str, Any]]:
    return [call.kwargs["payload"] for call in heard.call_args_list]


def resource(heard: Mock) -> str:
    """Return which resource the only event is about."""
    return heard.call_args.kwargs["resource"]["prefect.resource.id"]


def broken(number: int, message: str = "no route") -> Attempt:
    error = ErrorRecord("CommandFailedError", message)
    return Attempt(number, WHEN, 0.0, 1.0, Outcome.FAILED, (), error)


def good(number: int) -> Attempt:
    return Attempt(number, WHEN, 0.0, 1.0, Outcome.COMPLETED, (repetition(2.0),))


def test_a_completed_run_tells_of_its_steps(heard: Mock, tmp_path: Path) -> None:
    events.announce_run(run(2, step(1.0, 3.0), flow_run={"id": "abc"}), tmp_path)

    assert names(heard) == ["benchyard.run.completed"]
    assert resource(heard) == "benchyard.case.tpch"
    (payload,) = payloads(heard)
    assert (payload["case"], payload["run"], payload["flow_run"]) == ("tpch", 2, {"id": "abc"})
    assert payload["results"] == str(tmp_path)
    assert payload["steps"] == [
        {"index": 1, "name": "Load", "outcome": "completed", "attempts": 1, "median_s": 2.0}
    ]


def test_a_tolerated_step_is_told_as_retried_and_as_tolerated(heard: Mock, tmp_path: Path) -> None:
    shaky = failed(outcome=Outcome.TOLERATED, attempts=(broken(1), broken(2)))

    events.announce_run(run(1, shaky), tmp_path)

    assert names(heard)[1:] == ["benchyard.step.retried", "benchyard.step.tolerated"]
    assert payloads(heard)[2]["text"] == "step 1 Load: failed in 2 attempts, and may"


def test_a_failed_run_is_not_told_as_completed(heard: Mock, tmp_path: Path) -> None:
    record = run(1, failed(attempts=(broken(1),)))

    events.announce_run(record, tmp_path)
    events.announce_failure("tpch", "run 1 failed", events.failure_of([record], tmp_path))

    assert names(heard) == ["benchyard.case.failed"]
    (payload,) = payloads(heard)
    assert payload["text"] == "tpch failed: run 1 failed"
    (told,) = payload["runs_failed"]
    assert told["why"] == "step Load: no route"
    assert told["error"] == {"type": "CommandFailedError", "message": "no route"}
    assert told["log"].endswith("run_1/log.txt")


def test_a_case_with_a_matrix_has_an_id_of_its_own(heard: Mock, tmp_path: Path) -> None:
    found = Regression("tpch[scale=0.01]", "q1", "Q1", "slower", "duration_s", "s", 1.0, 2.0, 2.0)

    events.announce_regression(found, tmp_path, "old")

    assert names(heard) == ["benchyard.regression.found"]
    assert resource(heard) == "benchyard.case.tpch-scale=0.01"
    (payload,) = payloads(heard)
    assert (payload["baseline_median"], payload["candidate_median"]) == (1.0, 2.0)
    assert payload["baseline"] == "old"


def test_long_errors_and_many_steps_are_cut(heard: Mock, tmp_path: Path) -> None:
    attempts = tuple(broken(n, "x" * 100_000) for n in range(1, 200))
    steps = [step(1.0, index=n) for n in range(1, 2_000)]

    events.announce_run(run(1, failed(attempts=attempts), *steps), tmp_path)
    events.announce_run(run(1, *steps), tmp_path)

    assert all(len(str(payload)) < 500_000 for payload in payloads(heard))


@pytest.mark.parametrize("error", [RuntimeError("no"), EventTooLarge(2, 1), OSError(28, "full")])
def test_no_trouble_with_events_is_raised(error: Exception, heard: Mock, tmp_path: Path) -> None:
    heard.side_effect = error
    events.announce_run(run(1, step(1.0)), tmp_path)
    events.announce_failure("tpch", "it failed")
