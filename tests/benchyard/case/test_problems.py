"""Words about what is wrong: paths, suggestions, and texts that a terminal can take."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from benchyard.case.problems import Problem, json_path
from benchyard.core.wording import hint, near_miss

STEP_KEYS = ("@id", "name", "resource", "command", "parameters", "needs", "timeout", "retries")


def test_a_problem_says_file_path_and_message() -> None:
    problem = Problem(Path("/c/metadata.json"), "$.name", "must be a string, not null")
    assert str(problem) == "/c/metadata.json: $.name: must be a string, not null"


def test_json_path() -> None:
    paths: dict[tuple[str | int, ...], str] = {
        (): "$",
        ("steps", 1, "parameters", "file"): "$.steps[1].parameters.file",
        ("steps", 0, "@id"): "$.steps[0]['@id']",
        ("a b", "it's"): "$['a b'][\"it's\"]",
        ("x\n\x1b",): "$['x\\n\\x1b']",
    }
    assert [*map(json_path, paths)] == [*paths.values()]


def test_only_a_slip_of_the_pen_is_a_near_miss() -> None:
    slips = {"paramters": "parameters", "Parameters": "parameters", "NAME": "name"}
    slips |= {"ressource": "resource", "time_out": "timeout"}
    meant = slips | dict.fromkeys(("retry", "comment", "license", ""))
    assert {word: near_miss(word, STEP_KEYS) for word in meant} == meant


def test_a_hint_names_the_nearest_or_all() -> None:
    for word in ("postgresql", "Postgres"):
        assert hint(word, ["PostgreSQL", "MySQL"]) == "; did you mean 'PostgreSQL'?"
    assert (hint("zzz", ["b", "a"]), hint("zzz", [])) == ("; known: a, b", "")


def test_a_hint_does_not_list_hundreds() -> None:
    text = hint("zzz", [f"name{n:03d}" for n in range(500)])
    assert text.startswith("; known: name000, name001, ")
    assert text.endswith("name019 and 480 more")


@settings(deadline=None)
@given(text=st.text(st.characters(), max_size=300))
def test_every_problem_is_one_line_that_can_be_written(text: str) -> None:
    said = str(Problem(Path("/cases/x"), json_path((text,)), text))
    said.encode()
    assert len(said.splitlines()) == 1
    assert "\x1b" not in said
