"""What reaches the table, and what does not, when the server does not always do as it is asked."""

import pickle
import socket
from collections.abc import Generator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from benchyard.core.errors import (
    DocumentRejectedError,
    InputError,
    SinkError,
    SinkUnavailableError,
    UnreachableError,
)
from benchyard.publish.sinks.azure import client
from benchyard.publish.sinks.azure.client import EventTable
from benchyard.publish.sinks.azure.credentials import Access, access
from benchyard.publish.sinks.azure.reader import events, rows
from benchyard.publish.sinks.azure.rows import rows_of
from benchyard.results.events import Event
from tests.benchyard.publish.sinks.azure.conftest import to_table
from tests.benchyard.publish.sinks.azure.proxy import Answers, Drops, Proxy, Waits, between
from tests.emulators.azurite.server import ACCOUNT, Azurite, running
from tests.ports import free_port

pytestmark = [pytest.mark.slow, pytest.mark.requires("azurite")]
AT = datetime(2026, 11, 21, 19, 30, tzinfo=UTC)


def some_events(count: int, apart_s: float = 1.0, text: str = "") -> list[Event]:
    return [
        Event(AT + timedelta(seconds=number * apart_s), "vm", "benchyard", "attempt-end",
              {"number": number, "text": text})
        for number in range(count)
    ]  # fmt: skip


def write(writer: EventTable, found: Access, count: int = 3) -> None:
    writer.upsert(rows_of(some_events(count), found.partition))


@pytest.fixture
def proxy(azurite: Azurite) -> Generator[Proxy]:
    with between(azurite.port) as made:
        yield made


@pytest.fixture
def through(azurite: Azurite, proxy: Proxy) -> Access:
    return to_table(azurite.through(proxy.port))


@pytest.fixture
def writer(through: Access) -> Generator[EventTable]:
    made = EventTable(through)
    yield made
    made.close()


# -- what reaches the table
def test_the_table_is_made_and_rows_read_back(found: Access, impatient: EventTable) -> None:
    with pytest.raises(InputError, match=f"has no table '{found.table}'"):
        list(events(found))
    told = some_events(3)
    impatient.upsert(rows_of(told, found.partition))
    assert list(events(found)) == told


@pytest.mark.parametrize(
    ("count", "apart_s", "text"),
    [
        *((250, 0.0, ""), (1100, 0.001, "")),
        *((100, 1.0, text) for text in ("x" * 32_000, "é" * 30_000, "😀" * 15_000)),
    ],
    ids=["at once", "pages", "x", "é", "😀"],
)
def test_more_than_a_transaction_takes_or_a_page_has(
    found: Access, impatient: EventTable, count: int, apart_s: float, text: str
) -> None:
    told = some_events(count, apart_s, text)
    impatient.upsert(rows_of(told, found.partition))
    assert list(events(found)) == told


@pytest.mark.parametrize(
    "name", ["a/b\\c#d?e", "%2F~2f 'x' \"y\" $|&+;", "\x00\x1f\x7f\x85", "é😀"]
)
def test_names_with_any_character(azurite: Azurite, name: str) -> None:
    known = {"AZURE_STORAGE_CONNECTION_STRING": azurite.connection_string}
    found = access(prefix="names", account=name, pool=name, environment=known)
    told = [Event(AT, name, name.replace(":", ""), name, {name: name})]
    writer = EventTable(found)
    writer.upsert(rows_of(told, found.partition))
    writer.close()
    assert list(events(found)) == told


def test_partitions_of_one_table_are_apart(found: Access) -> None:
    other = replace(found, partition="other$pool")
    writer = EventTable(found)
    for place, count in ((found, 2), (other, 3)):
        writer.upsert(rows_of(some_events(count), place.partition))
    writer.close()
    assert (len(list(rows(found))), len(list(rows(other)))) == (2, 3)


# -- servers that fail
BUSY = [
    Answers(429, {"Retry-After": "0"}),
    Answers(500, body=b"<html>oops</html>"),
    Answers(503, {"x-ms-error-code": "ServerBusy"}, b'{"odata.error": {"code": "ServerBusy"}}'),
    Answers(504),
    Answers(408),
    Answers(202, body=b"this is no answer to a transaction"),
    Drops(),
]


@pytest.mark.parametrize("fault", BUSY, ids=str)
def test_what_may_succeed_is_asked_once_and_told(
    through: Access, proxy: Proxy, writer: EventTable, fault: Answers | Drops
) -> None:
    write(writer, through)
    before = len(proxy.requests)
    proxy.faults.append(fault)
    with pytest.raises(SinkUnavailableError, match=r"^Azure Tables at 127\.0\.0\.1:\d+ "):
        write(writer, through, 5)
    assert len(proxy.requests) == before + 1
    write(writer, through, 5)
    proxy.faults.append(Answers(503, {"Retry-After": "0"}))
    assert len(list(events(through))) == 5, "a reader asks again"


@pytest.mark.parametrize(("wish", "seconds"), [("7", 7.0), ("9999", 30.0), ("soon", None)])
def test_the_server_says_how_long_to_wait(
    through: Access, proxy: Proxy, writer: EventTable, wish: str, seconds: float | None
) -> None:
    proxy.faults.append(Answers(503, {"Retry-After": wish}))
    with pytest.raises(SinkUnavailableError) as caught:
        write(writer, through)
    assert caught.value.after_s == seconds


@pytest.mark.parametrize(
    ("answer", "words", "asked"),
    [
        (Answers(404), "knows no account", 1),
        (Answers(409, {"x-ms-error-code": "TableBeingDeleted"}), r"\(409", 1),
        (Answers(501), r"\(501", 1),
        *((Answers(code), r"refuses the credentials.*check AZURE_", 1) for code in (401, 403)),
        # Nobody knows whose fault it is, until something else is refused too.
        (Answers(400, {"x-ms-error-code": "InvalidInput"}), r"refuses \(400", 2),
        (Answers(413, body=b"<html>nginx</html>"), r"refuses \(413", 2),
    ],
    ids=str,
)
def test_a_refusal_that_may_not_be_the_documents_fault_rejects_nothing(
    through: Access, proxy: Proxy, writer: EventTable, answer: Answers, words: str, asked: int
) -> None:
    write(writer, through)
    proxy.faults.append(answer)
    with pytest.raises(SinkError if asked == 2 else InputError, match=words) as caught:
        write(writer, through)
    assert type(caught.value) is not DocumentRejectedError
    before = len(proxy.requests)
    proxy.faults += [answer] * asked
    with pytest.raises(InputError, match=words):
        write(writer, through)
    assert len(proxy.requests) == before + asked


def test_a_document_that_azure_will_never_take_is_rejected(
    found: Access, impatient: EventTable
) -> None:
    long = {"PartitionKey": found.partition, "RowKey": "1", "Message": "x" * 40_000}
    with pytest.raises(DocumentRejectedError, match=r"\(400 PropertyValueTooLarge\)"):
        impatient.upsert([long])


# -- credentials


def test_a_wrong_key(azurite: Azurite) -> None:
    wrong = to_table(azurite.connection_string.replace(azurite.key, "d3Jvbmc="), "wrong")
    right = to_table(azurite.connection_string, "wrong")
    write(EventTable(right), right)
    writer = EventTable(wrong)
    with pytest.raises(InputError, match=r"refuses the credentials \(403") as raised:
        write(writer, wrong)
    with pytest.raises(InputError, match=r"refuses the credentials \(403") as read:
        list(events(wrong))
    writer.close()
    for text in (str(raised.value), str(read.value)):
        assert "d3Jvbmc" not in text
        assert "AZURE_STORAGE_CONNECTION_STRING" in text


# -- servers that are not there
@pytest.mark.parametrize(
    ("host", "why"), [("127.0.0.1", r" \(Connection refused\)"), ("nowhere.invalid", "")]
)
def test_nobody_listens(host: str, why: str) -> None:
    url = f"http://{host}:{free_port()}/a"
    dead = to_table(f"AccountName=a;AccountKey=YQ==;TableEndpoint={url}")
    writer = EventTable(dead)
    with pytest.raises(SinkUnavailableError, match=f"at {host}.* does not answer{why}") as e:
        write(writer, dead)
    writer.close()
    assert isinstance(e.value, UnreachableError) or not why
    assert str(pickle.loads(pickle.dumps(e.value))) == str(e.value)  # noqa: S301


@pytest.mark.parametrize("reads", [True, False])
def test_a_port_that_takes_connections_and_never_answers(
    monkeypatch: pytest.MonkeyPatch, *, reads: bool
) -> None:
    monkeypatch.setattr(client, "_CONNECT_SECONDS", 1)
    monkeypatch.setattr(client, "_READ_SECONDS", 1000)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/{ACCOUNT}"
        found = to_table(f"AccountName={ACCOUNT};AccountKey=a2V5;TableEndpoint={url}")
        with pytest.raises(UnreachableError, match=r"does not answer \(nothing within 1 s\)"):
            list(rows(found)) if reads else write(EventTable(found), found)


def test_one_that_is_slow_to_write_is_waited_for(
    through: Access, proxy: Proxy, writer: EventTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_CONNECT_SECONDS", 0.5)
    proxy.faults = [Waits(1)]
    write(writer, through)
    assert len(list(rows(through))) == 3


def test_a_killed_server_that_comes_back(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        found = to_table(server.connection_string)
        writer = EventTable(found)
        write(writer, found, 2)
        server.kill()
        with pytest.raises(SinkUnavailableError, match="does not answer"):
            write(writer, found, 4)
        server.start()
        write(writer, found, 4)
        assert len(list(events(found))) == 4
        writer.close()
        server.stop()
        server.start()
        assert len(list(events(found))) == 4
