"""How containers end, read from what the engine says."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources._containers.exits import describe_code, exit_of


def state(**more: Any) -> dict[str, Any]:
    return {
        "ExitCode": 0,
        "OOMKilled": False,
        "Error": "",
        "StartedAt": "2026-11-21T10:00:00.5Z",
        "FinishedAt": "2026-11-21T10:00:02.123456789Z",
        **more,
    }


def test_the_time_that_it_ran_has_the_engine_s_precision() -> None:
    assert exit_of(state()).run_s == pytest.approx(1.623456, abs=1e-6)


@pytest.mark.parametrize("started", ["0001-01-01T00:00:00Z", "", "soon", "2027-01-01T00:00:00Z"])
def test_a_time_that_cannot_be_is_not_known(started: str) -> None:
    assert exit_of(state(StartedAt=started)).run_s is None


def test_ends_are_told_apart() -> None:
    assert exit_of(state(ExitCode=3)).describe() == "exit code 3"
    assert "out of memory" in exit_of(state(ExitCode=137, OOMKilled=True)).describe()
    assert exit_of(state(ExitCode=137)).describe() == "exit code 137 (signal 9)"
    assert exit_of(state(ExitCode=127, Error="no such program")).describe() == "no such program"


@given(st.integers(0, 255))
def test_every_code_is_told(code: int) -> None:
    assert str(code) in describe_code(code)
    assert ("signal" in describe_code(code)) == (129 <= code <= 192)
