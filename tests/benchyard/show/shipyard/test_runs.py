"""Runs of ours as bars."""

import random
from datetime import datetime

import pytest

from benchyard.publish.sinks.azure.shipyard import rows_of
from benchyard.results.events import Event
from benchyard.show.shipyard.events import Operation
from tests.benchyard.show.shipyard.conftest import START, graph_of, only, ours, run_rows

PULL = Operation.PULL


def test_a_run_is_a_bar_with_its_phases() -> None:
    rows = run_rows()
    random.Random(2).shuffle(rows)  # noqa: S311 - no secret
    run = only(rows)
    assert (run.is_run, run.label, run.is_finished) == (True, "words run 1", True)
    parts = run.segments()
    assert list(map(sum, parts.values())) == [2.25, 3.75, 1.0, 0.5, 10.0, 1.0, 4.5]
    # What is in no phase is the last, so that bars are as long as the runs.
    assert (list(parts)[-1], sum(map(sum, parts.values()))) == (Operation.RUN, 23.0)
    assert [span.name for span in run.spans[Operation.STEP]] == ["s1", "s1, attempt 2"]
    assert run.length(Operation.RUN) == 23.0
    assert run.facts["outcome"] == "completed"


def test_a_run_that_was_killed_is_unfinished() -> None:
    run = only([one for one in run_rows()[:12] if one["event"] != "benchyard:attempt-end"])
    assert not run.is_finished
    assert run.length(Operation.RUN) is None
    assert run.unfinished == ["run", "step s1", "step s1, attempt 2"]


def test_what_is_unfinished_of_a_run_leaves_what_finished_as_it_was() -> None:
    whole = only(run_rows()).segments()
    rows = run_rows()
    last = max(place for place, one in enumerate(rows) if one["event"] == "benchyard:attempt-end")
    torn = only([one for place, one in enumerate(rows) if place != last]).segments()
    kept = [op for op in whole if op not in (Operation.STEP, Operation.RUN)]
    assert [torn[op] for op in kept] == [whole[op] for op in kept]
    finished, unfinished = torn[Operation.STEP]
    assert 0 < finished < whole[Operation.STEP][0]
    assert unfinished > 0


def test_runs_done_again_and_of_several_numbers_and_cases_are_one_each() -> None:
    rows = run_rows() + run_rows(START + 50, run=2) + run_rows(START + 90, case="other")
    labels = [run.label for run in graph_of(rows + run_rows(START + 100)).runs]
    assert labels == ["words run 1", "words run 2", "other run 1", "words run 1 (2)"]


def test_a_run_without_case_and_number_is_refused() -> None:
    graph = graph_of([*run_rows(), ours(START, "run-start", case=None)])
    assert graph.read.problems == ["row 17: its message names no case and run"]


def test_an_exported_run_is_the_same_as_its_own_events_in_batch_shipyards_columns() -> None:
    run = only(run_rows())
    events = [
        Event(
            datetime.fromisoformat(one["at"]), "lab", "benchyard", one["event"][10:], one["message"]
        )
        for one in run_rows()
    ]
    [node] = graph_of(rows_of(events, "batch$pool")).nodes
    assert not node.is_run
    both = [
        [one.column(Operation.PREPARATION), one.column(Operation.RESOURCES), one.total(PULL)]
        for one in (run, node)
    ]
    assert both[0] == pytest.approx(both[1])
