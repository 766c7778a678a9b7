"""A server that is away: noticed between steps, waited for at the end."""

import re
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


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ((True, True, True), ""),
        ((True, False, False, True, True), "the Prefect server did not answer from 20.* to 20"),
        ((True, False), "the Prefect server does not answer from 20"),
    ],
)
def test_an_outage_is_one_warning_of_the_run(found: tuple[bool, ...], said: str) -> None:
    warnings = watched(*found)
    assert len(warnings) == bool(said)
    assert re.match(said, "".join(warnings))


def test_an_outage_over_two_runs_is_in_both_records() -> None:
    runs, watch = (Run(), Run()), Watch(looks(False, False, True))
    first, second = (cast("Session", cast("Any", run)) for run in runs)
    watch.between(first)
    watch.before_record(first)
    watch.before_record(second)

    assert [len(run.warnings) for run in runs] == [1, 1]


@pytest.mark.parametrize(
    ("found", "limit", "told"),
    [
        ((True,), 5, None),
        ((False, False, False, True), 60, "the Prefect server answers again"),
        ((False,) * 1000, 0.01, "the Prefect server stays away; the results are on disk"),
    ],
    ids=["there", "back", "away"],
)
def test_how_long_a_server_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, found: tuple[bool, ...], limit: float, told: str | None
) -> None:
    monkeypatch.setattr(server, "_LOOK_SECONDS", 0.001)
    said: list[str] = []

    waited = wait_for_server(said.append, limit, looks(*found))

    assert said[-1:] == [] if told is None else said[-1].startswith(told)
    assert (waited is None) == (not found[-1])
    assert (waited == 0.0) == found[0]


def test_nobody_at_the_address_is_no_answer() -> None:
    with temporary_settings({PREFECT_API_URL: "http://127.0.0.1:9/api"}):
        assert not answers()
