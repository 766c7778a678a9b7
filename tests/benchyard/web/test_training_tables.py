import struct
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.query import EntryQuery
from benchyard.web.app import make_app
from benchyard.web.explorer import Explorer
from tests.benchyard.catalogue.mindspore.writing import event, records


def step(number: int, time_s: float | str, **scalars: float | str) -> bytes:
    values = [{"tag": tag, "scalar_value": value} for tag, value in scalars.items()]
    return event(step=number, wall_time=time_s, summary={"value": values})


def exploring(folder: Path, *events: bytes) -> tuple[Any, str]:
    """Write a training; return what asks an explorer of it, and the address of its page."""
    folder.mkdir()
    (folder / "a.summary.1700000000").write_bytes(records(events))
    catalogue = Catalogue([folder.parent])
    (only,) = catalogue.page(EntryQuery(limit=None)).entries
    return TestClient(make_app(Explorer(catalogue))), f"/entry/{only.id}"


def test_scalars_are_tables(tmp_path: Path) -> None:
    events = [step(n, 1.7e9 + n, loss=1 / 2**n, **{"<b>acc</b>": 0.1}) for n in range(4)]
    client, address = exploring(tmp_path / "job", *events)
    page = client.get(address)
    assert page.status_code == 200
    assert "&lt;b&gt;acc&lt;/b&gt;" in page.text
    loss, accuracy = client.get(f"{address}/scalars.json").json()
    assert loss == {
        "tag": "loss",
        "values": 4,
        "first_step": 0,
        "last_step": 3,
        "first": 1.0,
        "last": 0.125,
        "min": 0.125,
        "max": 1.0,
    }
    assert accuracy["first"] == 0.1
    rows = client.get(f"{address}/scalar-values.csv?offset=1&limit=2").text.splitlines()
    assert rows == ["tag,step,time_s,value", "loss,1,1700000001.0,0.5", "loss,2,1700000002.0,0.25"]


def test_odd_numbers_do_no_harm(tmp_path: Path) -> None:
    events = [step(0, 1e300, loss="NaN"), step(1, -1, loss=1), step(2, "Infinity", loss="Infinity")]
    client, address = exploring(tmp_path / "job", *events)
    assert client.get(address).status_code == 200
    (loss,) = client.get(f"{address}/scalars.json").json()
    assert (loss["first"], loss["min"], loss["max"]) == ("NaN", 1.0, "Infinity")
    values = client.get(f"{address}/scalar-values.json").json()
    assert [one["time_s"] for one in values] == [None, None, None]


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    client, address = exploring(tmp_path / "job", step(0, 1, loss=1), step(1, 2, loss=2))
    file = tmp_path / "job" / "a.summary.1700000000"
    content = bytearray(file.read_bytes())
    content[20] ^= 1
    file.write_bytes(content + struct.pack("<Q", 5))
    text = client.get(address).text
    assert "byte 0: the checksum of a record is wrong" in text
    assert "being written" in text
