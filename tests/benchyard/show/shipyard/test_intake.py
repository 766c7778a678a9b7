"""Rows of any kind are taken in, or named and left out; those beside them are never lost."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.show.shipyard.events import Operation, read_size
from tests.benchyard.show.shipyard.conftest import START, graph_of, only, prepared, pulled, row

GOOD = [*prepared("a"), *pulled("a", "i", START + 200)]
PULL = Operation.PULL


HOSTILE: list[tuple[Any, str]] = [
    *(
        (row(key, "a", "cascade:pull-start", "img=i"), f"its RowKey is {key}, and no time")
        for key in ("abc", "nan", "-5", "", "1e99", "9" * 12)
    ),
    (row("\x1b[31mred\n", "a", "nodeprep:end"), "its RowKey is \\x1b[31mred\\n, and no time"),
    (row(START, "a", "cascade:pull-start"), "names no image"),
    (row(START, "a", "cascade:pull-end", "img="), "names no image"),
    (row(START, "", "cascade:pull-end", "img=i"), "NodeId"),
    (row(START, "a", "nodeprep:end") | {"NodeId": 7}, "NodeId"),
    ({"RowKey": str(START), "NodeId": "a"}, "Event"),
    ({"NodeId": "a", "Event": "nodeprep:end"}, "'at'"),
    ({"at": "2026-01-01T00:00:00", "node": "a", "event": "x:y"}, "timezone"),
    ({"at": "yesterday", "node": "a", "event": "x:y"}, "$.at"),
    ("a text", "Expected 'object'"),
]


@pytest.mark.parametrize(("hostile", "reason"), HOSTILE)
def test_a_hostile_row_is_named_and_all_others_are_read(hostile: Any, reason: str) -> None:
    graph = graph_of([*GOOD[:5], hostile, *GOOD[5:]])
    [problem] = graph.read.problems
    assert problem.startswith("row 6: ")
    assert reason in problem
    [node] = graph.nodes
    assert [(span.name, span.duration) for span in node.of(PULL)] == [("i", 30.0)]
    assert node.is_finished


def test_of_many_problems_the_first_are_told_and_all_are_counted() -> None:
    graph = graph_of([*GOOD, *[row("x", "a", "nodeprep:end")] * 500])
    assert (graph.read.unreadable, len(graph.read.problems)) == (500, 20)


@pytest.mark.parametrize(
    ("message", "name", "length", "size"),
    [
        ("img=i,diff=2.5,size=125.1 MB", "i", 2.5, 125_100_000),
        ("grtype=docker,img=i,diff=2.5,size=ago 125MB", "i", 2.5, 125_000_000),
        ("grtype=singularity,img=docker://b,diff=2.5,size=77", "docker://b [singularity]", 2.5, 77),
        ("img=i,diff=2.5", "i", 2.5, None),
        ("img=i", "i", 3.0, None),
        ("img=i,diff=soon", "i", 3.0, None),
        ("img=i,diff=nan", "i", 3.0, None),
        ("img=i,diff=1e99", "i", 3.0, None),
        ("img=a=b,diff=2.5", "a=b", 2.5, None),  # the original makes 'a' of it
        ("img=i,diff=2.5,size=5,more=x", "i", 2.5, 5),
    ],
)
def test_a_message_is_read_in_every_form(
    message: str, name: str, length: float, size: int | None
) -> None:
    kind = message.partition(",")[0] + "," if message.startswith("grtype") else ""
    start = f"{kind}img={name.partition(' ')[0]}"
    tested = [
        row(START + 300, "a", "cascade:pull-start", start),
        row(START + 303, "a", "cascade:pull-end", message),
    ]
    [span] = only([*prepared("a"), *tested]).of(PULL)
    assert (span.name, span.duration, span.size) == (name, length, size)


@pytest.mark.parametrize(
    ("told", "size"),
    [
        ("125.1 MB", 125_100_000),  # docker of 2016
        ("123MB", 123_000_000),  # docker since 2017
        ("ago 125MB", 125_000_000),  # the last two columns of a later listing
        ("2 weeks ago 1.25GB", 1_250_000_000),
        ("222000111", 222_000_111),  # singularity, and what was saved
        ("0B", 0),
        ("1e+03MB", 1_000_000_000),  # docker rounds 999.9 to three digits
        ("1.5GiB", 1_610_612_736),
        ("", None),
        ("<none>", None),
        ("-5", None),
        ("nan MB", None),
        ("sha256:0a1b", None),
        ("9e99GB", None),
        *((5, 5), (None, None), (True, None), (-1, None), (2.5, None), ([], None)),
    ],
)
def test_a_size_is_read_in_each_form_and_units_are_decimal(told: Any, size: int | None) -> None:
    assert read_size(told) == size


def test_rows_may_lack_a_partition_and_have_capitals_spaces_and_more_members() -> None:
    rows = [
        {key: value for key, value in one.items() if key != "PartitionKey"}
        | {"Timestamp": "2016", "Event": f" {one['Event'].title()} "}
        for one in GOOD
    ]
    assert only(rows).column(Operation.PREPARATION) == 120.5


def test_our_own_rows_of_the_table_are_read_by_their_time() -> None:
    key = f"{START:017.6f}|lab|benchyard:run-start|000000.0a"
    rows = [
        row(key, "lab", "benchyard:run-start", "case=a%2Cb,run=3,offer=Debian"),
        row(
            key.replace("723.25", "733.50"),
            "lab",
            "benchyard:run-end",
            "case=a%2Cb,run=3,diff=10.25",
        ),
    ]
    run = only(rows)
    assert (run.label, run.start, run.length(Operation.RUN)) == ("a,b run 3", START, 10.25)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=4,
)
KNOWN = st.sampled_from(
    [
        *("cascade:pull-start", "cascade:pull-end", "cascade:load-start", "nodeprep:start"),
        *("x:y", "benchyard:run-start", "benchyard:attempt-end"),
    ]
)
ROWS = st.fixed_dictionaries(
    {},
    optional={
        "PartitionKey": st.just("b$p") | JSON,
        "RowKey": st.floats(0, 1e9).map(str) | JSON,
        "NodeId": st.sampled_from(["a", "b"]) | JSON,
        "Event": KNOWN | JSON,
        "Message": st.sampled_from(["img=i", "img=i,diff=1,size=2"]) | JSON,
        "at": st.just("2026-01-01T00:00:00.000000Z") | JSON,
        "node": st.sampled_from(["a", "b"]) | JSON,
        "event": KNOWN | JSON,
        "message": st.fixed_dictionaries({"case": JSON, "run": JSON, "img": JSON}) | JSON,
    },
)


@pytest.mark.slow
@given(st.lists(ROWS | JSON, max_size=6))
def test_nothing_that_json_can_hold_is_more_than_a_problem(rows: list[Any]) -> None:
    graph = graph_of(rows)
    assert graph.read.taken == len(rows)
    assert graph.read.unreadable <= len(rows)
