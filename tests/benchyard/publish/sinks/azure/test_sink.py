"""Publishing to Azure Tables: what becomes rows, once, and no secret in any text."""

import logging
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, quote

import pytest

from benchyard.core.errors import BenchyardError, DocumentRejectedError, InputError
from benchyard.publish.sinks import open_sink
from benchyard.publish.sinks.azure.credentials import Access, access
from benchyard.publish.sinks.azure.reader import events, rows
from benchyard.publish.sinks.azure.sink import AzureTablesSink
from benchyard.publish.sinks.contract import DocumentKind, NotesArchiving, Spooled
from benchyard.results.events import Event, dump
from tests.benchyard.publish.sinks.azure.conftest import of_a_server, to_table
from tests.emulators.azurite.server import ACCOUNT, Azurite
from tests.ports import free_port

AT = datetime(2026, 11, 21, 19, 30, tzinfo=UTC)
DOCUMENT = b"""{"name": "//t:x", "startTime": "1700000000", "runTime": 12.5, "entries": {"entry": [
  {"name": "BM_x", "iters": "3", "wallTime": 3.4}, {"name": "BM_y", "wallTime": "NaN"},
  {"name": "BM_x", "iters": "3", "wallTime": 3.4}]},
  "machineConfiguration": {"hostname": "bench-01"}}"""
PUBLISHING = {"upload-start", "upload-end", "archive-start", "archive-end"}


def run_events(run: int = 1) -> list[Event]:
    whose = {"case": "c", "run": run}
    started = AT + timedelta(seconds=run)
    return [
        Event(started, "vm", "benchyard", "run-start", whose),
        Event(started + timedelta(seconds=1), "vm", "benchyard", "run-end", {**whose, "diff": 1.0}),
    ]


def spooled(content: bytes | None = None, name: str = "run-1.events.jsonl") -> Spooled:
    return Spooled(name, dump(run_events()) if content is None else content, f"/archive/{name}")


def test_it_is_a_sink_of_events_whose_check_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    sink = open_sink("azure-tables")
    assert (sink.name, sink.kind) == ("azure-tables", DocumentKind.EVENTS)
    assert isinstance(sink, NotesArchiving)
    assert 1 <= sink.parallel <= 16
    dead = Azurite(None, free_port()).connection_string
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", dead)
    sink.check()
    sink.close()
    sink.close()
    with pytest.raises(InputError, match="azure-tables:shipyard"):
        open_sink("azure-tables:shipyards")


@of_a_server
def test_a_runs_events_become_rows_and_so_do_upload_and_archiving(
    found: Access, sink: AzureTablesSink
) -> None:
    before = datetime.now(UTC)
    sink.store(spooled())
    sink.note_archived(spooled(), AT, AT + timedelta(seconds=2))
    told = list(events(found))
    assert [event for event in told if event.name not in PUBLISHING] == run_events()
    named = {event.name: event for event in told}
    start, end = named["archive-start"], named["archive-end"]
    assert (start.at, end.at) == (AT, AT + timedelta(seconds=2))
    assert end.message["archived_as"] == "/archive/run-1.events.jsonl"
    assert end.message["diff"] == 2.0
    start, end = named["upload-start"], named["upload-end"]
    assert before <= start.at <= end.at <= datetime.now(UTC)
    assert end.message["document"] == "run-1.events.jsonl"
    assert (end.message["case"], end.message["run"]) == ("c", 1)
    assert end.message["diff"] == (end.at - start.at).total_seconds()


@of_a_server
def test_publishing_twice_adds_no_row(found: Access) -> None:
    for _ in range(2):
        sink = AzureTablesSink(found)
        sink.store(spooled())
        sink.note_archived(spooled(), AT, datetime.now(UTC))
        sink.close()
    keys = [row["RowKey"] for row in rows(found)]
    assert len(keys) == len(run_events()) + len(PUBLISHING)


@of_a_server
def test_a_testresults_document_becomes_rows(found: Access, sink: AzureTablesSink) -> None:
    for _ in range(2):
        sink.store(spooled(DOCUMENT, "x.json"))
    told = [event for event in events(found) if event.name not in PUBLISHING]
    assert [event.name for event in told] == ["entry", "entry", "entry", "test-start", "test-end"]
    assert {(event.node, event.source) for event in told} == {("bench-01", "tensorflow")}
    started = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert [event.at for event in told[:4]] == [started] * 4
    assert told[4].at == started + timedelta(seconds=12.5)
    assert [(event.message["entry"], str(event.message["wall"])) for event in told[:3]] == [
        ("BM_x", "3.4"),
        ("BM_y", "nan"),
        ("BM_x", "3.4"),
    ]


@of_a_server
def test_several_threads_at_once(found: Access, sink: AzureTablesSink) -> None:
    documents = [spooled(dump(run_events(run)), f"{run}.events.jsonl") for run in range(24)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(sink.store, documents))
    runs = [event.message["run"] for event in events(found) if event.name == "run-start"]
    assert runs == list(range(24))


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        (b"{", "x.events.jsonl", "line 1 is no JSON"),
        (dump(run_events()) + b"{}", "x.events.jsonl", "line 3 is no event"),
        (b"{", "x.json", "no JSON"),
        (b"{}", "x.json", "."),
        (dump([Event(datetime(1969, 1, 1, tzinfo=UTC), "n", "a", "b")]), "x.events.jsonl", "1970"),
    ],
)
def test_what_can_never_be_rows_is_rejected_before_anything_is_sent(
    content: bytes, name: str, words: str
) -> None:
    sink = AzureTablesSink(to_table(Azurite(None, free_port()).connection_string))
    with pytest.raises(DocumentRejectedError, match=words):
        sink.store(spooled(content, name))
    sink.close()


@of_a_server
def test_a_file_without_events_is_published_at_once(found: Access) -> None:
    sink = AzureTablesSink(found)
    sink.store(spooled(b""))
    sink.note_archived(spooled(b""), AT, AT)
    sink.close()
    sink = AzureTablesSink(found)
    sink.store(spooled())
    sink.close()
    assert len(list(rows(found))) == 4


# -- secrets


@of_a_server
def test_a_shared_access_signature_is_a_way_in_and_is_not_told(
    azurite: Azurite, caplog: pytest.LogCaptureFixture
) -> None:
    from azure.core.credentials import AzureNamedKeyCredential  # noqa: PLC0415
    from azure.data.tables import ResourceTypes, generate_account_sas  # noqa: PLC0415

    caplog.set_level(logging.DEBUG)
    signature = generate_account_sas(
        AzureNamedKeyCredential(ACCOUNT, azurite.key),
        ResourceTypes.from_string("sco"),
        "read,write,add,create,update,list",
        datetime.now(UTC) + timedelta(hours=1),
        protocol="http",
    )
    found = access(
        environment={
            "AZURE_STORAGE_ACCOUNT": ACCOUNT,
            "AZURE_STORAGE_SAS_TOKEN": f"?{signature}",
            "BENCHYARD_AZURE_ENDPOINT": azurite.url,
            "BENCHYARD_AZURE_PREFIX": "signed",
        }
    )
    sink = AzureTablesSink(found)
    sink.store(spooled())
    sink.close()
    assert len(list(rows(found))) == 4
    [told] = parse_qs(signature)["sig"]
    for text in (told, quote(told, safe="")):
        assert text not in caplog.text


def secrets_of(azurite: Azurite) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, (azurite.key, azurite.key[:12], "a-signature"))))


@of_a_server
def test_no_secret_is_in_any_text_row_or_log(
    azurite: Azurite, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    secret = secrets_of(azurite)
    sas = f"TableEndpoint={azurite.url};SharedAccessSignature=sv=2019-02-02&sig=a-signature"
    dead = azurite.through(free_port())
    texts: list[str] = []
    for string in (azurite.connection_string, sas, dead, dead.replace("AccountKey", "Accountkey")):
        found = to_table(string)
        sink = AzureTablesSink(found)
        texts += [repr(found), repr(sink)]
        try:
            sink.store(spooled())
            texts += [str(dict(row)) for row in rows(found)]
        except BenchyardError as error:
            texts += [str(error), repr(error), repr(error.__cause__)]
        sink.close()
    texts += [record.getMessage() for record in caplog.records]
    assert len(texts) > 12
    for text in texts:
        assert not secret.search(text), text
