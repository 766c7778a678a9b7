"""The end of a case's flow run: who is told what."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast
from unittest.mock import Mock, call

import pytest

from benchyard.core.errors import InputError, RunInterruptedError
from benchyard.core.model import Case
from benchyard.run.engine import Executed
from benchyard.run.progress import Event
from benchyard.run.request import Request
from benchyard.run.run_context import RunContext
from tasks import finish as module
from tasks.finish import conclude, concluding
from tests.benchyard.analysis.comparison.conftest import failed, place, run, runs

BASE = (1.0, 1.01, 0.99, 1.005, 0.995, 1.002, 0.998, 1.004)


@pytest.fixture
def away(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """Say for how long a server was away (s)."""
    away = Mock(return_value=0.0)
    monkeypatch.setattr(module, "wait_for_server", away)
    return away


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, away: Mock) -> Mock:
    """Stand in for what announces events to Prefect."""
    assert away
    told = Mock()
    for name in ("announce_failure", "announce_regression", "announce_return"):
        monkeypatch.setattr(module, name, getattr(told, name))
    return told


def setting(results: Path, **more: Any) -> RunContext:
    case = Case(results, "urn:tpch", "tpch", "", ())
    return RunContext(case, results, cast("Any", None), 0.1, cast("Any", None), **more)


def announced(told: Mock) -> list[str]:
    return [name for name, _, _ in told.mock_calls]


def request(**wishes: Any) -> Request:
    return replace(Request(case="tpch"), **wishes)


def test_failed_runs_are_one_event(told: Mock, tmp_path: Path) -> None:
    executed = Executed((run(1, failed()), run(2, failed())), (), False)

    state = conclude(setting(tmp_path), executed, request())

    assert state.is_failed()
    assert announced(told) == ["announce_failure"]
    case, reason, about = told.announce_failure.call_args.args
    assert case == "tpch"
    assert reason.startswith("runs 1-2: step Load: failed; 0 runs done")
    assert [one["run"] for one in about["runs_failed"]] == [1, 2]


def test_a_regression_is_told_and_the_flow_run_completes(told: Mock, tmp_path: Path) -> None:
    baseline = place(tmp_path / "old", runs(*BASE))
    slow = runs(*[2 * value for value in BASE])
    results = place(tmp_path / "new", slow)
    executed = Executed(tuple(slow), tuple(range(1, 9)), False)

    notices: list[Event] = []
    context = setting(results, listener=notices.append)

    state = conclude(context, executed, request(baseline=str(baseline)))

    assert state.is_completed()
    assert (state.message or "").startswith("8 runs done; 1 regression: tpch: step Load is slower")
    assert announced(told) == ["announce_regression"]
    assert len(notices) == 2


def test_the_first_night_says_that_there_is_nothing_to_compare_with(
    told: Mock, tmp_path: Path
) -> None:
    results = place(tmp_path / "new", runs(*BASE))
    executed = Executed(tuple(runs(*BASE)), tuple(range(1, 9)), False)

    state = conclude(setting(results), executed, request(baseline="previous"))

    first = "nothing to compare with: it is the first campaign on this host"
    assert state.message == f"8 runs done; {first}"
    assert told.mock_calls == []


def test_a_retry_compares_what_its_first_attempt_had_executed(told: Mock, tmp_path: Path) -> None:
    """It died after the last run: nothing is left to execute."""
    night = runs(*[2 * value for value in BASE], flow_run={"id": "night"})
    results = place(tmp_path / "new", night)
    place(results / "earlier" / "20260101T010000Z-0123456789ab", runs(*BASE))
    context = setting(results, flow_run={"id": "night", "attempt": 2})
    executed = Executed((), tuple(range(1, 9)), False)

    state = conclude(context, executed, request(baseline="previous"))

    assert "1 regression: tpch: step Load is slower" in (state.message or "")
    assert announced(told) == ["announce_regression"]


def test_a_case_that_cannot_begin_is_told_and_raised(told: Mock) -> None:
    with pytest.raises(InputError), concluding(request(case="nonsense")):
        raise InputError("no case is 'nonsense'")

    assert told.mock_calls == [call.announce_failure("nonsense", "no case is 'nonsense'")]


@pytest.mark.parametrize("error", [RunInterruptedError("stopped"), KeyboardInterrupt()])
def test_an_interruption_is_no_failure(error: BaseException, told: Mock) -> None:
    with pytest.raises(type(error)), concluding(request()):
        raise error

    assert told.mock_calls == []


def test_a_server_that_was_away_is_told_that_it_is_back(told: Mock, away: Mock) -> None:
    away.return_value = 12.0
    with concluding(request()):
        pass

    assert told.mock_calls == [call.announce_return(12.0)]
