"""Errors in cells beside each other: what differs is shown."""

from benchyard.analysis.failures import by_fragility, executions
from benchyard.analysis.failures.executions import StepTry
from benchyard.analysis.failures.wording import first_and_last, steps_table
from tests.benchyard.analysis.failures.conftest import MakeTry, step

SH = "'sh' failed: exit code 1; on stderr: "
LONG = "cannot open the connection to database 10.0.0.1:5432/benchmark as user ana: "


def execution(make_try: MakeTry, *errors: str) -> StepTry:
    return next(iter(executions([make_try(step("load", *errors))])))


def test_what_was_said_is_shown_and_not_that_a_program_failed(make_try: MakeTry) -> None:
    pair = first_and_last(execution(make_try, f"{SH}refused", f"{SH}timed out"))
    assert pair == ("exit 1: refused", "exit 1: timed out")


def test_long_errors_show_where_they_differ(make_try: MakeTry) -> None:
    pair = first_and_last(execution(make_try, f"{SH}{LONG}refused", f"{SH}{LONG}timed out"))
    assert pair == ("…refused", "…timed out")


def test_errors_that_differ_before_the_last_line_show_that(make_try: MakeTry) -> None:
    first, last = first_and_last(execution(make_try, f"{SH}a\nend", f"{SH}b\nend"))
    assert first.endswith("a end")
    assert last.endswith("b end")


def test_one_error_and_the_same_error(make_try: MakeTry) -> None:
    assert first_and_last(execution(make_try, f"{SH}x y")) == ("exit 1: x y", "-")
    assert first_and_last(execution(make_try, "a b", "a b")) == ("a b", "the same")


def test_a_step_shows_both_ends_of_its_last_error(make_try: MakeTry) -> None:
    one = execution(make_try, f"{SH}{LONG}refused")
    told = steps_table(by_fragility([one])).rows[0][-1]
    assert told.startswith("exit 1: cannot")
    assert told.endswith(" as user ana: refused")
