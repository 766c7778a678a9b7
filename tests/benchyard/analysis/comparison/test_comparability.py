"""What must match, what is warned of, what was changed on purpose."""

from dataclasses import replace
from typing import Any

import pytest

from benchyard.analysis.comparison.comparability import Mismatch, check
from benchyard.analysis.comparison.facts import Weight
from benchyard.core.model import Json
from benchyard.results.record import RunRecord
from tests.benchyard.analysis.comparison.conftest import (
    ENVIRONMENT,
    failed,
    run,
    run_set,
    runs,
    step,
    titled,
)


def found(one: list[RunRecord], other: list[RunRecord]) -> dict[str, Mismatch]:
    return {mismatch.what: mismatch for mismatch in check(run_set(one), run_set(other))}


def changed(**facts: Any) -> dict[str, Any]:
    return {"environment": {**ENVIRONMENT, **facts}}


def with_sqlite(**facts: Any) -> dict[str, Any]:
    return {"resources": {"SQLite": {"version": "3.46", "settings": {"cache": 100}, **facts}}}


def test_equal_runs_are_comparable_without_a_word() -> None:
    assert check(run_set(runs(1.0, 2.0)), run_set(runs(3.0, first=7))) == ()


@pytest.mark.parametrize(
    ("facts", "weight", "text"),
    [
        (
            changed(host="bench2"),
            Weight.WARNING,
            "host: baseline bench1, candidate bench2; two machines are never alike: "
            "measure both on one of them",
        ),
        (changed(cpu={"turbo": True}), Weight.WARNING, "turbo: baseline no, candidate yes; "),
        (changed(memory_bytes=1), Weight.WARNING, "memory size: baseline 17179869184, candidate 1"),
        (
            {"collector": {"interval_s": 0.01}},
            Weight.WARNING,
            "sampling interval: baseline 0.1, candidate 0.01; ",
        ),
        (
            titled("tpch", hash="sha256:" + "c" * 64),
            Weight.WARNING,
            "files of the case: baseline bbbbbbbbbbbb, candidate cccccccccccc; ",
        ),
        (
            with_sqlite(version="3.50"),
            Weight.CHANGE,
            "SQLite version: baseline 3.46, candidate 3.50",
        ),
        (
            with_sqlite(settings={"cache": 100, "wal": True}),
            Weight.CHANGE,
            "SQLite settings.wal: baseline not set, candidate yes",
        ),
        (
            with_sqlite(settings={}),
            Weight.CHANGE,
            "SQLite settings.cache: baseline 100, candidate not set",
        ),
        (
            {"steps": (step(1.0, resource="DuckDB"),)},
            Weight.OTHER_WORK,
            "resource of step load: baseline SQLite, candidate DuckDB; it is other work",
        ),
        (
            {"steps": (step(1.0, parameters={"query": "load", "deep": {"n": [1, "a"]}}),)},
            Weight.OTHER_WORK,
            "parameter deep.n of step load: baseline not set, candidate 1 and a; it is other work",
        ),
        (
            {"steps": (step(1.0, parameters={"query": "/there/load"}),)},
            Weight.OTHER_WORK,
            "parameter query of step load: baseline load, candidate /there/load; it is other work",
        ),
    ],
)
def test_what_differs_has_a_weight_and_a_text(
    facts: dict[str, Any], weight: Weight, text: str
) -> None:
    [mismatch] = found(runs(1.0), runs(1.0, **facts)).values()
    assert (mismatch.weight, mismatch.text[: len(text)]) == (weight, text)
    assert mismatch.steps == (("load",) if "steps" in facts else ())


def test_a_moved_repository_is_other_work_with_a_way_out() -> None:
    def at(folder: str) -> list[RunRecord]:
        return runs(1.0, steps=(step(1.0, parameters={"arguments": ["cat", f"{folder}/x"]}),))

    [moved] = found(at("/one"), at("/two")).values()
    assert moved.text.endswith(
        "it is other work, or the repository moved: write ${root:PATH} in the case"
    )


def test_doubts_about_the_testbed_are_compared_by_what_any_run_had() -> None:
    def doubting(*checks: str) -> list[RunRecord]:
        fine: dict[str, Json] = {"check": "clock", "status": "ok"}
        findings = [fine, *({"check": check, "status": "warn"} for check in checks)]
        return runs(1.0, preflight=tuple(findings))

    mixed = [*doubting("load", "swap"), *runs(1.0, first=2)]
    assert found(mixed, doubting())["doubts about the testbed"].text == (
        "doubts about the testbed: baseline load and swap, candidate none; "
        "benchyard doctor tells what to do"
    )
    alike = found(mixed, [*doubting("swap"), *doubting("load")])["doubts about the testbed"]
    assert (alike.weight, alike.text) == (
        Weight.WARNING,
        "doubts about the testbed on both sides: load, swap; benchyard doctor tells what to do",
    )
    assert not found(doubting(), doubting())
    assert not found(mixed, runs(1.0))


def test_another_point_of_the_matrix_is_other_work() -> None:
    small, large = (runs(1.0, **titled("tpch", point={"scale": scale})) for scale in (0.1, 1))
    [only] = found(small, large).values()
    assert only.weight is Weight.OTHER_WORK
    assert "baseline [scale=0.1], candidate [scale=1]; it is other work" in only.text


def test_what_differs_alike_in_many_steps_is_said_once() -> None:
    ours, theirs = (
        [run(1, *(step(1.0, name=name, resource=which) for name in "abcdef"))]
        for which in ("SQLite", "DuckDB")
    )
    [mismatch] = found(ours, theirs).values()
    assert mismatch.text == (
        "resource of 6 steps (a, b, c, d and 2 more): baseline SQLite, candidate DuckDB; "
        "it is other work"
    )
    assert mismatch.steps == tuple("abcdef")


def test_a_resource_of_one_side_is_named_with_its_version() -> None:
    other = runs(1.0, resources={"DuckDB": {"version": "1.4"}})
    assert [mismatch.text for mismatch in found(runs(1.0), other).values()] == [
        "resource SQLite 3.46: in the baseline only",
        "resource DuckDB 1.4: in the candidate only",
    ]


def test_a_parameter_is_compared_by_its_type_too() -> None:
    one = [run(1, step(1.0, parameters={"n": 1}))]
    assert found(one, [run(1, step(1.0, parameters={"n": "1"}))])
    assert found(one, [run(1, step(1.0, parameters={"n": True}))])
    assert not found(one, [run(1, step(1.0, parameters={"n": 1}))])


def test_how_a_step_is_repeated_is_warned_of() -> None:
    one = [run(1, step(1.0, 1.0, 1.0, warmups=1))]
    other = [run(1, step(1.0, warmups=0, name="load"))]
    assert {m.what for m in found(one, other).values()} == {
        "number of repetitions in a run of step load",
        "number of warm-ups in a run of step load",
    }
    # A failed step executed fewer, which is no other plan.
    assert not found(one, [*one, run(2, failed())])


def test_the_order_of_the_steps_is_warned_of() -> None:
    one = [run(1, step(1.0, name="a"), step(1.0, name="b"))]
    other = [run(1, step(1.0, name="b"), step(1.0, name="new"), step(1.0, name="a"))]
    assert found(one, other)["order of the steps"].text == (
        "order of the steps: baseline a and b, candidate b and a; what ran before warms caches"
    )


def test_what_a_record_does_not_tell_is_no_difference() -> None:
    silent = runs(1.0, environment={}, collector={}, benchyard_version="")
    mismatches = found(runs(1.0), silent)
    assert not mismatches


def test_runs_of_one_side_that_differ_among_themselves_are_told() -> None:
    mixed = [*runs(1.0), *runs(1.0, first=2, **changed(host="bench2"))]
    text = found(mixed, runs(1.0))["host"].text
    assert text.startswith(
        "host: baseline bench1, bench2, candidate bench1; the runs of the baseline differ; "
    )
    assert found(mixed, mixed)["host"].text.startswith(
        "host: the runs on both sides differ among themselves (bench1, bench2)"
    )


def test_runs_of_something_else_that_were_left_out_are_told() -> None:
    left_out = [run(number, **changed(host="b")) for number in (1, 2, 5)]
    other = replace(run_set(runs(1.0)), others=tuple(left_out))
    [mismatch] = check(run_set(runs(1.0)), other)
    assert mismatch.text.startswith(
        "run 1-2,5 of the candidate measured something else than its newest run (host b and "
    )
    assert mismatch.candidate == ([1, 2, 5],)


def test_named_runs_that_measured_different_things_are_not_comparable() -> None:
    mixed = run_set([*runs(1.0), run(2, step(1.0), **changed(host="b"))])
    refused = [m for m in check(mixed, run_set(runs(1.0))) if m.weight is Weight.MUST_MATCH]
    assert [m.text.partition(" (")[0] for m in refused] == [
        "the runs of the baseline measured different things"
    ]


def test_the_gravest_comes_first() -> None:
    other = [run(1, step(1.0, command="x"), resources={}, **changed(host="b"))]
    weights = [mismatch.weight for mismatch in check(run_set(runs(1.0)), run_set(other))]
    assert weights == sorted(weights, key=list(Weight).index)
    assert weights[0] is Weight.OTHER_WORK
