"""What the checker remembers never changes a verdict."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from benchyard import schemas
from benchyard.case.checker import Checker, types_of
from benchyard.case.parameters import signature_of
from benchyard.case.resource import InputFile, OutputFile
from benchyard.case.schema_errors import findings, validator
from benchyard.case.shape import shape_findings
from benchyard.core.model import Json, JsonObject


class Part(TypedDict):
    file: InputFile
    table: str
    limit: NotRequired[int]


class Commands:
    def plain(self, text: str, count: int = 0, *, ratio: float = 0.5, fast: bool = False) -> None:
        pass

    def files(self, csv_file: InputFile, output_file: OutputFile | None = None) -> None:
        pass

    def parts(self, parts: Sequence[Part], pair: tuple[str, int] = ("", 0)) -> None:
        pass

    def choice(self, mode: Literal["csv", "json", 1], names: list[str] | None = None) -> None:
        pass

    def mapping(self, environment: Mapping[str, str | int], rest: Any = None) -> None:
        pass

    def numbers(self, values: Annotated[tuple[int, ...], "some"], **more: object) -> None:
        pass


METHODS = [
    Commands.plain,
    Commands.files,
    Commands.parts,
    Commands.choice,
    Commands.mapping,
    Commands.numbers,
]
SCHEMAS = [signature_of(method).schema() for method in METHODS]
CHECKERS = [Checker(schema) for schema in SCHEMAS]
FRESH = [validator(schema) for schema in SCHEMAS]

NAMES = st.sampled_from(
    [name for method in METHODS for name in signature_of(method).annotations]
    + ["file", "table", "limit", "x"]
)
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


@settings(deadline=None)
@given(documents=st.lists(st.dictionaries(NAMES, VALUES, max_size=4), min_size=1, max_size=4))
def test_what_commands_remember_changes_no_verdict(documents: list[JsonObject]) -> None:
    for schema, checker, fresh in zip(SCHEMAS, CHECKERS, FRESH, strict=True):
        for document in documents:
            said = checker.findings(document)
            assert said == list(findings(fresh, document))
            assert bool(said) != plainly_valid(schema, document)


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


@settings(deadline=None)
@given(documents=st.lists(CASES, min_size=1, max_size=4))
def test_what_cases_remember_changes_no_verdict(documents: list[JsonObject]) -> None:
    fresh = validator(schemas.load("case"))
    for document in documents:
        expected = list(findings(fresh, document))
        said = list(shape_findings(document))
        assert said[: len(expected)] == expected
        assert all("unknown key" in message for _, message in said[len(expected) :])
        assert bool(expected) != plainly_valid(schemas.load("case"), document)


def test_cases_that_differ_in_names_and_parameters_only_are_alike() -> None:
    def case(name: str) -> JsonObject:
        step: Json = {"resource": "Toy", "command": "play", "parameters": {"file": name}}
        return {"name": name, "steps": [step]}

    assert list(shape_findings(case("a"))) == []
    assert list(shape_findings(case("b"))) == []
    assert list(shape_findings(case(""))) != []
    assert list(shape_findings(case("bad\x00name"))) != []


def test_only_what_is_valid_is_remembered() -> None:
    checker = Checker({"type": "object", "properties": {"a": {"type": "string"}}})
    assert checker.findings({"a": "x"}) == []
    assert checker.findings({"a": "y"}) == []
    for value in (1, 2):
        assert checker.findings({"a": value}) == [(("a",), "must be a string, not a number")]
    assert checker.findings({"a": "z"}) == []


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"enum": ["a"]}, "a", "b"),
        ({"enum": [1]}, 1, True),
        ({"properties": {"x": {"minimum": 1}}}, {"x": 1}, {"x": 0}),
        ({"items": {"anyOf": [{"const": 1}]}}, [1], [2]),
        ({"additionalProperties": {"pattern": "^a"}}, {"x": "a"}, {"x": "b"}),
        ({"prefixItems": [{"maxLength": 1}]}, ["a"], ["ab"]),
        ({"properties": {"enum": {"type": "string"}}}, {"enum": "a"}, {"enum": 1}),
        ({"maxItems": 1}, [1], [1, 2]),
        ({"type": "integer"}, 1.0, 1.5),
    ],
)
def test_schemas_that_look_at_values_are_not_taken_by_types_alone(
    schema: JsonObject, good: Json, bad: Json
) -> None:
    checker = Checker(schema)
    assert checker.findings(good) == []
    assert checker.findings(bad) != []


def test_types_tell_apart_what_json_schema_does() -> None:
    apart: list[Json] = [None, True, 1, 1.5, "", [], {}, [[]], [{}], {"a": 1}, {"a": [1]}, [1, 1]]
    assert len({types_of(value) for value in apart}) == len(apart)
    assert types_of(1.0) == types_of(1)
    assert types_of({"a": "x"}) == types_of({"a": "y"})


def test_the_shipped_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(schemas.load("case"))
    assert Path(schemas.__file__).with_name("case.schema.json").is_file()
