"""A message as a text reads back exactly; Batch Shipyard's own is read for what it says."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from benchyard.core.model import Json
from benchyard.results.events import message_pairs, read_message, read_plain_message

TEXTS = some.text(some.characters(), max_size=30)  # halves of characters too
VALUES = (
    some.none()
    | some.booleans()
    | some.integers()
    | some.floats(allow_nan=False)
    | TEXTS
    | some.sampled_from(["1", "-2.5e3", "true", "null", "NaN", "[1]", '{"a"', '"', "%2C", "1\n"])
)


@given(some.dictionaries(TEXTS, VALUES | some.lists(VALUES, max_size=3), max_size=6))
def test_what_is_written_is_one_line_and_reads_back(message: dict[str, Json]) -> None:
    text = ",".join(message_pairs(message))
    assert not any(ord(letter) < 32 for letter in text)
    assert text.count("=") == len(message)
    again = read_message(text)
    assert again == message
    assert [type(value) for value in again.values()] == [type(value) for value in message.values()]


@given(some.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    read_message(text)
    read_plain_message(text)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({}, ""),
        ({"img": "postgres:17", "size": 125}, "img=postgres:17,size=125"),
        ({"sku": "16.04"}, 'sku="16.04"'),
        ({"case": "tpch[scale=0.1,threads=2]"}, "case=tpch[scale%3D0.1%2Cthreads%3D2]"),
        ({"diff": 0.5, "fine": True, "none": None}, "diff=0.5,fine=true,none=null"),
        ({"a": "100 %"}, "a=100 %25"),
    ],
)
def test_written(message: dict[str, Json], text: str) -> None:
    assert ",".join(message_pairs(message)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", {}),
        (
            "grtype=docker,img=busybox,diff=1.5",
            {"grtype": "docker", "img": "busybox", "diff": "1.5"},
        ),
        ("size=125.1 MB", {"size": "125.1 MB"}),
        ("img=a=b", {"img": "a=b"}),
        ("img=a,b,size=3", {"img": "a,b", "size": "3"}),
        ("alone", {"alone": ""}),
    ],
)
def test_batch_shipyards_own(text: str, message: dict[str, str]) -> None:
    assert read_plain_message(text) == message


@pytest.mark.parametrize(
    "text", ["a=[oops", "a=%ff", 'a="', "a=" + "[" * 100_000, "a=" + "9" * 9000]
)
def test_what_only_looks_like_ours_stays_text(text: str) -> None:
    assert read_message(text)["a"] == text.partition("=")[2]
