"""A reader is warned of what disturbed a measured step, and of nothing else."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from benchyard.core.model import Outcome
from benchyard.process.usage import Stop
from benchyard.results.record import Attempt, StepRecord
from benchyard.run.record_facts import disturbances, with_disturbances
from tests.benchyard.analysis.comparison.conftest import repetition
from tests.benchyard.analysis.comparison.conftest import step as base_step


def step(index: int = 1, *, lab: float = 0.0, own: float | None = None, **facts: Any) -> StepRecord:
    used: Mapping[str, float | None] = {} if own is None else {"resource_cpu_s": own}
    harness = {"flow_cpu_s": lab, "flow_memory_bytes": 1e9, "server_cpu_s": None}
    suspect = facts.pop("suspect", ())
    made = repetition(2.0, used=used, harness=harness, suspect=suspect)
    attempt = Attempt(1, "", 0.0, 2.0, Outcome.COMPLETED, (made,))
    return replace(base_step(index=index), name=f"Step {index}", attempts=(attempt,), **facts)


def test_quiet_steps_give_no_warning() -> None:
    assert disturbances([step(lab=0.019, own=1.9), step(2)]) == []


@pytest.mark.parametrize(("lab", "own", "share"), [(0.05, None, "2.5 %"), (0.01, 0.1, "0.5 %")])
def test_more_than_a_share_of_a_core_or_of_the_step(
    lab: float, own: float | None, share: str
) -> None:
    (warning,) = disturbances([step(lab=lab, own=own), step(2)])
    assert "more than 1 % of a core" in warning
    assert f"step 1 Step 1 ({share})" in warning


def test_many_steps_are_one_warning() -> None:
    (warning,) = disturbances([step(index, lab=index / 10) for index in range(1, 21)])
    assert "20 Step 20 (100 %)" in warning
    assert warning.count("Step") == 5
    assert "and 15 more" in warning


def test_suspect_step_is_named_with_its_reasons() -> None:
    (warning,) = disturbances([step(3, suspect=("pages were swapped in", "CPU was stolen"))])
    assert warning == "step 3 Step 3 is suspect: pages were swapped in; CPU was stolen"


def test_what_is_not_measured_is_not_warned_of() -> None:
    assert disturbances([step(lab=1.0, suspect=("swap",), measure=False)]) == []


SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("since_s", "until_s", "suspect"),
    [
        *((-2, -1, False), (-1, 0, True), (1, 1, True), (-5, 9, True)),
        # It was heard late, by another thread than that of the step.
        *((2.9, 2.9, True), (3.1, 3.1, False)),
    ],
)
def test_a_stop_makes_suspect_what_it_falls_into(
    since_s: float, until_s: float, suspect: bool
) -> None:
    origin = 7 * SECOND
    since, until = (origin + round(at * SECOND) for at in (since_s, until_s))
    before = step(suspect=("swap",))
    (after,) = with_disturbances([before], [Stop("the lab", since, until)] * 2, origin, [])
    words = "the lab was stopped (Ctrl-Z, SIGSTOP) and went on"
    assert after.suspect == (("swap", words) if suspect else ("swap",))


def test_without_a_stop_steps_stay_as_they_are() -> None:
    before = step()
    assert with_disturbances([before], [], 0, [])[0] is before
