"""A server that is away: noticed between steps, waited for at the end."""

from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest
from prefect.settings import PREFECT_API_URL, temporary_settings

from benchyard.run.session import Session
from tasks import server
from tasks.server import Watch, answers, wait_for_server


class Run:
    """Stands in for a session."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def warn(self, text: str) -> None:
        self.warnings.append(text)


def looks(*found: bool) -> Callable[[], bool]:
    left: Iterator[bool] = iter(found)
    return lambda: next(left)


def watched(*found: bool) -> list[str]:
    """Look between steps, for the last time before the record; return what it says."""
    run, watch = Run(), Watch(looks(*found))
    session = cast("Session", cast("Any", run))
    for _ in found[:-1]:
        watch.between(session)
    watch.before_record(session)
    return run.warnings


def test_a_server_that_answers_is_not_spoken_of() -> None:
    assert watched(True, True, True) == []


def test_an_outage_between_two_steps_is_one_warning() -> None:
    (warning,) = watched(True, False, False, True, True)

    assert warning.startswith("the Prefect server did not answer from 20")
    assert " to 20" in warning


def test_an_outage_that_goes_on_is_a_warning_too() -> None:
    (warning,) = watched(True, False)

    assert warning.startswith("the Prefect server does not answer from 20")


def test_an_outage_over_two_runs_is_in_both_records() -> None:
    runs, watch = (Run(), Run()), Watch(looks(False, False, True))
    first, second = (cast("Session", cast("Any", run)) for run in runs)
    watch.between(first)
    watch.before_record(first)
    watch.before_record(second)

    assert [len(run.warnings) for run in runs] == [1, 1]


def test_nobody_waits_for_a_server_that_answers() -> None:
    said: list[str] = []

    assert wait_for_server(said.append, 5, lambda: True) == 0.0
    assert said == []


def test_it_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_LOOK_SECONDS", 0.001)
    said: list[str] = []

    assert (wait_for_server(said.append, 60, looks(False, False, False, True)) or 0) > 0
    assert said[-1] == "the Prefect server answers again"


def test_it_is_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_LOOK_SECONDS", 0.001)
    said: list[str] = []

    assert wait_for_server(said.append, 0.01, lambda: False) is None
    assert "stays away" in said[-1]


def test_nobody_at_the_address_is_no_answer() -> None:
    with temporary_settings({PREFECT_API_URL: "http://127.0.0.1:9/api"}):
        assert not answers()
