"""Which index a query needs, and which indexes together are as good."""

from pathlib import Path
from typing import Any

import pytest

from tests.emulators.datastore.gql import parsed
from tests.emulators.datastore.indexes import Index, Indexes, needs
from tests.emulators.datastore.keys import Partition
from tests.emulators.datastore.messages import GqlQuery
from tests.emulators.datastore.ordering import Column
from tests.emulators.datastore.planning import Plan, planned
from tests.emulators.datastore.refusals import RefusedError


def plan(statement: str) -> Plan:
    query = parsed(GqlQuery(query_string=statement, allow_literals=True))
    return planned(query, Partition("p", "", ""))


def index(*columns: str, ancestor: bool = False) -> Index:
    described = tuple(Column(name.removeprefix("-"), name[0] == "-") for name in columns)
    return Index("K", ancestor, described)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM K",
        "SELECT * FROM K WHERE a = 1 AND b = 2 AND c = 3",
        "SELECT * FROM K WHERE a >= 1 AND a < 5 ORDER BY a DESC",
        "SELECT * FROM K WHERE a = 1 ORDER BY a",
        "SELECT * FROM K WHERE a = 1 AND __key__ HAS ANCESTOR KEY(K, 1)",
        "SELECT * FROM K WHERE a = 1 AND __key__ > KEY(K, 1)",
        "SELECT * FROM K WHERE a IN ARRAY(1, 2)",
        "SELECT * FROM K ORDER BY __key__",
        "SELECT a FROM K",
        "SELECT DISTINCT a FROM K",
        "SELECT __key__ FROM K WHERE a = 1",
        "SELECT *",
        "SELECT * FROM __kind__",
    ],
)
def test_a_query_on_one_property_or_of_equal_ones_needs_none(statement: str) -> None:
    assert list(needs(plan(statement))) == []


@pytest.mark.parametrize(
    ("statement", "columns"),
    [
        ("SELECT * FROM K WHERE a = 1 AND b > 2", ["a", "b"]),
        ("SELECT * FROM K WHERE a = 1 ORDER BY b DESC", ["a", "-b"]),
        ("SELECT * FROM K WHERE a = 1 AND b > 2 ORDER BY b DESC, c", ["a", "-b", "c"]),
        ("SELECT * FROM K ORDER BY a, b DESC", ["a", "-b"]),
        ("SELECT * FROM K WHERE a > 1 AND b > 2", ["a", "b"]),
        ("SELECT * FROM K WHERE a IN ARRAY(1, 2) AND b > 2", ["a", "b"]),
        ("SELECT * FROM K ORDER BY __key__ DESC", ["-__key__"]),
        ("SELECT c FROM K WHERE a = 1 AND b > 2", ["a", "b", "c"]),
        ("SELECT a, b FROM K", ["a", "b"]),
        ("SELECT DISTINCT b FROM K WHERE a = 1", ["a", "b"]),
        ("SELECT DISTINCT ON (b) a, b FROM K", ["b", "a"]),
    ],
)
def test_other_queries_need_one(statement: str, columns: list[str]) -> None:
    (need,) = needs(plan(statement))
    assert need.recommended() == index(*columns)
    Indexes([index(*columns)]).check(plan(statement))
    for others in ([], [index(*columns, "z")], [index("z", *columns)]):
        with pytest.raises(RefusedError, match="no matching index found"):
            Indexes(others).check(plan(statement))


def test_the_direction_counts() -> None:
    with pytest.raises(RefusedError):
        Indexes([index("a", "b")]).check(plan("SELECT * FROM K WHERE a = 1 ORDER BY b DESC"))


def test_equal_properties_may_be_in_any_order_and_in_several_indexes() -> None:
    asked = plan("SELECT * FROM K WHERE a = 1 AND b = 2 ORDER BY c")
    Indexes([index("b", "a", "c")]).check(asked)
    Indexes([index("a", "c"), index("b", "c")]).check(asked)
    with pytest.raises(RefusedError):
        Indexes([index("a", "c"), index("b", "-c")]).check(asked)


def test_what_is_below_a_key_needs_an_index_that_says_so() -> None:
    asked = plan("SELECT * FROM K WHERE a > 1 AND __key__ HAS ANCESTOR KEY(K, 1)")
    Indexes([index("a", ancestor=True)]).check(asked)
    with pytest.raises(RefusedError, match="ancestor: yes"):
        Indexes([index("a")]).check(asked)


def test_an_index_file_is_read(tmp_path: Path) -> None:
    written = index("a", "-b", ancestor=True)
    path = tmp_path / "index.yaml"
    path.write_text(f"indexes:\n{written}", "utf-8")
    asked = plan("SELECT * FROM K WHERE a = 1 AND __key__ HAS ANCESTOR KEY(K, 1) ORDER BY b DESC")
    Indexes.read(path).check(asked)
    for empty in ("", "indexes:\n"):
        path.write_text(empty, "utf-8")
        with pytest.raises(RefusedError):
            Indexes.read(path).check(asked)


def gql(statement: str, *, literals: bool = True, **bindings: Any) -> Any:
    bound = {name: {"value": value} for name, value in bindings.items()}
    given = GqlQuery(query_string=statement, allow_literals=literals, named_bindings=bound)
    return parsed(given)


def test_gql_has_texts_numbers_times_and_names_in_quotes() -> None:
    query = gql(
        "select `a b` from `K``` where a = 'it''s' and b = \"x\\\"\" and c >= -1.5e3 and d = 7 "
        "and e = DATETIME('2023-11-14T00:00:03.000007Z') and f is null and g != TRUE offset 3"
    )
    values = [each.property_filter.value for each in query.filter.composite_filter.filters]
    assert (query.projection[0].property.name, query.kind[0].name) == ("a b", "K`")
    assert [values[0].string_value, values[1].string_value] == ["it's", 'x"']
    assert (values[2].double_value, values[3].integer_value) == (-1500.0, 7)
    assert (values[4].timestamp_value.seconds, values[4].timestamp_value.nanos) == (
        1_699_920_003,
        7_000,
    )
    assert values[5].WhichOneof("value_type") == "null_value"
    assert (values[6].boolean_value, query.offset) == (True, 3)


@pytest.mark.parametrize(
    "statement",
    [
        "",
        "SELEC * FROM K",
        "SELECT * FROM K WHERE",
        "SELECT * FROM K WHERE a ~ 1",
        "SELECT * FROM K WHERE a = b",
        "SELECT * FROM K LIMIT 1 1",
        "SELECT * FROM K WHERE a = DATETIME('yesterday')",
        "SELECT * FROM K WHERE a = @absent",
        "SELECT * FROM K WHERE a = @1",
        "SELECT * FROM K WHERE a = 'open",
    ],
)
def test_what_is_no_gql_is_refused(statement: str) -> None:
    with pytest.raises(RefusedError):
        gql(statement)


def test_literals_may_be_forbidden() -> None:
    with pytest.raises(RefusedError, match="Disallowed literal: 't0'"):
        gql("SELECT * FROM K WHERE a = 't0'", literals=False)
    query = gql("SELECT * FROM K LIMIT @n", literals=False, n={"integer_value": 2})
    assert query.limit.value == 2
