"""``benchyard graph``."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.benchyard.cli.conftest import Cli
from tests.benchyard.publish.conftest import raising
from tests.benchyard.show.shipyard.conftest import (
    PARTITION,
    START,
    Row,
    pool,
    prepared,
    pulled,
    row,
    run_rows,
)

ROWS = prepared("a") + pulled("a", "i", START + 200) + prepared("b", START + 5)


def place(file: Path, rows: list[Row]) -> Path:
    file.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return file


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return place(tmp_path / "rows.jsonl", ROWS)


def shown(cli: Cli, *arguments: object) -> dict[str, Any]:
    return json.loads(cli("graph", "--json", *arguments).out)


def refused(cli: Cli, *arguments: object) -> str:
    said = cli("graph", *arguments, code=2)
    assert said.out == ""
    assert "Traceback" not in said.err
    return said.err


def test_a_table_of_nodes_images_and_totals(rows: Path, cli: Cli) -> None:
    said = cli("graph", rows)
    assert said.err == ""
    lines = said.out.splitlines()
    assert lines[0].startswith("NODE")
    assert lines[1].startswith("a     2016-11-18 19:35:23")
    assert "2 nodes" in lines
    assert ["docker", "install", "2", "4", "min", "01", "s"] in [line.split()[:7] for line in lines]
    assert any(line.startswith("ready: 2 within 5.00 s, standard deviation") for line in lines)


def test_what_has_not_finished_anything_has_no_totals(rows: Path, cli: Cli) -> None:
    place(rows, ROWS[:1])
    said = cli("graph", rows).out
    assert "ALTOGETHER" not in said
    assert "1 node, 1 unfinished" in said


def test_problems_are_told_beside_and_the_rest_is_shown(rows: Path, cli: Cli) -> None:
    with rows.open("a") as stream:
        stream.write("no json\n" + json.dumps(row(START, "a", "their:own")) + "\n")
    said = cli("graph", rows)
    assert f"rows.jsonl line {len(ROWS) + 1}: it is no JSON" in said.err
    assert "events that are not shown: their:own (1)" in said.err
    document = shown(cli, rows)
    assert (document["read"]["unreadable"], len(document["nodes"])) == (1, 2)


def test_several_sources_are_one_graph(rows: Path, tmp_path: Path, cli: Cli) -> None:
    later = place(tmp_path / "later.jsonl", prepared("c", START + 99))
    compressed = later.with_suffix(".gz")
    compressed.write_bytes(gzip.compress(later.read_bytes()))
    (tmp_path / "results" / "run_1").mkdir(parents=True)
    place(tmp_path / "results" / "run_1" / "events.jsonl", run_rows())
    document = shown(cli, rows, compressed, tmp_path / "results")
    assert [node["node"] for node in document["nodes"]] == ["a", "b", "c"]
    assert [run["case"] for run in document["runs"]] == ["words"]
    assert document["format"] == "benchyard-graph"


def test_rows_of_other_pools_can_be_left_out(rows: Path, cli: Cli) -> None:
    place(rows, ROWS + [one | {"PartitionKey": "batch$other"} for one in prepared("z")])
    assert len(shown(cli, rows)["nodes"]) == 3
    assert len(shown(cli, rows, "--batch-pool", "pool")["nodes"]) == 2
    assert "rows of other pools: batch$other" in refused(cli, rows, "--batch-pool", "none")


@pytest.mark.slow
def test_files_are_written_as_their_endings_say(rows: Path, tmp_path: Path, cli: Cli) -> None:
    files = [tmp_path / name for name in ("nodes.svg", "nodes.PNG", "nodes.dat")]
    said = cli("graph", rows, *[f"--out={file}" for file in files]).out
    assert said.splitlines()[-1] == "written: nodes.dat"
    starts = [file.read_bytes()[:9] for file in files]
    assert starts == [b"<svg xmln", b"\x89PNG\r\n\x1a\n\x00", b"NodePrepS"]
    assert b"pool (ubuntuserver 16.04.0-lts)" in files[0].read_bytes()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["none.jsonl"], "none.jsonl: there is no such file or folder"),
        (["rows.jsonl", "--out", "a.pdf"], "a.pdf: it must end in .png or .svg or .dat"),
        (["rows.jsonl", "--out", "no/a.png"], "there is no folder"),
        (["."], "there are no runs in it"),
        (["empty.jsonl"], "empty.jsonl: there are no events"),
        (["other.jsonl"], "there is no event of a node or a run\n  events that are not shown: x:y"),
        (["hostile.jsonl"], "hostile.jsonl line 1: its RowKey is x, and no time"),
        ([], "there are no credentials for Azure Tables"),
        (["--configdir", "none"], "credentials.json"),
    ],
)
def test_wrong_input_is_one_sentence_and_exit_code_2(
    rows: Path, arguments: list[str], reason: str, cli: Cli
) -> None:
    place(rows.with_name("empty.jsonl"), [])
    place(rows.with_name("other.jsonl"), [row(START, "a", "x:y")])
    place(rows.with_name("hostile.jsonl"), [row("x", "a", "x:y")])
    assert reason in refused(cli, *arguments)


def test_a_disk_that_is_full_is_a_sentence(
    rows: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    full = raising(OSError(28, "No space left on device", "nodes.dat"))
    monkeypatch.setattr("benchyard.cli.graphing.write", full)
    said = cli("graph", rows, "--out", "nodes.dat", code=1).err
    assert "nodes.dat: No space left on device" in said


@pytest.mark.slow
def test_graphs_come_from_a_pipe_too_and_load_neither_matplotlib_nor_prefect(rows: Path) -> None:
    program = (
        "import sys; from benchyard.cli import call; assert call(sys.argv[1:]) == 0;"
        "wrong = {'matplotlib', 'prefect', 'azure', 'duckdb'}.intersection(sys.modules);"
        "assert not wrong, wrong"
    )
    command = [sys.executable, "-c", program, "graph", "-", "--json"]
    events = rows.read_bytes()
    ended = subprocess.run(command, input=events, check=True, capture_output=True, timeout=60)
    assert len(json.loads(ended.stdout)["nodes"]) == 2


@pytest.mark.slow
@pytest.mark.requires("azurite")
def test_rows_come_from_the_table_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    from azure.data.tables import TableServiceClient  # noqa: PLC0415 - of this test alone

    from tests.emulators.azurite.server import running  # noqa: PLC0415

    with running() as azurite:
        client: Any = TableServiceClient.from_connection_string(azurite.connection_string)
        with client:
            table = client.create_table("shipyardperf")
            made = pool(3, 4)
            # Row keys are unique in a table.
            made = list({one["RowKey"]: one for one in made}.values())
            for first in range(0, len(made), 100):
                table.submit_transaction([("create", one) for one in made[first : first + 100]])
        monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", azurite.connection_string)
        account, _, name = PARTITION.partition("$")
        options = ["--prefix", "shipyard", "--account", account, "--batch-pool", name]
        document = shown(cli, "--azure", *options)
        assert document["sources"] == [f"127.0.0.1:{azurite.port}/shipyardperf {PARTITION}"]
        assert document["read"]["unreadable"] == 0
        expected = shown(cli, place(tmp_path / "rows.jsonl", made))
        assert document["nodes"] == expected["nodes"]
        monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", azurite.connection_string)
        said = refused(cli, "--azure", *options[:1], "none", *options[2:])
        assert "noneperf" in said
        assert azurite.key not in said
