"""Our runs in Batch Shipyard's form: what its graph.py asks of every node is there."""

from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from benchyard.core.model import Json
from benchyard.publish.sinks.azure.credentials import Access
from benchyard.publish.sinks.azure.reader import rows
from benchyard.publish.sinks.azure.rows import Row
from benchyard.publish.sinks.azure.shipyard import placed, rows_of
from benchyard.publish.sinks.azure.sink import AzureTablesSink
from benchyard.publish.sinks.contract import Spooled
from benchyard.results.events import MEASURED, Event, dump
from tests.benchyard.publish.sinks.azure.conftest import of_a_server, to_table
from tests.benchyard.publish.sinks.azure.proxy import between
from tests.benchyard.publish.sinks.azure.test_sink import DOCUMENT
from tests.emulators.azurite.server import Azurite

AT = datetime(2026, 11, 21, 19, 30, tzinfo=UTC)


def run(
    number: int = 1, began: datetime = AT, *, pulls: int = 2, loads: bool = True
) -> list[Event]:
    whose: dict[str, Json] = {"case": "tpch[scale=0.1]", "run": number}

    def event(seconds: float, name: str, **message: Json) -> Event:
        at = began + timedelta(seconds=seconds)
        return Event(at, "vm", "benchyard", name, {**whose, **message})

    told = [event(0, "run-start", offer="Debian GNU/Linux", sku="12 (bookworm)")]
    if loads:
        told += [event(1, "initialize-start", resource="PostgreSQL")]
        for pull in range(pulls):
            img = f"registry:5000/db,v={pull}"
            told.append(event(2 + pull, "pull-start", img=img))
            told.append(event(2.5 + pull, "pull-end", img=img, diff=0.5, size=125_000_000))
        told += [event(20, "initialize-end", resource="PostgreSQL", diff=19.0)]
    told += [event(21, "attempt-end", step="s1", outcome="completed", diff=0.25, wall=0.2)]
    return [*told, event(30, "run-end", outcome="completed", diff=30.0)]


def as_graph_does(found: list[Row]) -> dict[str, Any]:
    """Read rows as Batch Shipyard's graph.py does, with every place at which it can fail."""
    nodes: dict[str, dict[str, list[tuple[datetime, dict[str, Any] | None]]]] = {}
    nodes = defaultdict(lambda: defaultdict(list))
    for row in found:
        message = parsed(row["Event"], row["Message"]) if "Message" in row else None
        at = datetime.fromtimestamp(float(row["RowKey"]), UTC)
        nodes[row["NodeId"]][row["Event"]].append((at, message))
    starts = [told["nodeprep:start"][0][0] for told in nodes.values()]
    assert len(set(starts)) == len(nodes), "cannot create reverse mapping"
    return {node: timing(told) for node, told in nodes.items()}


def parsed(event: str, text: str) -> dict[str, Any]:
    message: dict[str, Any] = {}
    for part in text.split(","):
        name, value = part.split("=")[:2]
        message[name] = value
        if name == "size":
            words = value.split()
            message[name] = int(float(words[0])) if event == "cascade:pull-end" else int(value)
            assert event != "cascade:pull-end" or words[1] == "B"
        elif name in ("nglobalresources", "diff"):
            message[name] = float(value)
    return message


def timing(told: Any) -> dict[str, Any]:
    def between(start: str, end: str) -> float:
        return float((told[end][0][0] - told[start][0][0]).total_seconds())

    system = told["nodeprep:start"][0][1]
    pulled = {}
    for _, start in told["cascade:pull-start"]:
        [end] = [end for _, end in told["cascade:pull-end"] if end["img"] == start["img"]]
        pulled[start["img"]] = (end["diff"], end["size"])
    return {
        "system": (system["offer"], system["sku"]),
        "nodeprep": between("nodeprep:start", "nodeprep:end"),
        "resources": between("cascade:start", "cascade:gr-done"),
        "loaded": told["cascade:gr-done"][0][1]["nglobalresources"],
        "pulled": pulled,
    }


def test_graph_py_finds_what_it_asks_for() -> None:
    [(node, found)] = as_graph_does(rows_of(run(), "a$b")).items()
    assert node == "vm-tpch-scale=0.1-1"
    assert found["system"] == ("Debian GNU/Linux", "12 (bookworm)")
    assert found["nodeprep"] == pytest.approx(1.0, abs=1e-4)
    assert found["resources"] == pytest.approx(19.0, abs=1e-4)
    assert found["loaded"] == 2
    assert found["pulled"] == {f"registry:5000/db_v_{n}": (0.5, 125_000_000) for n in range(2)}
    [bare] = as_graph_does(rows_of(run(loads=False), "a$b")).values()
    assert bare["nodeprep"] < 1e-4
    assert bare["loaded"] == 0


def test_each_run_is_a_node_and_no_two_start_at_once() -> None:
    told = [event for number in range(50) for event in run(number)]
    assert len(as_graph_does(rows_of(told, "a$b"))) == 50


def test_a_pull_without_an_end_is_left_out() -> None:
    told = run()
    told.remove(next(event for event in told if event.name == "pull-end"))
    [found] = as_graph_does(rows_of(told, "a$b")).values()
    assert list(found["pulled"]) == ["registry:5000/db_v_1"]


def test_a_testresults_document_is_a_node_too() -> None:
    from benchyard.publish.sinks.azure.sink import events_in  # noqa: PLC0415

    told = events_in(Spooled("x.json", DOCUMENT, ""))
    [(node, found)] = as_graph_does(rows_of(told, "a$b")).items()
    assert node.startswith("bench-01-t-x-")
    assert found["system"] == ("unknown", "unknown")


def test_events_of_no_run_keep_their_node_and_name() -> None:
    theirs = Event(AT, "tvm-1", "cascade", "pull-start", {"grtype": "docker", "img": "busybox"})
    [row] = rows_of([theirs], "a$b")
    assert row == {
        "PartitionKey": "a$b",
        "RowKey": str(AT.timestamp()),
        "Event": "cascade:pull-start",
        "NodeId": "tvm-1",
        "Message": "grtype=docker,img=busybox",
    }


@given(some.lists(some.integers(0, 5), max_size=60))
def test_keys_are_seconds_of_which_no_two_are_one(offsets: list[int]) -> None:
    told = [Event(AT + timedelta(microseconds=offset), "n", "a", "b") for offset in offsets]
    times = [datetime.fromtimestamp(float(row["RowKey"]), UTC) for row in rows_of(told, "a$b")]
    assert len(set(times)) == len(told)
    assert times == sorted(times)


#: Of no run and of no document, which would be rows of more kinds.
NAMES = some.text(min_size=1, max_size=5).filter(lambda name: name not in ("run", "document"))


@given(some.dictionaries(NAMES, some.text(), max_size=4))
def test_no_message_parts_wrongly(message: dict[str, str]) -> None:
    [row] = rows_of([Event(AT, "n", "a", "b", dict(message))], "a$b")
    if message:
        assert row["Message"].count("=") == len(message)
        assert row["Message"].count(",") == len(message) - 1
        assert row["Message"].isprintable() or "\n" not in row["Message"]


# -- in a table


def stored(found: Access, *documents: list[Event]) -> None:
    sink = AzureTablesSink(found, form="shipyard")
    for number, told in enumerate(documents):
        spooled = Spooled(f"{number}.events.jsonl", dump(told), "")
        sink.store(spooled)
        sink.note_archived(spooled, AT, AT)
    sink.close()


@of_a_server
def test_what_is_taken_is_a_microsecond_later_and_twice_adds_nothing(found: Access) -> None:
    for _ in range(2):
        stored(found, run(1), run(2))
    written = [dict(row) for row in rows(found)]
    assert len(written) == 2 * len(rows_of(run(), "a$b"))
    assert set(as_graph_does(written)) == {"vm-tpch-scale=0.1-1", "vm-tpch-scale=0.1-2"}


@of_a_server
@pytest.mark.parametrize("documents", [1, 3])
def test_a_hundred_events_of_one_second_take_a_handful_of_requests(
    azurite: Azurite, documents: int
) -> None:
    with between(azurite.port) as proxy:
        found = to_table(azurite.through(proxy.port))
        told = [
            [
                Event(AT, "vm", "tensorflow", "entry", {"test": f"t{one}", "wall": number})
                for number in range(100)
            ]
            for one in range(documents)
        ]
        for _ in range(2):
            stored(found, *told)
        assert len(proxy.requests) < 5 + 10 * documents
        assert len(list(rows(found))) == 100 * documents


def test_what_is_there_is_not_put_again_and_what_is_taken_is_later() -> None:
    def row(at: int, what: str) -> Row:
        return {"RowKey": str(at / 1e6), "Event": "a:b", "NodeId": "n", "Message": what}

    first = 1_795_000_000_000_000
    there = [row(first, "other"), row(first + 1, "x"), row(first + 3, "far")]
    wanted = [row(first, "x"), row(first + 1, "x"), row(first + 2, "far")]
    assert list(placed(wanted, there)) == [row(first + 2, "x")]


@given(some.lists(some.tuples(some.integers(0, 6), some.sampled_from("xyz")), max_size=40))
def test_twice_places_nothing_more(told: list[tuple[int, str]]) -> None:
    made = [Event(AT + timedelta(microseconds=at), "n", "a", what) for at, what in told]
    wanted = rows_of(made, "a$b")
    other = rows_of([Event(AT, "n", "a", "w")] * 3, "a$b")
    once = list(placed(wanted, other))
    assert len({row["RowKey"] for row in [*once, *other]}) == len(wanted) + len(other)
    assert list(placed(wanted, [*once, *other])) == []


def test_runs_of_one_number_of_two_campaigns_are_two_nodes() -> None:
    for began, name in ((AT, "193000"), (AT + timedelta(hours=1), "203000")):
        start, *others = run(1, began)
        more: dict[str, Json] = {"subject": "sha256:5", MEASURED: '{"host":"vm","x":1}'}
        told = [replace(start, message={**start.message, **more}), *others]
        for events in (told, told[::-1]):
            found = rows_of(events, "a$p")
            assert [*as_graph_does(found)] == [f"vm-tpch-scale=0.1-1-20261121T{name}.000000Z"]
            assert not any(MEASURED in row.get("Message", "") for row in found)
