"""What the events say, and that no trouble with them is anybody else's."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from prefect.exceptions import EventTooLarge

from benchyard.analysis.comparison.gate import Regression
from benchyard.core.model import Outcome
from benchyard.results.record import Attempt, ErrorRecord
from tasks import events
from tests.benchyard.analysis.comparison.conftest import WHEN, failed, repetition, run, step


@dataclass
class Heard:
    """Stands in for Prefect's function."""

    events: list[tuple[str, Mapping[str, str], dict[str, Any]]] = field(
        default_factory=list[tuple[str, Mapping[str, str], dict[str, Any]]]
    )

    def __call__(self, event: str, *, resource: dict[str, str], payload: dict[str, Any]) -> None:
        self.events.append((event, resource, payload))

    @property
    def names(self) -> list[str]:
        return [name for name, *_ in self.events]


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Heard:
    heard = Heard()
    monkeypatch.setattr(events, "emit_event", heard)
    return heard


def broken(number: int, message: str = "no route") -> Attempt:
    error = ErrorRecord("CommandFailedError", message)
    return Attempt(number, WHEN, 0.0, 1.0, Outcome.FAILED, (), error)


def good(number: int) -> Attempt:
    return Attempt(number, WHEN, 0.0, 1.0, Outcome.COMPLETED, (repetition(2.0),))


def test_a_completed_run_tells_of_its_steps(heard: Heard, tmp_path: Path) -> None:
    events.announce_run(run(2, step(1.0, 3.0), flow_run={"id": "abc"}), tmp_path)

    ((name, resource, payload),) = heard.events
    assert name == "benchyard.run.completed"
    assert resource["prefect.resource.id"] == "benchyard.case.tpch"
    assert (payload["case"], payload["run"], payload["flow_run"]) == ("tpch", 2, {"id": "abc"})
    assert payload["results"] == str(tmp_path)
    assert payload["steps"] == [
        {"index": 1, "name": "Load", "outcome": "completed", "attempts": 1, "median_s": 2.0}
    ]


def test_a_tolerated_step_is_told_as_retried_and_as_tolerated(heard: Heard, tmp_path: Path) -> None:
    shaky = failed(outcome=Outcome.TOLERATED, attempts=(broken(1), broken(2)))

    events.announce_run(run(1, shaky), tmp_path)

    assert heard.names[1:] == ["benchyard.step.retried", "benchyard.step.tolerated"]
    assert heard.events[2][2]["text"] == "step 1 Load: failed in 2 attempts, and may"


def test_a_failed_run_is_not_told_as_completed(heard: Heard, tmp_path: Path) -> None:
    record = run(1, failed(attempts=(broken(1),)))

    events.announce_run(record, tmp_path)
    events.announce_failure("tpch", "run 1 failed", events.failure_of([record], tmp_path))

    assert heard.names == ["benchyard.case.failed"]
    payload = heard.events[0][2]
    assert payload["text"] == "tpch failed: run 1 failed"
    assert payload["runs_failed"][0]["why"] == "step Load: no route"
    (told,) = payload["runs_failed"]
    assert told["error"] == {"type": "CommandFailedError", "message": "no route"}
    assert told["log"].endswith("run_1/log.txt")


def test_a_case_with_a_matrix_has_an_id_of_its_own(heard: Heard, tmp_path: Path) -> None:
    found = Regression("tpch[scale=0.01]", "q1", "Q1", "slower", "duration_s", "s", 1.0, 2.0, 2.0)

    events.announce_regression(found, tmp_path, "old")

    ((name, resource, payload),) = heard.events
    assert name == "benchyard.regression.found"
    assert resource["prefect.resource.id"] == "benchyard.case.tpch-scale=0.01"
    assert (payload["baseline_median"], payload["candidate_median"]) == (1.0, 2.0)
    assert payload["baseline"] == "old"


def test_long_errors_and_many_steps_are_cut(heard: Heard, tmp_path: Path) -> None:
    attempts = tuple(broken(n, "x" * 100_000) for n in range(1, 200))
    steps = [step(1.0, index=n) for n in range(1, 2_000)]

    events.announce_run(run(1, failed(attempts=attempts), *steps), tmp_path)
    events.announce_run(run(1, *steps), tmp_path)

    assert all(len(str(payload)) < 500_000 for *_, payload in heard.events)


@pytest.mark.parametrize("error", [RuntimeError("no"), EventTooLarge(2, 1), OSError(28, "full")])
def test_no_trouble_with_events_is_raised(
    error: Exception, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(events, "emit_event", refuse)
    events.announce_run(run(1, step(1.0)), tmp_path)
    events.announce_failure("tpch", "it failed")
