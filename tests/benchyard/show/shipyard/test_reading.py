"""Files, folders and streams."""

import csv
import gzip
import io
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.errors import InputError
from benchyard.core.model import Outcome
from benchyard.core.zstandard import compress
from benchyard.results.record import RunRecord, write_record
from benchyard.show.shipyard.events import Intake, Operation
from benchyard.show.shipyard.nodes import Graph, assemble
from benchyard.show.shipyard.reading import read_source
from tests.benchyard.show.shipyard.conftest import START, prepared, pulled, run_rows

ROWS = [*prepared("a"), *pulled("a", "i", START + 200)]


def lines(rows: list[Any]) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in rows)


def read(*paths: Path) -> Graph:
    intake = Intake()
    for path in paths:
        read_source(str(path), intake)
    return assemble(intake)


def as_csv(rows: list[dict[str, Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, ["PartitionKey", "RowKey", "NodeId", "Event", "Message"])
    writer.writeheader()
    writer.writerows(rows)
    return b"\xef\xbb\xbf" + text.getvalue().encode()


CONTENTS = {
    "lines.jsonl": lines(ROWS),
    "crlf.jsonl": lines(ROWS).replace(b"\n", b"\r\n"),
    "empty-lines.jsonl": b"\n" + lines(ROWS).replace(b"\n", b"\n\n"),
    "mark.jsonl": b"\xef\xbb\xbf" + lines(ROWS),
    "no-end.jsonl": lines(ROWS).rstrip(),
    "list.json": json.dumps(ROWS).encode(),
    "indented.json": json.dumps(ROWS, indent=2).encode(),
    "items.json": json.dumps({"items": ROWS, "nextMarker": {}}).encode(),
    "items-indented.json": json.dumps({"items": ROWS}, indent=2).encode(),
    "value.json": json.dumps({"odata.metadata": "x", "value": ROWS}, indent=1).encode(),
    "rows.csv": as_csv(ROWS),
    "lines.jsonl.gz": gzip.compress(lines(ROWS), mtime=0),
    "lines.jsonl.zst": compress(lines(ROWS)),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_rows_are_read_in_every_form_they_are_exported_in(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(CONTENTS[name])
    graph = read(tmp_path / name)
    [node] = graph.nodes
    assert (graph.read.unreadable, node.column(Operation.PREPARATION)) == (0, 120.5)
    assert [(span.name, span.duration) for span in node.of(Operation.PULL)] == [("i", 30)]


def test_a_broken_line_is_named_by_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    broken = [b'{"RowKey": \n', b"[" * 100_000 + b"\n", b"\xff\xfe\n", b'{"a":1},{"b":2}\n']
    content = lines(ROWS[:3]) + b"".join(broken) + lines(ROWS[3:])
    (tmp_path / "broken.jsonl").write_bytes(content)
    graph = read(Path("broken.jsonl"))
    assert [text.partition(":")[0] for text in graph.read.problems] == [
        f"broken.jsonl line {number}" for number in (4, 5, 6, 7)
    ]
    assert graph.nodes[0].is_finished


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.gz", b"no gzip", "not readable as .gz"),
        ("a.gz", gzip.compress(lines(ROWS) * 50, mtime=0)[:-30], "not readable as .gz"),
        ("a.gz", gzip.compress(lines(ROWS), mtime=0)[:12] + b"\xff" * 50, "not readable as .gz"),
        ("a.zst", b"no zstandard", "not readable as .zst"),
        ("a.json", b"[1, 2", "no JSON lines and no JSON document"),
        ("a.json", b'{\n"items": 5\n}', "a JSON document without rows"),
    ],
    ids=["no-gzip", "cut", "damaged", "no-zstandard", "half-a-list", "no-rows"],
)
def test_a_file_that_is_not_what_it_seems_is_refused_in_a_sentence(
    tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=reason):
        read(tmp_path / name)


def place_run(folder: Path, rows: list[dict[str, Any]]) -> None:
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_bytes(lines(rows))


def test_every_run_below_a_folder_is_a_bar(tmp_path: Path) -> None:
    results = tmp_path / "words" / "results"
    place_run(results / "run_1", run_rows())
    place_run(results / "run_2", run_rows(START + 60, run=2))
    place_run(results / "run_2.replaced", run_rows(START + 30, run=2))
    assert [run.label for run in read(tmp_path).runs] == ["words run 1", "words run 2"]
    assert [run.label for run in read(results / "run_2").runs] == ["words run 2"]


def test_runs_of_one_number_in_two_folders_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("new", "old"):
        place_run(tmp_path / name / "run_1", run_rows())
    labels = [run.label for run in read(Path("old"), Path("new")).runs]
    assert labels == ["words run 1 in new", "words run 1 in old"]


def test_a_run_without_events_is_read_by_its_record(tmp_path: Path) -> None:
    record = RunRecord(
        {"title": "words"}, 4, Outcome.COMPLETED, "2026-01-01T00:00:00+00:00", "", 12.5, ()
    )
    (tmp_path / "run_4").mkdir()
    write_record(tmp_path / "run_4", record)
    [run] = read(tmp_path).runs
    assert (run.label, run.length(Operation.RUN)) == ("words run 4", 12.5)


def test_a_record_that_is_damaged_is_named(tmp_path: Path) -> None:
    place_run(tmp_path / "run_1", run_rows())
    (tmp_path / "run_2").mkdir()
    (tmp_path / "run_2" / "run.json").write_text("{")
    graph = read(tmp_path)
    assert [len(graph.runs), graph.read.unreadable] == [1, 1]
    assert "run_2" in graph.read.problems[0]


def test_a_long_file_is_not_held_in_memory(tmp_path: Path) -> None:
    many = [pulled(f"n{n}", f"i{m}", START + 100 * m) for n in range(40) for m in range(40)]
    content = lines([one for rows in many for one in rows])
    (tmp_path / "long.jsonl").write_bytes(content)
    read(tmp_path / "long.jsonl")
    tracemalloc.start()
    try:
        read(tmp_path / "long.jsonl")
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # The rows as objects would take five times their text.
    assert most < 2 * len(content)
