"""Timings are read back from events: cases and their steps, tests and their entries."""

import logging
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from benchyard.core.model import Json
from benchyard.publish.sinks.azure.client import service
from benchyard.publish.sinks.azure.credentials import Access
from benchyard.publish.sinks.azure.reader import AzureTablesReader, events, rows
from benchyard.publish.sinks.azure.sink import AzureTablesSink
from benchyard.publish.sinks.contract import Point, Reader, Spooled
from benchyard.results.events import Event, dump
from tests.benchyard.publish.sinks.azure.conftest import to_table
from tests.benchyard.publish.sinks.azure.proxy import between
from tests.benchyard.publish.sinks.azure.test_sink import DOCUMENT
from tests.emulators.azurite.server import Azurite

pytestmark = [pytest.mark.slow, pytest.mark.requires("azurite")]

AT = datetime(2026, 11, 21, 19, 30, tzinfo=UTC)
DOCUMENT_AT = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
VM: dict[str, Json] = {"host": "vm"}
BENCH: dict[str, Json] = {"host": "bench-01"}


def run(case: str, number: int, walls: Mapping[str, float | None]) -> list[Event]:
    began = AT + timedelta(hours=number)
    whose: dict[str, Json] = {"case": case, "run": number}
    told = [Event(began, "vm", "benchyard", "run-start", whose)]
    for index, (step, wall) in enumerate(walls.items(), 1):
        message = {**whose, "step": step, **({} if wall is None else {"wall": wall})}
        at = began + timedelta(seconds=index)
        told.append(Event(at, "vm", "benchyard", "attempt-end", message))
    return [*told, Event(began + timedelta(seconds=60), "vm", "benchyard", "run-end", whose)]


@pytest.fixture
def filled(found: Access) -> Access:
    sink = AzureTablesSink(found)
    for number, walls in enumerate(({"load": 8.0, "ask": 0.5}, {"load": 9, "ask": None})):
        sink.store(Spooled(f"{number}.events.jsonl", dump(run("tpch", number, walls)), ""))
    sink.store(Spooled("2.events.jsonl", dump(run("[1]", 2, {"load": 1.0})), ""))
    sink.store(Spooled("x.json", DOCUMENT, ""))
    sink.close()
    return found


@pytest.fixture
def reader(filled: Access) -> Reader:
    return AzureTablesReader(filled)


def test_tests_are_cases_entries_are_steps_and_timings_are_of_the_runs_start(
    reader: Reader,
) -> None:
    assert list(reader.tests()) == ["//t:x", "[1]", "tpch"]
    assert list(reader.entries("tpch")) == ["ask", "load"]
    assert list(reader.entries("//t:x")) == ["BM_x", "BM_y"]
    both = [Point(AT + timedelta(hours=1), 9.0, VM), Point(AT, 8.0, VM)]
    assert list(reader.timings("tpch", "load")) == both
    assert list(reader.timings("tpch", "ask")) == [Point(AT, 0.5, VM)]
    assert list(reader.timings("//t:x", "BM_x")) == [Point(DOCUMENT_AT, 3.4, BENCH)]


def test_a_partition_is_read_once_for_all_entries(azurite: Azurite) -> None:
    with between(azurite.port) as proxy:
        found = to_table(azurite.through(proxy.port))
        sink = AzureTablesSink(found)
        for number in range(3):
            walls = {f"step{step}": float(step) for step in range(30)}
            sink.store(Spooled(f"{number}.events.jsonl", dump(run("many", number, walls)), ""))
        sink.close()
        reader, before = AzureTablesReader(found), len(proxy.requests)
        series = {entry: list(reader.timings("many", entry)) for entry in reader.entries("many")}
        later = [list(reader.timings("many", one, since=AT + timedelta(hours=1))) for one in series]
        assert len(proxy.requests) == before + 1
        assert [len(one) for one in series.values()] == [3] * 30
        assert [len(one) for one in later] == [2] * 30
        reader.close()


def test_events_since_a_time(filled: Access) -> None:
    later = AT + timedelta(hours=1)
    names = [event.name for event in events(filled, since=later, names=["benchyard:run-start"])]
    assert names == ["run-start"] * 2
    assert not list(events(filled, since=datetime(2300, 1, 1, tzinfo=UTC)))
    everything = len(list(events(filled)))
    assert len(list(events(filled, since=datetime(1969, 1, 1, tzinfo=UTC)))) == everything


def test_batch_shipyards_rows_are_read_along_and_strange_ones_left_out(
    filled: Access, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    count = len(list(events(filled)))
    theirs = {"RowKey": "1480000000.25", "NodeId": "tvm-1", "Event": "nodeprep:end"}
    strange = {**theirs, "RowKey": "strange"}
    theirs["Message"] = "grtype=docker,diff=1.5,size=1.1 MB"
    opened = service(filled)
    table = opened.get_table_client(filled.table)
    made = [{"PartitionKey": filled.partition, **row} for row in (theirs, strange)]
    table.submit_transaction([("create", row, {}) for row in made])
    opened.close()
    told = list(events(filled))
    assert len(told) == count + 1
    since = datetime(2016, 11, 24, 15, 6, 40, 250000, tzinfo=UTC)
    message: dict[str, Json] = {"grtype": "docker", "diff": "1.5", "size": "1.1 MB"}
    assert told[0] == Event(since, "tvm-1", "nodeprep", "end", message)
    assert "'strange' is no key with a time" in caplog.text
    assert len(list(rows(filled))) == count + 2
    assert told[0] in list(events(filled, since=since))
