"""Points of a matrix, and what becomes of ``${matrix.name}``."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchyard.case.templates import Template, as_declared, undefined
from benchyard.core.model import Json, JsonObject


def fill(value: Json, point: dict[str, Json]) -> Json:
    return Template({"it": value}).at(point)["it"]


POINT: dict[str, Json] = {"scale": 0.01, "threads": 2, "fast": True, "engine": "duck"}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("${matrix.scale}", 0.01),
        ("${matrix.threads}", 2),
        ("${matrix.fast}", True),
        ("${matrix.engine}", "duck"),
        ("${matrix.threads} threads", "2 threads"),
        (" ${matrix.threads}", " 2"),
        ("${matrix.threads}${matrix.threads}", "22"),
        ("--fast=${matrix.fast}", "--fast=true"),
        ("s${matrix.scale}/${matrix.engine}.csv", "s0.01/duck.csv"),
        ("${matrix.unknown}", "${matrix.unknown}"),
        ("${env:HOME} $matrix.scale {matrix.scale}", "${env:HOME} $matrix.scale {matrix.scale}"),
        ("${matrix.scale", "${matrix.scale"),
        ("$${matrix.scale}", "$${matrix.scale}"),
        ("$$ ${matrix.threads}$$", "$$ 2$$"),
    ],
)
def test_a_lone_template_keeps_its_type_and_a_longer_text_stays_text(
    text: str, filled: Json
) -> None:
    made = fill(text, POINT)
    assert made == filled
    assert type(made) is type(filled)


def test_every_string_is_filled_however_deep_and_nothing_else() -> None:
    document: Json = {"a": [{"b": "${matrix.threads}"}, 1, None], "${matrix.threads}": "x"}
    assert fill(document, POINT) == {"a": [{"b": 2}, 1, None], "${matrix.threads}": "x"}


def test_a_value_that_looks_like_a_template_is_not_filled_again() -> None:
    assert fill("${matrix.a}", {"a": "${matrix.b}", "b": 1}) == "${matrix.b}"
    assert fill("x${matrix.a}", {"a": "${matrix.b}", "b": 1}) == "x${matrix.b}"


WORDS = st.text(st.characters(exclude_characters="$", exclude_categories=["Cs"]))


@settings(deadline=None)
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | WORDS,
        lambda inner: st.lists(inner) | st.dictionaries(WORDS, inner),
        max_leaves=10,
    )
)
def test_what_has_no_template_stays_as_it_is(value: Json) -> None:
    assert json.dumps(fill(value, POINT)) == json.dumps(value)
    assert list(undefined(value, {})) == []


@settings(deadline=None)
@given(before=WORDS, after=WORDS, value=st.integers() | st.booleans() | WORDS)
def test_filling_is_replacing(before: str, after: str, value: Json) -> None:
    written = json.dumps(value) if not isinstance(value, str) else value
    filled = fill(f"{before}${{matrix.x}}{after}", {"x": value})
    assert filled == (value if before == after == "" else before + written + after)


_DECLARED: JsonObject = {
    "properties": {
        "arguments": {"type": "array", "items": {"type": "string"}},
        "environment": {
            "anyOf": [
                {"type": "object", "additionalProperties": {"type": "string"}},
                {"type": "null"},
            ]
        },
        "sizes": {"type": "array", "items": {"type": "integer"}},
        "either": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}]}},
        "name": {"$ref": "#/$defs/name"},
        "names": {"type": "array", "items": {"$ref": "#/$defs/name"}},
    }
}


@pytest.mark.parametrize(
    ("written", "declared"),
    [
        ({"arguments": ["-n", "${matrix.threads}"]}, {"arguments": ["-n", "2"]}),
        ({"arguments": ["${matrix.fast}"]}, {"arguments": ["true"]}),
        ({"environment": {"N": "${matrix.scale}"}}, {"environment": {"N": "0.01"}}),
        ({"names": ["${matrix.threads}"]}, {"names": ["2"]}),
        ({"name": "${matrix.threads}"}, {"name": 2}),
        ({"sizes": ["${matrix.threads}"]}, {"sizes": [2]}),
        ({"sizes": ["${matrix.fast}"]}, {"sizes": [True]}),
        ({"either": ["${matrix.threads}"]}, {"either": [2]}),
        ({"unknown": ["${matrix.threads}"]}, {"unknown": [2]}),
        ({"arguments": [1, "${matrix.engine}"]}, {"arguments": [1, "duck"]}),
    ],
)
def test_a_lone_template_is_text_where_only_texts_fit(
    written: JsonObject, declared: JsonObject
) -> None:
    filled = Template(written).at(POINT)
    assert as_declared(filled, written, _DECLARED, {"name": {"type": "string"}}) == declared
