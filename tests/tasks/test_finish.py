"""The end of a case's flow run: who is told what."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

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


@dataclass
class Told:
    """What was told to Prefect, and to the user."""

    events: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])
    notices: list[Event] = field(default_factory=list[Event])


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    told = Told()

    def note(name: str) -> Callable[..., None]:
        return lambda *arguments: told.events.append((name, *arguments))

    for name in ("announce_failure", "announce_regression", "announce_return"):
        monkeypatch.setattr(module, name, note(name))
    wait(monkeypatch, 0.0)
    return told


def wait(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    def wait_for_server(_tell: Callable[[str], None]) -> float:
        return seconds

    monkeypatch.setattr(module, "wait_for_server", wait_for_server)


def setting(results: Path, told: Told) -> RunContext:
    case = Case(results, "urn:tpch", "tpch", "", ())
    return RunContext(
        case, results, cast("Any", None), 0.1, cast("Any", None), listener=told.notices.append
    )


def request(**wishes: Any) -> Request:
    return replace(Request(case="tpch"), **wishes)


def test_failed_runs_are_one_event(told: Told, tmp_path: Path) -> None:
    executed = Executed((run(1, failed()), run(2, failed())), (), False)

    state = conclude(setting(tmp_path, told), executed, request())

    assert state.is_failed()
    ((name, case, reason, about),) = told.events
    assert (name, case) == ("announce_failure", "tpch")
    assert reason.startswith("runs 1-2: step Load: failed; 0 runs done")
    assert [one["run"] for one in about["runs_failed"]] == [1, 2]


def test_a_regression_is_told_and_the_flow_run_completes(told: Told, tmp_path: Path) -> None:
    baseline = place(tmp_path / "old", runs(*BASE))
    slow = runs(*[2 * value for value in BASE])
    results = place(tmp_path / "new", slow)
    executed = Executed(tuple(slow), tuple(range(1, 9)), False)

    state = conclude(setting(results, told), executed, request(baseline=str(baseline)))

    assert state.is_completed()
    assert (state.message or "").startswith("8 runs done; 1 regression: tpch: step Load is slower")
    assert [name for name, *_ in told.events] == ["announce_regression"]
    assert len(told.notices) == 2


def test_the_first_night_says_that_there_is_nothing_to_compare_with(
    told: Told, tmp_path: Path
) -> None:
    results = place(tmp_path / "new", runs(*BASE))
    executed = Executed(tuple(runs(*BASE)), tuple(range(1, 9)), False)

    state = conclude(setting(results, told), executed, request(baseline="previous"))

    first = "nothing to compare with: it is the first campaign on this host"
    assert state.message == f"8 runs done; {first}"
    assert told.events == []


def test_a_retry_compares_what_its_first_attempt_had_executed(told: Told, tmp_path: Path) -> None:
    """It died after the last run: nothing is left to execute."""
    night = runs(*[2 * value for value in BASE], flow_run={"id": "night"})
    results = place(tmp_path / "new", night)
    place(results / "earlier" / "20260101T010000Z-0123456789ab", runs(*BASE))
    case = replace(setting(results, told), flow_run={"id": "night", "attempt": 2})
    executed = Executed((), tuple(range(1, 9)), False)

    state = conclude(case, executed, request(baseline="previous"))

    assert "1 regression: tpch: step Load is slower" in (state.message or "")
    assert [name for name, *_ in told.events] == ["announce_regression"]


def test_a_case_that_cannot_begin_is_told_and_raised(told: Told) -> None:
    with pytest.raises(InputError), concluding(request(case="nonsense")):
        raise InputError("no case is 'nonsense'")

    assert told.events == [("announce_failure", "nonsense", "no case is 'nonsense'")]


@pytest.mark.parametrize("error", [RunInterruptedError("stopped"), KeyboardInterrupt()])
def test_an_interruption_is_no_failure(error: BaseException, told: Told) -> None:
    with pytest.raises(type(error)), concluding(request()):
        raise error

    assert told.events == []


def test_a_server_that_was_away_is_told_that_it_is_back(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait(monkeypatch, 12.0)
    with concluding(request()):
        pass

    assert told.events == [("announce_return", 12.0)]
