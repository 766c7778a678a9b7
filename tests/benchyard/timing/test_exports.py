"""Exports: read back by what reads such files, and equal to what was measured."""

import csv
import io
import json
from dataclasses import replace
from typing import Any, cast

import pytest

from benchyard.statistics import mean
from benchyard.timing import exports
from benchyard.timing.commands import Surroundings, make_commands
from benchyard.timing.course import Course
from benchyard.timing.execution import Execution
from benchyard.timing.exports import table
from benchyard.timing.ranking import Plan, rank


@pytest.fixture
def course() -> Course:
    commands = make_commands(
        ["a|b {n}", "c"], ["", "odd|one"], Surroundings(), {"n": ["1"]}, in_shell=True
    )
    executions = [
        [
            Execution(base + at / 1000, 0.1, 0.2, memory, 7_000_000, at % 2, 0.0, 2 * at + which)
            for at, memory in enumerate([9_000_000, *[None] * 11])
        ]
        for which, base in enumerate((2.0, 1.0))
    ]
    times = [[one.wall_s for one in some] for some in executions]
    ranking = rank([one.name for one in commands], times, share=0.01, plan=Plan())
    return Course(commands, 7, executions, ranking, why="they are told apart")


def test_everything_is_in_the_document(course: Course) -> None:
    made = json.loads(json.dumps(exports.document(course, ["loud"])))
    assert made["order"] == ["odd|one", "a|b 1"]
    assert made["warnings"] == ["loud"]
    assert made["commands"][0]["parameters"] == {"n": "1"}
    assert [one["wall_s"] for one in made["commands"][0]["executions"]] == [
        one.wall_s for one in course.executions[0]
    ]
    (pair,) = made["pairs"]
    assert (pair["first"], pair["second"]) == ("odd|one", "a|b 1")
    assert pair["told_apart"] is True
    assert pair["ratio"] == pytest.approx(1.99, abs=0.02)
    assert made["commands"][0]["failed"] == 6
    assert made["commands"][0]["median_s"] == pytest.approx(2.005)
    assert pair["ratio_interval"][0] < pair["ratio"] < pair["ratio_interval"][1]


def test_hyperfines_form_has_what_succeeded_and_no_memory_that_is_not_known(course: Course) -> None:
    first, second = results_of(course)
    times = [one.wall_s for one in course.executions[1] if not one.exit_code]
    assert (first["command"], first["parameters"]) == ("a|b 1", {"n": "1"})
    assert (second["mean"], second["times"]) == (mean(times), times)
    assert "memory_usage_byte" not in first
    course.executions[0] = [replace(one, peak_rss_bytes=9_000_000) for one in course.executions[0]]
    assert results_of(course)[0]["memory_usage_byte"] == [9_000_000] * 6
    course.executions[0] = [replace(one, exit_code=1) for one in course.executions[0]]
    assert [one["command"] for one in results_of(course)] == ["odd|one"]


def results_of(course: Course) -> list[dict[str, Any]]:
    return cast("dict[str, Any]", exports.hyperfine(course))["results"]


def test_columns_of_csv_have_names_of_their_own(course: Course) -> None:
    parameters = {"name": "a", "wall_s": "1", "parameter_name": "b", "n": "2"}
    course.commands = [replace(one, parameters=parameters) for one in course.commands]
    read = csv.DictReader(io.StringIO(exports.table_of_executions(course)))
    row = next(read)
    assert read.fieldnames is not None
    assert len(set(read.fieldnames)) == len(read.fieldnames)
    assert row["name"] == "a|b 1"
    assert (row["parameter_name"], row["parameter_wall_s"]) == ("a", "1")
    assert (row["parameter_parameter_name"], row["n"]) == ("b", "2")


def test_a_row_is_an_execution_in_the_order_of_time(course: Course) -> None:
    rows = list(csv.DictReader(io.StringIO(exports.table_of_executions(course))))
    assert [int(row["position"]) for row in rows] == list(range(24))
    assert [row["name"] for row in rows[:2]] == ["a|b 1", "odd|one"]
    assert [row["n"] for row in rows[:2]] == ["1", ""]
    assert float(rows[2]["wall_s"]) == course.executions[0][1].wall_s


def test_the_table_tells_what_is_not_known(course: Course) -> None:
    assert table(course).rows[0][6] == "< 7 MB"
    assert table(course).rows[0][8] == "0 (6 times), 1 (6 times)"
    course.executions = [[], []]
    course.ranking = None
    assert table(course).rows[0][1] == "-"
