"""The bytes that values are sorted by, held against the values themselves."""

import math
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.emulators.datastore.messages import Key, Value, set_micros
from tests.emulators.datastore.values import (
    beginning_below,
    decoded,
    encoded,
    encoded_key,
    split,
    successor,
    turned,
)

INTEGERS = st.integers(-(2**63), 2**63 - 1)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)
ELEMENTS = st.tuples(NAMES, st.one_of(st.integers(1, 2**63 - 1), NAMES))


def key(path: list[tuple[str, int | str]]) -> Any:
    made = Key()
    for kind, last in path:
        name = {"id": last} if isinstance(last, int) else {"name": last}
        made.path.add(kind=kind, **name)
    return made


KEYS = st.lists(ELEMENTS, min_size=1, max_size=3).map(key)
VALUES = st.one_of(
    st.just(Value(null_value=0)),
    INTEGERS.map(lambda each: Value(integer_value=each)),
    st.booleans().map(lambda each: Value(boolean_value=each)),
    st.text(st.characters(exclude_categories=["Cs"])).map(lambda each: Value(string_value=each)),
    st.floats(allow_nan=False).map(lambda each: Value(double_value=each)),
    KEYS.map(lambda each: Value(key_value=each)),
)


@given(INTEGERS, INTEGERS)
def test_integers_sort_as_numbers(one: int, other: int) -> None:
    first, second = (encoded(Value(integer_value=each)) for each in (one, other))
    assert (first < second) == (one < other)


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_floats_sort_as_numbers(one: float, other: float) -> None:
    first, second = (encoded(Value(double_value=each)) for each in (one, other))
    if one != other:
        assert (first < second) == (one < other)


def test_nan_is_one_and_comes_after_all_other_floats() -> None:
    nan = encoded(Value(double_value=math.nan))
    assert nan == encoded(Value(double_value=-math.nan))
    assert nan > encoded(Value(double_value=math.inf))
    assert encoded(Value(double_value=-0.0)) < encoded(Value(double_value=0.0))


@given(st.text(), st.text())
def test_texts_sort_by_their_bytes(one: str, other: str) -> None:
    raw = [each.encode(errors="ignore") for each in (one, other)]
    first, second = (encoded(Value(blob_value=each)) for each in raw)
    assert (first < second) == (raw[0] < raw[1])


def test_the_types_come_in_their_order() -> None:
    moment = Value()
    set_micros(moment.timestamp_value, 7)
    in_order = [
        Value(null_value=0),
        Value(integer_value=6),
        moment,
        Value(boolean_value=False),
        Value(string_value="a"),
        Value(double_value=-math.inf),
        Value(geo_point_value={"latitude": 1, "longitude": 2}),
        Value(key_value=key([("A", 1)])),
    ]
    assert sorted(in_order, key=encoded) == in_order


def test_a_timestamp_is_a_number_of_microseconds() -> None:
    moment = Value()
    moment.timestamp_value.FromDatetime(datetime(2023, 11, 14, tzinfo=UTC))
    assert decoded(encoded(moment)).integer_value == 1_699_920_000_000_000


@given(VALUES)
def test_what_went_in_comes_out(value: Any) -> None:
    assert decoded(encoded(value)) == value


@given(KEYS, KEYS)
def test_a_key_below_another_one_is_after_it_and_begins_with_it(above: Any, more: Any) -> None:
    below = Key()
    below.path.extend(above.path)
    below.path.extend(more.path)
    assert encoded_key(below).startswith(beginning_below(above))
    assert encoded_key(above) < encoded_key(below) < successor(beginning_below(above))


@given(st.lists(st.tuples(VALUES, st.booleans()), min_size=1, max_size=4))
def test_an_entry_comes_apart(columns: list[tuple[Any, bool]]) -> None:
    values = [encoded(value) for value, _ in columns]
    place = b"".join(
        turned(each) if down else each for each, (_, down) in zip(values, columns, strict=True)
    )
    assert split(place, [down for _, down in columns]) == values


@given(st.binary(), st.binary())
def test_nothing_with_a_beginning_reaches_its_successor(beginning: bytes, rest: bytes) -> None:
    after = successor(beginning)
    assert not after or beginning + rest < after
    assert after or set(beginning) <= {255}
