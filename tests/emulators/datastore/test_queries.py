"""What queries answer, and which need an index: the same from our server and from Google's."""

from typing import Any

import pytest
from google.api_core.exceptions import FailedPrecondition, InvalidArgument

from tests.emulators.datastore.conftest import compared, found, names, put_all, start
from tests.emulators.datastore.fixture import Emulator

T0 = compared("test", "=", "t0")
E1 = compared("entry", "=", "e1")
SINCE = compared("start", ">=", start(1))


@pytest.fixture(scope="module")
def client(both: Emulator) -> Any:
    """A client of a server with six tests and, in them, twelve entries."""
    both.clear()
    client = both.client()
    tests = {
        f"t{n % 2}|{n}": {"test": f"t{n % 2}", "start": start(n), "info": "{}"} for n in range(6)
    }
    entries = {
        f"t{n % 2}|{n}": {"test": f"t{n % 2}", "entry": f"e{n % 3}", "start": start(n // 3),
                          "timing": float(n), "info": "{}"}
        for n in range(12)
    }  # fmt: skip
    put_all(client, "Test", tests)
    put_all(client, "Entry", entries)
    return client


def micros(number: int) -> int:
    return int(start(number).timestamp()) * 1_000_000


TIMED = [{"timing": 4.0}, {"timing": 10.0}]


@pytest.mark.parametrize(
    ("kind", "filters", "query", "expected"),
    [
        ("Test", [T0, SINCE], {"projection": ["start"]}, [{"start": micros(n)} for n in (2, 4)]),
        ("Entry", [T0, E1, SINCE], {"projection": ["timing"]}, TIMED),
        (
            *("Entry", [T0, E1, SINCE], {"projection": ["start", "timing"]}),
            [{"start": micros(n), **timed} for n, timed in zip((1, 3), TIMED, strict=True)],
        ),
        (
            *("Test", [], {"projection": ["test"], "distinct_on": ["test"]}),
            [{"test": "t0"}, {"test": "t1"}],
        ),
        (
            *("Test", [T0, compared("start", "=", start(2))], {}),
            [{"test": "t0", "start": start(2), "info": "{}"}],
        ),
        ("Test", [compared("info", "=", "{}")], {}, []),
        ("Test", [], {"projection": ["info"]}, []),
    ],
)
def test_what_is_found(
    client: Any,
    kind: str,
    filters: list[Any],
    query: dict[str, Any],
    expected: list[dict[str, Any]],
) -> None:
    assert [dict(entity) for entity in found(client, kind, *filters, **query)] == expected


@pytest.mark.parametrize(
    ("filters", "query", "expected"),
    [
        ([T0, SINCE], {"projection": ["start"], "limit": 1}, ["t0|2"]),
        ([T0, SINCE], {}, ["t0|2", "t0|4"]),
        ([T0, compared("start", ">", start(2))], {}, ["t0|4"]),
        ([T0, compared("start", "<", start(2))], {}, ["t0|0"]),
        ([T0, compared("start", "<=", start(2))], {}, ["t0|0", "t0|2"]),
        ([T0], {"order": ["start"]}, ["t0|0", "t0|2", "t0|4"]),
        ([], {"order": ["-start"], "limit": 1}, ["t1|5"]),
        ([], {"limit": 0}, []),
        ([], {"limit": 2}, ["t0|0", "t0|2"]),
    ],
)
def test_which_are_found_and_in_what_order(
    client: Any, filters: list[Any], query: dict[str, Any], expected: list[str]
) -> None:
    assert names(found(client, "Test", *filters, **query)) == expected


@pytest.mark.parametrize(
    ("kind", "filters", "query"),
    [
        ("Test", [T0], {"order": ["-start"]}),
        ("Entry", [T0, E1, SINCE], {}),
        ("Entry", [T0], {"projection": ["entry"], "distinct_on": ["entry"]}),
        ("Entry", [T0, SINCE], {}),
        ("Entry", [T0, E1, compared("timing", ">=", 1.0)], {}),
        ("Entry", [T0, E1], {"projection": ["timing"]}),
        ("Entry", [], {"projection": ["start", "timing"]}),
        ("Test", [], {"order": ["test", "-start"]}),
    ],
)
def test_what_no_index_answers_is_refused(
    client: Any, kind: str, filters: list[Any], query: dict[str, Any]
) -> None:
    with pytest.raises(FailedPrecondition):
        found(client, kind, *filters, **query)


def test_a_cursor_goes_on_where_a_page_ended(client: Any) -> None:
    query = client.query(kind="Test")
    first = query.fetch(limit=2)
    assert names(list(next(first.pages))) == ["t0|0", "t0|2"]
    rest = query.fetch(start_cursor=first.next_page_token)
    assert names(list(rest)) == ["t0|4", "t1|1", "t1|3", "t1|5"]
    with pytest.raises(InvalidArgument, match="cursor"):
        list(client.query(kind="Entry").fetch(start_cursor=first.next_page_token))
