"""Command lines: multiplied by parameters, named, refused where they cannot be meant."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.core.errors import InputError
from benchyard.timing.commands import (
    Surroundings,
    TimedCommand,
    make_commands,
    parse_parameter,
    parse_range,
)

NONE = Surroundings()


def made(*lines: str, in_shell: bool = False, **parameters: list[str]) -> list[TimedCommand]:
    return make_commands(lines, (), NONE, parameters, in_shell=in_shell)


def test_lines_are_split_as_a_shell_would() -> None:
    (one,) = made("grep -c 'a b' \"c|d\" e\\ f")
    assert one.arguments == ["grep", "-c", "a b", "c|d", "e f"]
    assert one.name == one.line
    (one,) = made("ls | wc", in_shell=True)
    assert one.arguments == ("/bin/sh", "-c", "ls | wc")


def test_parameters_multiply_the_lines_that_have_them() -> None:
    found = made("sort -S {size} --parallel={n}", "sort", n=["1", "2"], size=["1M", "2M"])
    assert [one.line for one in found] == [
        "sort -S 1M --parallel=1",
        "sort -S 2M --parallel=1",
        "sort -S 1M --parallel=2",
        "sort -S 2M --parallel=2",
        "sort",
    ]
    assert found[1].parameters == {"n": "1", "size": "2M"}
    assert found[-1].parameters == {}


def test_names_tell_points_apart() -> None:
    found = make_commands(
        ["sleep {n}", "true"], ["s", "t"], NONE, {"n": ["1", "2"]}, in_shell=False
    )
    assert [one.name for one in found] == ["s[n=1]", "s[n=2]", "t"]
    found = make_commands(["sleep {n}"], ["{n} s"], NONE, {"n": ["1", "2"]}, in_shell=False)
    assert [one.name for one in found] == ["1 s", "2 s"]


def test_equal_commands_get_numbers() -> None:
    assert [one.name for one in made("true", "true", "true")] == ["true", "true (2)", "true (3)"]


def test_what_surrounds_is_one_for_all_or_one_for_each() -> None:
    around = Surroundings(("a", "b"), "mk {n}", "rm {n}")
    first, second = make_commands(["x {n}", "y"], (), around, {"n": ["7"]}, in_shell=False)
    assert (first.setup, first.prepare, first.cleanup) == (["mk", "7"], ["a"], ["rm", "7"])
    assert second.prepare == ["b"]
    one, other = make_commands(["x", "y"], (), Surroundings(prepare=("a",)), {}, in_shell=False)
    assert one.prepare == other.prepare == ["a"]


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(InputError) as caught:
        make_commands(
            ["a"], ["x", "y"], Surroundings(prepare=("p", "q")), {"n": ["1"]}, in_shell=False
        )
    said = str(caught.value)
    assert "2 names for 1 commands" in said
    assert "--prepare is given 2 times" in said
    assert "no command has {n}" in said


def test_too_many_points_are_refused() -> None:
    values = [str(n) for n in range(40)]
    with pytest.raises(InputError, match="1,600 commands"):
        made("x {a} {b}", a=values, b=values)


def test_parameters_and_ranges_are_read() -> None:
    assert parse_parameter("n=1, 2,x") == ("n", ["1", "2", "x"])
    assert parse_range("n", "1..4") == ("n", ["1", "2", "3", "4"])
    assert parse_range("n", "0.5..1.5..0.5") == ("n", ["0.5", "1.0", "1.5"])
    assert parse_range("n", "4..1..-1") == ("n", ["4", "3", "2", "1"])
    assert len(parse_range("n", "1..1000")[1]) == 1000


def test_a_comma_can_be_a_part_of_a_value() -> None:
    assert parse_parameter(r"n=a\,b, c\d,\,") == ("n", ["a,b", r"c\d", ","])


def test_values_are_put_in_once_in_any_order_of_the_parameters() -> None:
    lines = {"echo a baz", "echo a q", "echo {y} baz", "echo {y} q"}
    x, y = ["a", "{y}"], ["baz", "q"]
    assert {one.line for one in made("echo {x} {y}", x=x, y=y)} == lines
    assert {one.line for one in made("echo {x} {y}", y=y, x=x)} == lines
    assert made("awk '{print} {x} {{x}}'", x=["1"])[0].line == "awk '{print} 1 {1}'"


def of_n(text: str) -> object:
    return parse_range("n", text)


MARKS = ("|", ">", "<", "&&", "||", ";", "&", ">>")
TOO_LONG = ("1..1001", "0..9999", "0..inf", "0..1e999999", "0..1..1e-9")
NO_PARAMETER = ("n", "n=", "=1", "1=2", "n=1,,2", "a b=1")
NO_RANGE = ("", "1", "a..b", "2..1", "1..9..0", "1..2..3..4", "nan..1", "inf..inf", "0..-inf")


@pytest.mark.parametrize(
    ("read", "text", "said"),
    [
        *((made, f"ls {mark} wc", "add --shell") for mark in MARKS),
        *((made, text, "empty") for text in (" ", "")),
        (made, "''' a", "no closing quotation"),
        *((of_n, text, "at most 1,000 values") for text in TOO_LONG),
        *((of_n, text, r"first\.\.last\.\.step") for text in NO_RANGE),
        *((parse_parameter, text, "name=1,2,4") for text in NO_PARAMETER),
    ],
)
def test_what_cannot_be_meant_is_refused(
    read: Callable[[str], object], text: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        read(text)


@given(st.text())
def test_any_line_is_taken_or_refused_in_a_sentence(line: str) -> None:
    try:
        (one,) = made(line)
    except InputError:
        return
    assert one.arguments
