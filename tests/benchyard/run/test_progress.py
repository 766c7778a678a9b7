"""Who hears what happens."""

from pathlib import Path

import pytest

from benchyard.core.model import Outcome
from benchyard.results.record import RunRecord
from benchyard.run.progress import (
    AttemptFailed,
    CaseStarted,
    Event,
    Notice,
    RunEnded,
    RunStarted,
    StepEnded,
    StepStarted,
    Waiting,
    say,
)

DONE, FAILED = Outcome.COMPLETED, Outcome.FAILED
_RECORD = RunRecord({"title": "c"}, 1, FAILED, "", "", 3.0, ())


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (CaseStarted("c", (3,), (1, 2)), "c: 1 run to do, 2 done before"),
        (RunStarted("c", 2, 5), "c run 2: 5 steps"),
        (StepStarted("c", 1, 3, "Load"), "c run 1 step 3 Load: started"),
        (
            AttemptFailed("c", 1, 3, "Load", "no route", 1),
            "c run 1 step 3 Load: attempt failed, 1 more attempt: no route",
        ),
        (StepEnded("c", 1, 3, "Load", DONE, 0.25), "c run 1 step 3 Load: ✓ completed 250.0 ms"),
        (
            StepEnded("c", 1, 3, "Load", Outcome.TIMED_OUT, None, "late"),
            "c run 1 step 3 Load: ✗ timed_out: late",
        ),
        (RunEnded(_RECORD, Path()), "c run 1: ✗ failed after 3.00 s"),
        (Waiting("cooling down", 15.0), "cooling down for 15.00 s"),
        (Waiting("waiting for the testbed"), "waiting for the testbed"),
        (Notice("stopping"), "stopping"),
    ],
)
def test_each_event_is_a_sentence(event: Event, text: str) -> None:
    assert say(event) == text
