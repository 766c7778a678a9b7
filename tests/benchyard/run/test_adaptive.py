"""As many runs as a wanted precision takes."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from benchyard.core.model import Json, Outcome
from benchyard.results.record import RunRecord
from benchyard.run.adaptive import (
    Adaptive,
    Enough,
    declared,
    enough,
    rule_of,
    warnings_of,
)
from tests.benchyard.analysis.comparison.conftest import run, runs, step


def half_widths(answer: Enough) -> dict[str, Any]:
    """Return each step's relative half-width; None where there is no interval."""
    return {step: told["half_width"] for step, told in answer.steps.items()}


@pytest.mark.parametrize(
    ("options", "precise", "steps"),
    [
        ({}, False, ["1 Load", "2 Load"]),
        ({"measure": False}, True, ["1 Load"]),
        ({"outcome": Outcome.TOLERATED}, True, ["1 Load"]),
    ],
)
def test_every_step_that_is_measured_and_succeeds_has_to_be_precise(
    options: dict[str, Any], precise: bool, steps: list[str]
) -> None:
    wild = noisy(30, 0.5)
    answer = enough(
        RULE, [run(n, step(1.0), step(v, index=2, **options)) for n, v in enumerate(wild, 1)]
    )
    assert (answer.precise, [*half_widths(answer)]) == (precise, steps)
    assert precise or "step 2 Load is known" in answer.why


def next_run(
    rule: Adaptive, records: Sequence[RunRecord], tried: Collection[int] = ()
) -> int | None:
    """Return the run that an engine would execute next; None if there are enough."""
    if enough(rule, records).stopped:
        return None
    taken = {record.run for record in records} | set(tried)
    return next((run for run in range(1, rule.maximum + 1) if run not in taken), None)


RULE = Adaptive(5, 30, 0.01)


def noisy(count: int, spread: float) -> list[float]:
    chance = Random(1)  # noqa: S311 - numbers, no secret
    return [chance.gauss(1, spread) for _ in range(count)]


# -- looks


def test_looks_are_declared_up_front_and_end_at_the_maximum() -> None:
    looks = RULE.looks
    assert list(looks) == sorted(set(looks))
    assert looks[0] >= 5
    assert looks[-1] == 30
    document = RULE.to_json()
    assert document["looks"] == list(looks)
    assert (document["minimum"], document["maximum"], document["until"]) == (5, 30, 0.01)
    assert document["level"] == 0.95
    corrected = document["level_at_each_look"]
    assert isinstance(corrected, float)
    assert 0.95 < corrected < 1 or len(looks) == 1


def test_quiet_steps_stop_at_the_first_look_that_shows_it() -> None:
    answer = enough(RULE, runs(*noisy(30, 0.001)))
    assert (answer.stopped, answer.precise) == (True, True)
    assert answer.look in RULE.looks[:2]
    assert answer.why == f"after {answer.look} runs every step is known to ±1 %"
    [half_width] = half_widths(answer).values()
    assert half_width is not None
    assert half_width <= 0.01


def test_noisy_steps_end_at_the_maximum_and_it_is_said() -> None:
    answer = enough(RULE, runs(*noisy(30, 0.5)))
    assert (answer.stopped, answer.precise, answer.look) == (True, False, 30)
    start = "after 30 runs, the most that were allowed, step 1 Load is known to ±"
    assert answer.why.startswith(start)
    assert answer.why.endswith("not to ±1 %")


def test_between_two_looks_nothing_is_decided() -> None:
    wild = noisy(RULE.looks[0], 0.5)
    first = enough(RULE, runs(*wild))
    assert not first.stopped
    # What came since would satisfy anybody; it is not looked at before its time.
    between = enough(RULE, runs(*[*wild, *[1.0] * (RULE.looks[1] - RULE.looks[0] - 1)]))
    assert replace(between, runs=first.runs) == first


def test_the_answer_is_that_of_the_first_look_that_sufficed() -> None:
    """More runs, from elsewhere or made later, change nothing that was decided."""
    values = noisy(12, 0.001)
    answer = enough(RULE, runs(*values))
    assert answer.precise
    later = enough(RULE, runs(*[*values, *noisy(18, 0.5)]))
    assert replace(later, runs=answer.runs) == answer


def test_suspect_executions_count_as_precision_where_they_count_in_the_summary() -> None:
    all_suspect = [run(n, step(1.0, suspect=["swapped"])) for n in range(1, 31)]
    assert enough(RULE, all_suspect).precise
    wild = noisy(30, 0.5)
    odd = [run(n, step(v, suspect=["swapped"])) for n, v in enumerate(wild, 1)]
    assert not enough(RULE, odd).precise
    some = [run(n, step(1.0)) if n % 3 else odd[n - 1] for n in range(1, 31)]
    answer = enough(RULE, some)
    assert (answer.precise, half_widths(answer)) == (True, {"1 Load": 0.0})


# -- what is to be executed


def execute(rule: Adaptive, values: Sequence[float], done: Sequence[RunRecord] = ()) -> list[int]:
    """Execute as the engine does; values by the run's number."""
    records, made = list(done), list[int]()
    while (number := next_run(rule, records, made)) is not None:
        made.append(number)
        records.append(run(number, step(values[number - 1])))
    return made


@pytest.mark.parametrize("spread", [0.001, 0.004, 0.5])
def test_an_interruption_changes_nothing(spread: float) -> None:
    values = noisy(30, spread)
    whole = execute(RULE, values)
    for kept in range(len(whole) + 1):
        done = [run(number, step(values[number - 1])) for number in whole[:kept]]
        assert execute(RULE, values, done) == whole[kept:]


def test_a_run_that_fails_is_not_tried_again_now_and_the_look_waits() -> None:
    first = RULE.looks[0]
    records = [run(n, step(1.0)) for n in range(1, first + 1) if n != 2]
    assert next_run(RULE, records, tried=range(1, first + 1)) == first + 1
    assert next_run(RULE, records) == 2
    assert enough(RULE, records).look is None


def test_a_run_that_is_done_again_later_changes_no_look() -> None:
    values = noisy(RULE.looks[0] + 1, 0.5)
    records = [run(n, step(v)) for n, v in enumerate(values, 1) if n != 2]
    before = enough(RULE, records)
    again = enough(RULE, [run(2, step(99.0), started_at="2026-01-01T00:50:00+00:00"), *records])
    assert before.look == RULE.looks[0]
    assert half_widths(again) == half_widths(before)


def test_the_order_of_the_records_does_not_matter() -> None:
    records = runs(*noisy(30, 0.004))
    shuffled = Random(3).sample(records, len(records))  # noqa: S311 - an order, no secret
    assert enough(RULE, shuffled) == enough(RULE, records)


# -- what a reader must know


def under(rule: Adaptive | None, first: int, last: int) -> list[RunRecord]:
    made = {} if rule is None else rule.to_json()
    return [replace(run(n, step(1.0)), adaptive=made) for n in range(first, last + 1)]


def test_the_summary_warns_of_a_rule_that_was_changed() -> None:
    one, other = Adaptive(6, 14, 0.05), Adaptive(6, 16, 0.05)
    assert warnings_of([]) == []
    assert warnings_of(under(one, 1, 3)) == warnings_of(under(None, 1, 3)) == []
    assert warnings_of([*under(other, 3, 4), *under(one, 1, 2)]) == [
        "the rule for the number of runs was changed: runs 1-2 were made under 6..14 until 5 %; "
        "runs 3-4 were made under 6..16 until 5 %; the promised level holds only for a rule "
        "declared before the first run (--force does all again)"
    ]
    [told] = warnings_of([*under(None, 1, 2), *under(one, 3, 3)])
    assert "runs 1-2 were made under a fixed number; run 3 was made under 6..14 until 5 %" in told


def test_the_record_has_the_rules_that_went_before() -> None:
    one, other = Adaptive(6, 14, 0.05), Adaptive(6, 16, 0.05)
    assert declared(one, under(one, 1, 2)) == one.to_json()
    assert declared(None, under(None, 1, 2)) == {}
    changed = declared(other, under(one, 1, 2))
    assert changed == {
        **other.to_json(),
        "earlier_rules": [{"rule": one.to_json(), "runs": [1, 2]}],
    }
    assert rule_of(changed) == other
    later = [*under(one, 1, 2), replace(run(3, step(1.0)), adaptive=changed)]
    assert declared(other, later) == changed
    assert len(warnings_of(later)) == 1
    assert declared(None, under(one, 1, 1))["earlier_rules"] == [
        {"rule": one.to_json(), "runs": [1]}
    ]


@pytest.mark.parametrize(
    "damage",
    [{"maximum": 2}, {"minimum": 0}, {"level": 1.0}, {"until": 0.0}, {"maximum": "x"}],
)
def test_a_rule_that_makes_no_sense_is_none(damage: dict[str, Json]) -> None:
    made = {**RULE.to_json(), **damage}
    assert rule_of(made) is None
    told = warnings_of([*under(RULE, 1, 1), replace(run(2, step(1.0)), adaptive=made)])
    assert "run 2 was made under one that cannot be read" in told[0]
