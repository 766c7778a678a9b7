"""From rows to nodes: as the original does on well-formed ones, and whole where it gives up."""

import random
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.peer_graph import put_together
from benchyard.show.shipyard.document import document
from benchyard.show.shipyard.events import IMAGE_WORK, Operation
from benchyard.show.shipyard.nodes import Node, summed
from tests.benchyard.show.shipyard.conftest import (
    START,
    Row,
    graph_of,
    only,
    pool,
    prepared,
    pulled,
    row,
)

PULL, LOAD = Operation.PULL, Operation.LOAD


def lengths(node: Node, operation: Operation = PULL) -> list[float | None]:
    return [span.duration for span in node.of(operation)]


def without(rows: list[Row], event: str) -> list[Row]:
    return [one for one in rows if one["Event"] != event]


# -- as the original


def assert_as_the_original(rows: list[Row]) -> None:
    # It takes the first of several ends, and a MB for 1024² bytes; well-formed rows have neither.
    expected, sizes = put_together(rows)
    graph = graph_of(rows)
    assert {node.name for node in graph.nodes} == set(expected)
    for node in graph.nodes:
        told = dict(expected[node.name])
        assert node.length(Operation.PREPARATION) == pytest.approx(told.pop("nodeprep"), abs=1e-6)
        columns = (node.column(Operation.PREPARATION), node.optional(Operation.REGISTRY))
        columns += (node.optional(Operation.CONTAINER), node.column(Operation.RESOURCES))
        names = ("docker_install", "private_registry_setup", "docker_shipyard_container_pull")
        others = [told.pop(name) for name in (*names, "global_resources_loaded")]
        assert columns == pytest.approx(others, abs=1e-6)
        for operation in IMAGE_WORK:
            for span in node.of(operation):
                length = told.pop(f"{operation.value}:{span.name}")
                assert span.duration == pytest.approx(length, abs=2e-6)
                assert (operation is Operation.TORRENT) or span.name in sizes
        assert told == {}


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(0, 5))
def test_any_well_formed_pool_comes_to_the_same(seed: int, nodes: int, images: int) -> None:
    assert_as_the_original(pool(nodes, images, seed))


@given(st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(chance: random.Random) -> None:
    rows = pool(2, 2)
    # Broken ones as well: pulled again, an end that is missing, one that is stray.
    rows += pulled("tvm-0", "image-0", START + 2000) + pulled("tvm-1", "image-1", START + 900)[:4]
    rows += [row(START + 5, "tvm-1", "cascade:load-end", "img=never")]
    rows += prepared("tvm-0", START + 1900)
    expected = document(graph_of(sorted(rows, key=lambda one: one["RowKey"])), ["x"])
    chance.shuffle(rows)
    assert document(graph_of(rows), ["x"]) == expected


# -- what the original cannot stand


@pytest.mark.parametrize(
    "event", ["nodeprep:start", "nodeprep:end", "cascade:start", "cascade:gr-done"]
)
def test_a_node_that_lacks_an_event_loses_nothing_else(event: str) -> None:
    rows = prepared("a") + pulled("a", "i", START + 200) + prepared("b", START + 1)
    kept = [one for one in rows if one["NodeId"] == "b" or one["Event"] != event]
    with pytest.raises(KeyError):
        put_together(kept)
    one, other = sorted(graph_of(kept).nodes, key=lambda node: node.name)
    assert lengths(one) == [30.0]
    assert (
        other.column(Operation.PREPARATION),
        other.column(Operation.RESOURCES),
        other.is_finished,
    ) == (120.5, 1000.0, True)
    if event.startswith("nodeprep"):
        assert (one.length(Operation.PREPARATION), one.column(Operation.RESOURCES)) == (
            None,
            1000.0,
        )
    else:
        assert (one.length(Operation.PREPARATION), one.column(Operation.RESOURCES)) == (120.5, None)
    assert one.ready_at is None or event == "cascade:start"


def test_a_node_that_is_still_prepared_is_unfinished_up_to_what_was_seen() -> None:
    node = only(without(prepared("a"), "nodeprep:end"))
    assert (node.is_finished, node.unfinished) == (False, ["preparation"])
    # From 0 to 1121 s, of which what finished has its own: the container's pull and the cascade.
    assert node.segments()[Operation.PREPARATION] == pytest.approx((0.0, 116.0))
    whole, torn = (n.segments()[Operation.RESOURCES] for n in (only(prepared("a")), node))
    assert torn == whole == pytest.approx((1000.0, 0.0))


def test_a_pull_without_its_end_is_unfinished_and_the_others_are_there() -> None:
    rows = pulled("a", "whole", START + 200) + pulled("a", "torn", START + 300)[:1]
    with pytest.raises(RuntimeError):
        put_together(prepared("a") + rows)
    node = only(prepared("a") + rows)
    assert lengths(node) == [30.0, None]
    assert summed(node.of(PULL)) == 30.0
    assert (node.total(PULL), node.total(LOAD)) == (None, 5.25)
    assert node.unfinished == ["pull torn"]


def test_a_repeated_pull_has_its_own_end() -> None:
    # The original takes the first end for both: 30 s become -400 s.
    rows = prepared("a")
    for at in (START + 200, START + 630):
        rows.append(row(at, "a", "cascade:pull-start", "img=i"))
        rows.append(row(at + 30, "a", "cascade:pull-end", "img=i,size=1 MB"))
    random.Random(1).shuffle(rows)  # noqa: S311 - no secret
    node = only(rows)
    assert lengths(node) == [30.0, 30.0]
    assert node.total(PULL) == 60.0


def test_docker_and_singularity_pull_the_same_beside_each_other() -> None:
    rows = prepared("a")
    for kind, at in (("docker", 0.0), ("singularity", 3.0)):
        rows += [
            row(START + 200 + at, "a", "cascade:pull-start", f"grtype={kind},img=i"),
            row(START + 210 + at * 2, "a", "cascade:pull-end", f"grtype={kind},img=i"),
        ]
    found = [(span.name, span.duration) for span in only(rows).of(PULL)]
    assert found == [("i", 10.0), ("i [singularity]", 13.0)]


def test_sizes_of_loads_are_of_their_own_start() -> None:
    # The original takes the size at the place of the end: ends in another order mix them up.
    rows = prepared("a")
    for number, size in enumerate((111, 222, 333)):
        start, end = START + 200 + number, START + 300 - number
        rows.append(row(start, "a", "cascade:load-start", f"img=i{number},size={size}"))
        rows.append(row(end, "a", "cascade:load-end", f"img=i{number},diff=1"))
    found = {span.name: span.size for span in only(rows).of(LOAD)}
    assert found == {"i0": 111, "i1": 222, "i2": 333}


def test_a_torrent_that_was_pulled_instead_is_not_unfinished() -> None:
    torrents = [
        row(START + 150, "a", "cascade:torrent-start", "img=pulled"),
        row(START + 150, "a", "cascade:torrent-start", "img=waiting"),
    ]
    node = only(prepared("a") + torrents + pulled("a", "pulled", START + 200)[:2])
    assert node.unfinished == ["torrent waiting"]


# -- several cascades, several preparations


def test_cascades_of_docker_and_singularity_count_until_both_are_done() -> None:
    rows = without(without(prepared("a"), "cascade:start"), "cascade:gr-done")
    rows += [
        row(START + 130, "a", "cascade:start", "mode=docker"),
        row(START + 131, "a", "cascade:start", "mode=singularity"),
        row(START + 200, "a", "cascade:gr-done", "nglobalresources=1"),
    ]
    half = only(rows)
    assert (half.column(Operation.RESOURCES), half.is_open(Operation.RESOURCES)) == (None, True)
    whole = only([*rows, row(START + 250, "a", "cascade:gr-done", "nglobalresources=1")])
    assert (whole.column(Operation.RESOURCES), whole.is_finished) == (120.0, True)


def test_a_cascade_after_a_reboot_adds_to_the_first_without_the_time_between() -> None:
    again = [
        row(START + 5000, "a", "cascade:start"),
        row(START + 5030, "a", "cascade:gr-done", "nglobalresources=2"),
    ]
    assert only(prepared("a") + again).column(Operation.RESOURCES) == 1030.0


def test_a_cascade_that_was_started_again_is_the_later_one() -> None:
    rows = [*prepared("a"), row(START + 100, "a", "cascade:start")]
    assert (only(rows).column(Operation.RESOURCES), only(rows).is_finished) == (1000.0, True)


def test_a_node_that_is_prepared_again_is_a_bar_of_its_own() -> None:
    rows = prepared("a") + pulled("a", "i", START + 200)
    rows += prepared("a", START + 9000) + pulled("a", "i", START + 9300, 7)
    random.Random(3).shuffle(rows)  # noqa: S311 - no secret
    first, second = graph_of(rows).nodes
    assert [first.label, second.label] == ["a", "a (2)"]
    assert [lengths(first), lengths(second)] == [[30.0], [7.0]]
    assert (
        first.column(Operation.PREPARATION),
        second.column(Operation.PREPARATION),
        second.column(Operation.RESOURCES),
    ) == (120.5, 120.5, 1000.0)
    assert [first.start, second.start] == [START, START + 9000]


def test_a_preparation_that_was_given_up_is_unfinished_and_the_next_one_is_whole() -> None:
    rows = [row(START - 500, "a", "nodeprep:start", "offer=o,sku=s"), *prepared("a")]
    first, second = graph_of(rows).nodes
    assert (
        first.is_finished,
        first.column(Operation.PREPARATION),
        second.column(Operation.PREPARATION),
    ) == (False, None, 120.5)


# -- time, names, and the rest of the quirks


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Tokyo"])
def test_time_is_utc_wherever_it_is_read(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import time  # noqa: PLC0415 - its zone is set here alone

    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        # 120 s over the end of daylight saving time in New York; the original makes -3480 s of it.
        change = datetime(2016, 11, 6, 6, 0, tzinfo=UTC).timestamp() - 60
        node = only(
            [
                row(change, "a", "nodeprep:start", "offer=o,sku=s"),
                row(change + 120, "a", "nodeprep:end"),
            ]
        )
        assert node.column(Operation.PREPARATION) == 120.0
        assert document(graph_of(prepared("a")), [])["nodes"][0]["started_at"] == (  # type: ignore[index, call-overload]
            "2016-11-18T19:35:23.250000+00:00"
        )
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("key", ["1479497800", "1479497800.0", "1479497800.000000"])
def test_keys_are_numbers_of_seconds_in_every_form(key: str) -> None:
    node = only([*prepared("a"), row(key, "a", "cascade:pull-start", "img=i")])
    assert node.of(PULL)[0].start == 1479497800.0


def test_keys_that_a_float_takes_for_one_are_two_events() -> None:
    first = row("1479497800.272277", "a", "cascade:pull-start", "img=i")
    later = row("1479497800.2722769", "a", "cascade:pull-start", "img=j")
    assert len(only([*prepared("a"), first, later]).of(PULL)) == 2


def test_the_name_that_2016_had_for_a_few_days_is_known() -> None:
    rows = without(without(prepared("a"), "shipyard:pull-start"), "shipyard:pull-end")
    rows += [
        row(START + 10, "a", "cascade:docker-run-pull-start"),
        row(START + 14.5, "a", "cascade:docker-run-pull-end"),
    ]
    assert only(rows).optional(Operation.CONTAINER) == 4.5


def test_events_that_are_not_known_are_counted_and_named() -> None:
    rows = [*prepared("a"), *[row(START + n, "b", "my:event", "x=1") for n in range(3)]]
    graph = graph_of([*rows, row(START, "b", "My:Other")])
    assert graph.read.unknown == {"my:event": 3, "my:other": 1}
    assert [node.name for node in graph.nodes] == ["a"]


def test_nodes_of_two_pools_are_two() -> None:
    other = [one | {"PartitionKey": "batch$other"} for one in prepared("a")]
    assert len(graph_of(prepared("a") + other).nodes) == 2
    graph = graph_of(prepared("a") + other, asked="pool")
    assert [node.pool for node in graph.nodes] == ["batch$pool"]
    assert graph.read.other_pools == {"batch$other": len(other)}


def test_what_overlaps_has_its_time_once_in_the_bar() -> None:
    # The container is pulled while the node is prepared; the original adds both up.
    bar = only(prepared("a", registry=True)).segments()
    assert list(map(sum, bar.values())) == pytest.approx([120.5 - 5 - 10.25, 10.25, 5.0, 1000.0])
