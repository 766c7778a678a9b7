"""The shape of a case: near misses, matrix names, ids, the graph, checks."""

from typing import Any

import pytest

from benchyard import schemas
from benchyard.case.needs import StepNeeds
from benchyard.case.problems import Finding
from benchyard.case.shape import check_findings, near_misses, shape_findings
from benchyard.case.shape import matrix_findings as matrix_findings_of
from benchyard.case.templates import MAX_POINTS
from benchyard.core.model import Json, JsonObject

Path = tuple[str | int, ...]


def step(**keys: Any) -> JsonObject:
    return {"resource": "Toy", "command": "play", **keys}


def case(*steps: JsonObject, **keys: Any) -> JsonObject:
    return {"name": "n", "steps": [*(steps or (step(),))], **keys}


def schema_findings(document: JsonObject) -> list[Finding]:
    return [*shape_findings(document), *near_misses(document)]


def matrix_findings(document: JsonObject) -> list[Finding]:
    return [*matrix_findings_of(document, document)]


def between(*steps: JsonObject) -> list[tuple[Path, str]]:
    found = [*StepNeeds(steps).findings]
    for position, each in enumerate(steps):
        found += [(("steps", position, *path), said) for path, said in check_findings(each)]
    return found


# -- keys


def test_a_near_miss_of_a_key_is_an_error() -> None:
    of_case = {"Tags": "tags", "matrx": "matrix", "resource": "resources", "id": "@id"}
    of_case |= {"decription": "description", "coldown": "cooldown", "require": "requires"}
    for key, meant in of_case.items():
        expected = (key,), f"unknown key '{key}'; did you mean '{meant}'?"
        assert schema_findings(case(**{key: {}})) == [expected]
    of_step = {"parameter": "parameters", "Parameters": "parameters", "need": "needs", "ID": "@id"}
    of_step |= {"retry-delay": "retry_delay", "mayfail": "may_fail", "checks": "check"}
    of_step |= {"expected_failure": "expect_failure", "warm_up": "warmup", "inclde": "include"}
    for key, meant in of_step.items():
        expected = ("steps", 1, key), f"unknown key '{key}'; did you mean '{meant}'?"
        assert schema_findings(case(step(), step(**{key: {}}))) == [expected]


def test_other_unknown_keys_are_kept() -> None:
    foreign = {"license": "MIT", "$schema": "x", "author": {"paramters": 1}, "year": 2024}
    assert list(schema_findings(case(step(comment="x", owner=1, paper={}), **foreign))) == []


def test_every_known_key_is_known() -> None:
    schema: Any = schemas.load("case")
    for key in schema["properties"]:
        assert not [m for _, m in schema_findings(case(**{key: []})) if "unknown" in m]
    for key in schema["$defs"]["step"]["properties"]:
        assert not [m for _, m in schema_findings(case(step(**{key: []}))) if "unknown" in m]


# -- matrix


def test_a_matrix_that_is_too_large_is_refused_before_it_is_multiplied() -> None:
    wide: list[Json] = [*range(100)]
    assert list(matrix_findings(case(matrix={"a": wide, "b": wide}))) == []
    assert MAX_POINTS == 10_000
    [(path, message)] = matrix_findings(case(matrix=dict.fromkeys("abcdefgh", wide)))
    assert path == ("matrix",)
    assert message == "has 10,000,000,000,000,000 points, more than 10,000"


TWINS: list[tuple[dict[str, Json], str]] = [
    ({"x": [1, "1"]}, "[x=1]"),
    ({"x": [True, "true"]}, "[x=true]"),
    ({"x": [0.5, 2, "0.5"]}, "[x=0.5]"),
    ({"a": ["1,b=2", "1"], "b": ["2", "2,b=2"]}, "[a=1,b=2,b=2]"),
]


@pytest.mark.parametrize(("matrix", "name"), TWINS)
def test_two_points_of_one_name_are_refused(matrix: dict[str, Json], name: str) -> None:
    [(path, message)] = matrix_findings(case(matrix=matrix))
    assert path == ("matrix",)
    assert message == f"has 2 points named {name}; make their values differ"


def test_a_value_of_the_matrix_cannot_refer_to_the_matrix() -> None:
    [(path, message)] = matrix_findings(case(matrix={"x": ["${matrix.y}"], "y": [1]}))
    assert path == ("matrix", "x", 0)
    assert message == "a value of the matrix cannot refer to the matrix"


# -- graph


def test_a_step_may_wait_for_a_later_one() -> None:
    assert between(step(**{"@id": "a", "needs": ["b"]}), step(**{"@id": "b", "needs": []})) == []


# -- checks


@pytest.mark.parametrize("pattern", ["a{99999999999}", "(" * 5_000, "*"])
def test_a_pattern_that_cannot_be(pattern: str) -> None:
    [(path, said)] = between(step(check={"pattern": pattern}))
    assert path == ("steps", 0, "check", "pattern")
    assert said.startswith("is not a regular expression: ")
