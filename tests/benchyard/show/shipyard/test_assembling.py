"""From rows to nodes: as the original does on well-formed ones, and whole where it gives up."""

import random
from datetime import UTC, datetime
from typing import Any, cast

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


def columns(node: Node) -> tuple[float | None, float | None]:
    return node.column(Operation.PREPARATION), node.column(Operation.RESOURCES)


def without(rows: list[Row], *events: str) -> list[Row]:
    return [one for one in rows if one["Event"] not in events]


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
    ("event", "preparation", "resources"),
    [
        ("nodeprep:start", None, 1000.0),
        ("nodeprep:end", None, 1000.0),
        ("cascade:start", 120.5, None),
        ("cascade:gr-done", 120.5, None),
    ],
)
def test_a_node_that_lacks_an_event_loses_nothing_else(
    event: str, preparation: float | None, resources: float | None
) -> None:
    rows = without(prepared("a") + pulled("a", "i", START + 200), event)
    rows += prepared("b", START + 1)
    with pytest.raises(KeyError):
        put_together(rows)
    torn, whole = sorted(graph_of(rows).nodes, key=lambda node: node.name)
    assert lengths(torn) == [30.0]
    assert columns(whole) == (120.5, 1000.0)
    assert whole.is_finished
    assert (torn.length(Operation.PREPARATION), torn.column(Operation.RESOURCES)) == (
        preparation,
        resources,
    )
    assert torn.ready_at is None or event == "cascade:start"


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


TWICE = [(121, "start mode=docker"), (122, "start mode=singularity"), (191, "gr-done")]


@pytest.mark.parametrize(
    ("cascades", "length"),
    [
        (TWICE, None),
        ([*TWICE, (241, "gr-done")], 120.0),
        ([(121, "start"), (1121, "gr-done"), (5000, "start"), (5030, "gr-done")], 1030.0),
        ([(100, "start"), (121, "start"), (1121, "gr-done")], 1000.0),
    ],
    ids=["one-of-two-done", "both-done", "after-a-reboot", "started-again"],
)
def test_several_cascades_count_together(
    cascades: list[tuple[int, str]], length: float | None
) -> None:
    told = [(at, *event.partition(" ")) for at, event in cascades]
    rows = [row(START + at, "a", f"cascade:{event}", mode) for at, event, _, mode in told]
    node = only(prepared("a")[:-2] + rows)
    assert (node.column(Operation.RESOURCES), node.is_finished) == (length, length is not None)


def test_a_node_that_is_prepared_again_is_a_bar_of_its_own() -> None:
    rows = prepared("a") + pulled("a", "i", START + 200)
    rows += prepared("a", START + 9000) + pulled("a", "i", START + 9300, 7)
    random.Random(3).shuffle(rows)  # noqa: S311 - no secret
    first, second = graph_of(rows).nodes
    assert (first.label, lengths(first), first.start) == ("a", [30.0], START)
    assert (second.label, lengths(second), second.start) == ("a (2)", [7.0], START + 9000)
    assert first.column(Operation.PREPARATION) == 120.5
    assert columns(second) == (120.5, 1000.0)
    given_up, whole = graph_of([row(START - 500, "a", "nodeprep:start"), *prepared("a")]).nodes
    assert (given_up.is_finished, whole.is_finished) == (False, True)


# -- time, names, and the rest of the quirks


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Tokyo"])
def test_time_is_utc_wherever_it_is_read(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import time  # noqa: PLC0415 - its zone is set here alone

    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        # 120 s over the end of daylight saving time in New York; the original makes -3480 s of it.
        change = datetime(2016, 11, 6, 6, 0, tzinfo=UTC).timestamp() - 60
        begins = row(change, "a", "nodeprep:start", "offer=o,sku=s")
        node = only([begins, row(change + 120, "a", "nodeprep:end")])
        assert node.column(Operation.PREPARATION) == 120.0
        [made] = cast("Any", document(graph_of(prepared("a")), [])["nodes"])
        assert made["started_at"] == "2016-11-18T19:35:23.250000+00:00"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_the_name_that_2016_had_for_a_few_days_is_known() -> None:
    rows = without(prepared("a"), "shipyard:pull-start", "shipyard:pull-end")
    for at, event in ((10, "start"), (14.5, "end")):
        rows.append(row(START + at, "a", f"cascade:docker-run-pull-{event}"))
    assert only(rows).optional(Operation.CONTAINER) == 4.5
