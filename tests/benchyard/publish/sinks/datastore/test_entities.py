import json
import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from google.cloud.datastore import helpers
from hypothesis import given
from hypothesis import strategies as st

from benchyard.publish.sinks.datastore.settings import Settings
from benchyard.publish.sinks.datastore.sink import (
    INFO_BYTES,
    MARKER,
    TYPES,
    document_mutation,
    entry_mutations,
    indexed,
    moment,
    number,
)
from benchyard.publish.testresults import Document, parse

#: The library has no types.
HELPERS: Any = helpers
WHERE = Settings("lab", "bench", "team")
BODY: dict[str, Any] = {
    "name": "//t:x",
    "startTime": "1700000000",
    "entries": {
        "entry": [
            {"name": "BM_a", "iters": "3", "wallTime": 3},
            {"name": "BM_b", "wallTime": 0.25, "extras": {"k": {"stringValue": "ä"}}},
            {"name": "BM_b", "wallTime": "NaN"},
        ]
    },
}


def document(body: dict[str, Any] | None = None) -> Document:
    return parse(json.dumps(body or BODY).encode())


def whole(of: Document) -> Any:
    return HELPERS.entity_from_protobuf(document_mutation(WHERE, of, "a").upsert)


def entries(of: Document, archived_as: str = "a") -> list[Any]:
    made = entry_mutations(WHERE, of, archived_as)
    return [HELPERS.entity_from_protobuf(mutation.upsert) for mutation in made]


def test_properties_and_types_are_those_of_the_original() -> None:
    made, first = whole(document()), entries(document())[0]
    common = {"test": "//t:x", "start": datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)}
    assert dict(made) == {**common, "info": json.dumps(BODY)}
    info = json.dumps(BODY["entries"]["entry"][0])
    assert dict(first) == {**common, "entry": "BM_a", "timing": 3.0, "info": info}
    assert made.exclude_from_indexes == first.exclude_from_indexes == {"info"}


def test_keys_are_named_are_of_one_place_and_are_the_same_each_time() -> None:
    keys = [entity.key for entity in [whole(document()), *entries(document())]]
    assert keys == [entity.key for entity in [whole(document()), *entries(document())]]
    assert len({key.name for key in keys}) == 4
    for key in keys:
        assert (key.project, key.database, key.namespace) == ("lab", "bench", "team")
        assert key.id is None
    assert [key.kind for key in keys] == ["Test", "Entry", "Entry", "Entry"]


def test_what_just_fits_is_not_cut() -> None:
    body = {**BODY, "x": ""}
    room = INFO_BYTES - len(json.dumps(body))
    assert MARKER not in whole(document({**body, "x": "y" * room}))["info"]
    assert MARKER in whole(document({**body, "x": "y" * (room + 1)}))["info"]


def test_no_value_of_the_environment_goes_out_cut_or_not() -> None:
    secret = {"argument": ["x"], "envVars": {"TOKEN": "hunter2"}}
    for filling in ("", "y" * 2_000_000):
        body = {**BODY, "runConfiguration": secret, "filling": filling}
        info = whole(document(body))["info"]
        assert "hunter2" not in info
        assert json.loads(info)["runConfiguration"] == {"argument": ["x"]}


@given(st.text(st.characters(exclude_categories=[])))
def test_an_indexed_name_is_never_too_long_and_stays_as_it_is(name: str) -> None:
    for text in (name, name * 200):
        stored = indexed(text)
        assert len(stored.encode()) <= 1500
        assert indexed(stored) == stored


def test_short_names_are_stored_whole_and_long_ones_differ() -> None:
    assert indexed("ä" * 750) == "ä" * 750
    assert indexed("ä" * 2000 + "1") != indexed("ä" * 2000 + "2")


@given(st.datetimes(timezones=st.sampled_from([None, UTC, timezone(timedelta(hours=-5))])))
def test_times_are_kept_to_the_microsecond_and_without_a_zone_are_utc(at: datetime) -> None:
    expected = at if at.tzinfo else at.replace(tzinfo=UTC)
    try:
        expected = expected.astimezone(UTC)
    except OverflowError:
        return
    value = TYPES.Value.pb()()
    value.timestamp_value.FromDatetime(at)
    assert moment(value) == expected
    projected = TYPES.Value.pb()()
    projected.integer_value = value.timestamp_value.ToMicroseconds()
    assert moment(projected) == expected


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [("double_value", 0.5, 0.5), ("integer_value", 3, 3.0), ("string_value", "x", math.nan)],
)
def test_timings_of_others_are_read(field: str, value: object, expected: float) -> None:
    made = TYPES.Value.pb()(**{field: value})
    assert number(made) == pytest.approx(expected, nan_ok=True)
