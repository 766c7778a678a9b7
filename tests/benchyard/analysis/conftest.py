"""Tries as the tests of failures want them."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from benchyard.core.model import Outcome
from benchyard.results.attempts import FailedAttempt, RunAttempt, TriedStep
from benchyard.results.record import ErrorRecord

START = datetime(2026, 11, 2, 12, tzinfo=UTC)
MakeTry = Callable[..., RunAttempt]


def step(
    name: str = "load", *errors: str, outcome: Outcome = Outcome.COMPLETED, index: int = 1
) -> TriedStep:
    """Return a step that failed of each of these; it was tried once more if it completed."""
    failed = tuple(
        FailedAttempt(n, START.isoformat(), 0.1, Outcome.FAILED, ErrorRecord("E", text))
        for n, text in enumerate(errors, 1)
    )
    attempts = len(failed) + (outcome is Outcome.COMPLETED)
    return TriedStep(index, name, name, outcome, attempts, 0.5 * attempts, failed)


@pytest.fixture
def make_try() -> MakeTry:
    def make(*steps: TriedStep, day: float = 0.0, **more: Any) -> RunAttempt:
        began = START + timedelta(days=day)
        fields: dict[str, Any] = {
            "case": "words",
            "run": 1,
            "host": "quiet",
            "ended_at": (began + timedelta(seconds=9)).isoformat(),
            "duration_s": 9.0,
            "outcome": Outcome.COMPLETED,
        }
        fields |= {"started_at": began.isoformat(), "steps": steps, **more}
        return RunAttempt(**fields)

    return make
