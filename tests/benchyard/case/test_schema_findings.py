"""What jsonschema finds, in words: path, what is wrong, what to write instead."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from benchyard import schemas
from benchyard.case.schema_findings import explain
from benchyard.case.shape import read_schema, shape_findings
from benchyard.core.model import Json, JsonObject

STEP: dict[str, Json] = {"resource": "Toy", "command": "play"}


def found(schema: Json, value: Json) -> list[tuple[tuple[str | int, ...], str]]:
    assert isinstance(schema, dict)
    return explain(schema, value)


def in_case(**changes: Json) -> list[tuple[tuple[str | int, ...], str]]:
    return found(read_schema(), {"name": "n", "steps": [STEP], **changes})


A_FINDING: list[tuple[Json, Json, tuple[str | int, ...], str]] = [
    ({"type": "integer"}, "5", (), "must be an integer, not a string"),
    ({"type": "integer"}, True, (), "must be an integer, not a boolean"),
    ({"type": ["string", "null"]}, 5, (), "must be a string or null, not a number"),
    ({"type": "array", "items": {"type": "object"}}, [{}, []], (1,), "must be an object"),
    ({"enum": ["csv", "json"]}, "xml", (), "must be one of csv, json, not 'xml'"),
    ({"minLength": 1}, "", (), "must not be empty"),
    ({"minItems": 1}, [], (), "needs at least 1 element, has 0"),
    ({"minItems": 2}, [1], (), "needs at least 2 elements, has 1"),
    ({"maxItems": 2}, [1, 2, 3], (), "takes at most 2 elements, has 3"),
    ({"minimum": 0}, -1, (), "must be at least 0, not -1"),
    ({"maximum": 9}, 10, (), "must be at most 9, not 10"),
    ({"exclusiveMinimum": 0}, 0, (), "must be greater than 0, not 0"),
    ({"uniqueItems": True}, ["a", "b", "a"], (), "has an element twice"),
    ({"uniqueItems": True}, [1, 1.0], (), "has an element twice"),
    ({"pattern": "^[a-z]+$"}, "A", (), "'A' does not have the form ^[a-z]+$"),
    ({"required": ["a", "b", "c"]}, {"b": 1}, (), "lacks 'a' and 'c'"),
    ({"multipleOf": 2}, 3, (), "3 is not a multiple of 2"),
]


@pytest.mark.parametrize(("schema", "value", "path", "message"), A_FINDING)
def test_a_finding_says_what_is_wrong(
    schema: Json, value: Json, path: tuple[str | int, ...], message: str
) -> None:
    [(where, said)] = dict.fromkeys(found(schema, value))
    assert where == path
    assert said.startswith(message)


@pytest.mark.parametrize("value", [[1, True], [0, False], ["1", 1], ["true", True], ["a", "A"]])
def test_values_of_two_types_are_two_elements(value: list[Json]) -> None:
    assert found({"uniqueItems": True}, value) == []


def test_a_long_list_of_mixed_types_is_compared_at_once() -> None:
    mixed: list[Json] = [n if n % 2 else str(n) for n in range(100_000)]
    assert found({"uniqueItems": True}, mixed) == []
    assert len(found({"uniqueItems": True}, [*mixed, "0"])) == 1


@pytest.mark.parametrize("value", ["name\n", "\n", "a\nb"])
def test_a_pattern_ends_at_the_very_end(value: str) -> None:
    assert len(found({"pattern": r"^\w+$"}, value)) == 1


def test_an_unknown_key_is_named_with_the_nearest_known() -> None:
    schema: Json = {"properties": {"csv_file": {}, "table": {}}, "additionalProperties": False}
    assert found(schema, {"csv_fil": 1, "zzz": 2}) == [
        (("csv_fil",), "is unknown here; did you mean 'csv_file'?"),
        (("zzz",), "is unknown here; known: csv_file, table"),
    ]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("timeout", None, "must be a number or a string, not null"),
        ("timeout", 0, "must be greater than 0, not 0"),
        ("timeout", 1e9, "must be at most 31536000"),
        ("retries", 1.5, "must be an integer or a string, not a number"),
        ("retries", 10**7, "must be at most 1000000"),
        ("may_fail", "yes", "must be a boolean, not a string"),
        ("repeat", 0, "must be at least 1, not 0"),
        ("needs", "step1", "must be an array, not a string"),
        ("name", "tab\there", "'tab\\there' does not have the form"),
        ("resource", "", "must not be empty"),
        ("matrix.x", [], "needs at least 1 element, has 0"),
        ("matrix.x", 1, "must be an array, not a number"),
        ("matrix.x", [1, 1], "has an element twice"),
        ("matrix", [], "must be an object, not an array"),
        ("matrix", {"a b": [1]}, "'a b' does not have the form"),
        ("matrix", {"a\n": [1]}, "'a\\n' does not have the form"),
    ],
)
def test_keys_of_a_step_and_of_a_matrix(key: str, value: Json, message: str) -> None:
    whole, _, part = key.partition(".")
    if whole == "matrix":
        wrong = in_case(matrix={part: value} if part else value)
        assert [path for path, _ in wrong] == [("matrix", part) if part else ("matrix",)]
    else:
        wrong = in_case(steps=[{**STEP, key: value}])
        assert [path for path, _ in wrong] == [("steps", 0, key)]
    assert message in wrong[0][1]


def test_any_error_of_jsonschema_has_a_text() -> None:
    schema: Any = {"contains": {"const": 1}, "minProperties": 1, "dependentRequired": {"a": ["b"]}}
    assert len(found(schema, [2])) == 1
    assert len(found(schema, {})) == 1
    assert len(found(schema, {"a": 1})) == 1


NAMES = st.sampled_from(["text", "count", "file", "table", "limit", "x"])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from([0.0, 1.0, 0.5, 1e300, "", "csv", "json", "1", "x"])
)
VALUES: st.SearchStrategy[Json] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=8,
)


def plainly_valid(schema: JsonObject, document: Json) -> bool:
    """Ask jsonschema itself, without anything of ours."""
    plain: Any = Draft202012Validator(schema)
    return plain.is_valid(document)


STEP_VALUES: dict[str, st.SearchStrategy[Json]] = {
    "@id": st.sampled_from(["a", "", 1]),
    "name": st.sampled_from(["n", "m", "", "\u2028", "a\tb", "c\u0085d", None]),
    "resource": st.sampled_from(["Toy", "", 0]),
    "command": st.sampled_from(["play", "", "a\x00"]),
    "parameters": st.sampled_from([{}, {"a": 1}, [], None, {"enum": [1]}]),
    "needs": st.sampled_from([[], ["a"], [1], "a"]),
    "timeout": st.sampled_from([1, 1.0, True, 0, 1e9, "1", "${matrix.x}", "${matrix.}", None]),
    "retries": st.sampled_from([0, 1, 1.0, 1.5, True, False, -1, "${matrix.x}", "x"]),
    "may_fail": st.sampled_from([True, False, 0, 1, "true", "${matrix.x}"]),
    "repeat": st.sampled_from([0, 1, True, 1.0]),
    "check": st.sampled_from(
        [{}, {"rows": 1}, {"rows": True}, {"name": "x"}, {"sha256": "0" * 64}, {"sha256": "x"}, 1]
    ),
    "steps": st.sampled_from([[], {}, 1]),
    "unknown": VALUES,
}
STEPS = st.fixed_dictionaries({"resource": st.just("Toy"), "command": st.just("play")}).flatmap(
    lambda step: st.fixed_dictionaries({}, optional=STEP_VALUES).map(lambda more: {**step, **more})
)
MATRICES: list[Json] = [
    *({}, {"x": [1]}, {"x": [1, True]}, {"x": [1, 1.0]}, {"x": []}, {"x": [None]}, []),
    *({"name": "s"}, {"name": ["s"]}, {"parameters": {}}, {"1x": [1]}, {"x": ["a", "b"]}),
]
SETTINGS: list[Json] = [{}, {"Toy": {}}, {"parameters": {}}, {"name": "s"}, []]
CASES: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"name": st.sampled_from(["n", "m", "", "tab\t", 1]), "steps": st.lists(STEPS, max_size=2)},
    optional={
        "description": st.sampled_from(["", "d", "two\nlines", 1, None]),
        "tags": st.sampled_from([[], ["a"], [""], [1], "a"]),
        "matrix": st.sampled_from(MATRICES),
        "resources": st.sampled_from(SETTINGS),
        "parameters": st.sampled_from([{}, 1]),
    },
)


@settings(deadline=None, max_examples=300)
@given(document=CASES)
def test_cases_are_accepted_as_by_jsonschema(document: JsonObject) -> None:
    said = shape_findings(document)
    assert said == explain(read_schema(), document)
    assert bool(said) != plainly_valid(read_schema(), document)


def test_the_shipped_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(schemas.load("case"))
    assert Path(schemas.__file__).with_name("case.schema.json").is_file()
