"""How fast events become rows: ours, and one insert for each as Batch Shipyard's perf.py does.

Against Azurite on this host, whose tables are a program of its own making: figures of Azure itself
are others, above all where a request has far to go. The limit is what Azurite takes when rows are
made beforehand and sent by its client in transactions of 100, with nothing else done.

Needs ``npm install`` in tests/emulators/azurite.
"""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from benchmarks.table import Figure, Size, run_program
from benchyard.core.model import Json
from benchyard.publish.sinks.azure.client import service
from benchyard.publish.sinks.azure.credentials import Access, access
from benchyard.publish.sinks.azure.reader import events as read
from benchyard.publish.sinks.azure.rows import rows_of
from benchyard.publish.sinks.azure.shipyard import rows_of as rows_of_shipyard
from benchyard.publish.sinks.azure.sink import AzureTablesSink
from benchyard.publish.sinks.contract import Spooled
from benchyard.results.events import Event, dump
from tests.emulators.azurite.server import Azurite, running

#: At least so many times as many rows a second as one insert for each event.
TIMES_FASTER = 1.5

_AT = datetime(2026, 11, 21, tzinfo=UTC)
#: Of a run with ten steps.
_EVENTS_OF_A_RUN = 40


def measure(size: Size) -> list[Figure]:
    """Publish the same runs in each way, in turn, each time into a table of its own."""
    runs = [_run(number) for number in range(size.of(50, 2))]
    count = sum(len(told) for told in runs)
    times: dict[str, list[float]] = {}
    with running() as azurite:
        for round_ in range(size.of(3)):
            for name, way in WAYS.items():
                found = _table(azurite, f"{name}{round_}")
                times.setdefault(name, []).append(_timed(way, found, runs))
            times.setdefault("read", []).append(
                _timed(_read, _table(azurite, f"ours{round_}"), runs)
            )
    each = {name: [taken / count for taken in all_] for name, all_ in times.items()}
    gain = [peer / ours for ours, peer in zip(times["ours"], times["peer"], strict=True)]
    return [
        Figure("one insert for each event (Batch Shipyard's way), a row", each["peer"], "ms"),
        Figure("ours, a row, publishing's own rows included", each["ours"], "ms"),
        Figure(
            "ours over one insert for each event",
            [1 / times_ for times_ in gain],
            "%",
            1 / TIMES_FASTER,
        ),
        Figure("the limit: transactions of 100 and nothing else, a row", each["limit"], "ms"),
        Figure("read back, a row", each["read"], "ms"),
        Figure("events to rows, without sending, CPU time a row", _made(runs, count), "ms"),
    ]


def _run(number: int) -> list[Event]:
    whose: dict[str, Json] = {"case": "tpch-postgresql[scale=0.1]", "run": number}
    step: dict[str, Json] = {"step": "q01", "name": "q01", "index": 3, "resource": "PostgreSQL",
                             "command": "query", "attempt": 1, "outcome": "completed"}  # fmt: skip
    return [
        Event(
            _AT + timedelta(minutes=number, seconds=index),
            "testbed-1",
            "benchyard",
            "attempt-end",
            {**whose, **step, "diff": 0.123456789, "wall": 0.1034567},
        )
        for index in range(_EVENTS_OF_A_RUN)
    ]


def _table(azurite: Azurite, prefix: str) -> Access:
    known = {"AZURE_STORAGE_CONNECTION_STRING": azurite.connection_string}
    return access(prefix=prefix, environment=known)


Way = Callable[[Access, Sequence[Sequence[Event]]], None]


def _timed(way: Way, found: Access, runs: Sequence[Sequence[Event]]) -> float:
    with_table = service(found)
    with_table.create_table_if_not_exists(found.table)
    with_table.close()
    begin = time.perf_counter()
    way(found, runs)
    return time.perf_counter() - begin


def _ours(found: Access, runs: Sequence[Sequence[Event]]) -> None:
    sink = AzureTablesSink(found)
    for number, told in enumerate(runs):
        sink.store(Spooled(f"{number}.events.jsonl", dump(told), ""))
    sink.close()


def _peer(found: Access, runs: Sequence[Sequence[Event]]) -> None:
    """Insert one row after the other, over one connection; perf.py makes one for each event."""
    opened = service(found)
    table: Any = opened.get_table_client(found.table)
    for row in rows_of_shipyard([event for told in runs for event in told], found.partition):
        table.create_entity(row)
    opened.close()


def _limit(found: Access, runs: Sequence[Sequence[Event]]) -> None:
    opened = service(found)
    table = opened.get_table_client(found.table)
    rows = rows_of([event for told in runs for event in told], found.partition)
    for first in range(0, len(rows), 100):
        table.submit_transaction(("upsert", row, {}) for row in rows[first : first + 100])
    opened.close()


def _read(found: Access, runs: Sequence[Sequence[Event]]) -> None:
    if sum(1 for _ in read(found)) < sum(len(told) for told in runs):
        raise RuntimeError(f"rows are missing in table '{found.table}'")


def _made(runs: Sequence[Sequence[Event]], count: int) -> list[float]:
    taken: list[float] = []
    for _ in range(5):
        begin = time.process_time()
        for told in runs:
            rows_of(told, "account$pool")
        taken.append((time.process_time() - begin) / count)
    return taken


WAYS: dict[str, Way] = {"ours": _ours, "peer": _peer, "limit": _limit}

if __name__ == "__main__":
    run_program(__doc__, measure)
