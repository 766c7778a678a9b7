"""Failures in words, in tables and as a document."""

import json
from typing import Any, cast

import pytest

from benchyard.analysis.executions import Collected, StepTry, executions
from benchyard.analysis.failure_rates import by_fragility, first_and_last
from benchyard.analysis.failure_tables import (
    document,
    place_of,
    retries_table,
    retry_command,
    steps_table,
)
from benchyard.core.model import Json, Outcome
from tests.benchyard.analysis.conftest import MakeTry, step

SH = "'sh' failed: exit code 1; on stderr: "
FLOW_RUN = "97aa7af2-52ce-4686-82e0-615de07efa2d"
LONG = "cannot open the connection to database 10.0.0.1:5432/benchmark as user ana: "


def execution(make_try: MakeTry, *errors: str) -> StepTry:
    return next(iter(executions([make_try(step("load", *errors))])))


@pytest.mark.parametrize(
    ("errors", "pair"),
    [
        ((f"{SH}x y",), ("exit 1: x y", "-")),
        (("a b", "a b"), ("a b", "the same")),
        ((f"{SH}refused", f"{SH}timed out"), ("exit 1: refused", "exit 1: timed out")),
        ((f"{SH}{LONG}refused", f"{SH}{LONG}timed out"), ("…refused", "…timed out")),
        ((f"{SH}a\nend", f"{SH}b\nend"), (f"{SH}a end", f"{SH}b end")),
    ],
)
def test_first_and_last_error_show_where_they_differ(
    make_try: MakeTry, errors: tuple[str, ...], pair: tuple[str, str]
) -> None:
    assert first_and_last(execution(make_try, *errors)) == pair


def test_a_step_shows_both_ends_of_its_last_error(make_try: MakeTry) -> None:
    one = execution(make_try, f"{SH}{LONG}refused")
    told = steps_table(by_fragility([one])).texts()[0][-1]
    assert told.startswith("exit 1: cannot")
    assert told.endswith(" as user ana: refused")


def test_document_counts_what_was_injected(make_try: MakeTry) -> None:
    tries = (
        make_try(
            step("twice", "a", "b"),
            step("never", "x", "y", "z", outcome=Outcome.TOLERATED, index=2),
            step("fine", index=3),
            flow_run={"id": FLOW_RUN, "name": "bat", "attempt": 1},
        ),
        make_try(step("hard", "h", outcome=Outcome.FAILED, index=4), outcome=Outcome.FAILED, run=2),
        make_try(outcome=None, run=3),
    )
    made = cast(
        "dict[str, Any]",
        document(Collected(tries, ("bad line",)), "2026-11-01T00:00:00Z", "http://lab"),
    )
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    assert [*made["executed"].values()] == [4, 3, 8, 6, 1]
    assert (made["problems"], made["tries"]) == (["bad line"], 3)
    by_step = {one["step"]: one for one in made["executions"]}
    outcomes = {name: one["outcome"] for name, one in by_step.items()}
    assert outcomes == {
        "01-twice": "completed",
        "02-never": "tolerated",
        "04-hard": "failed",
        "the run": None,
    }
    twice = by_step["01-twice"]
    assert (twice["attempts"], twice["recovered"]) == (3, True)
    assert [one["error"]["message"] for one in twice["failed"]] == ["a", "b"]
    assert twice["link"] == f"http://lab/runs/flow-run/{FLOW_RUN}"
    assert [one["troubled"] for one in made["rates"]["day"]] == [4]


@pytest.mark.parametrize("identity", [None, 5, "x", "../../../etc", "97aa7af2) [x](javascript:"])
def test_only_a_flow_runs_id_makes_a_link_or_a_command(identity: Json) -> None:
    assert place_of({"id": identity}) is None
    assert retry_command({"retry": identity}) == ""


def test_a_lab_goes_on_where_the_last_try_of_a_run_was_in_vain(make_try: MakeTry) -> None:
    ids = [f"97aa7af2-52ce-4686-82e0-615de07efa2{at}" for at in range(5)]
    of = [{"id": "turn", "retry": one} for one in ids]
    tries = [
        make_try(outcome=Outcome.FAILED, flow_run=of[0]),
        make_try(outcome=Outcome.COMPLETED, flow_run=of[0], day=1),
        make_try(run=2, outcome=None, flow_run=of[1]),
        make_try(run=3, outcome=Outcome.FAILED, flow_run=of[1]),
        make_try(case="other", outcome=Outcome.CANCELLED, flow_run=of[2]),
        make_try(run=4, outcome=Outcome.FAILED, flow_run={"id": ids[3]}),
        make_try(run=5, outcome=Outcome.TOLERATED, flow_run=of[4]),
    ]
    assert retries_table(tries).rows == [
        ("words", f"prefect flow-run retry {ids[1]}"),
        ("other", f"prefect flow-run retry {ids[2]}"),
    ]
