"""``benchyard history``: of which host, of what, and which timings are not to be trusted."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from benchyard.core.places import HOME
from benchyard.publish.sinks import open_sink
from benchyard.results.record import RunRecord
from tests.benchyard.cli.conftest import Cli
from tests.benchyard.publish.sinks.records import record, results, subject

DAY = 86_400.0
NEW = subject(version="2.0.0")
#: Two hosts by turns, one twice as fast; DuckDB's version changes on h1, and h2 swapped once.
MIXED = (
    record(1, 0 * DAY, 1.0, subject()),
    record(2, 1 * DAY, 2.0, subject("h2")),
    record(3, 2 * DAY, 1.0, subject()),
    record(4, 3 * DAY, 2.0, subject("h2")),
    record(5, 4 * DAY, 1.1, NEW),
    record(6, 5 * DAY, 9.0, subject("h2"), ["the host swapped"]),
)


def publish(*made: RunRecord) -> None:
    sink = open_sink("local")
    for one in made:
        sink.store(results(one))
    sink.close()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(HOME, str(tmp_path / "home"))
    publish(*MIXED)
    return tmp_path


def shown(cli: Cli, *arguments: str) -> list[str]:
    said = cli("history", "--sink", "local", *arguments)
    assert said.err == ""
    return said.out.splitlines()


def entries(cli: Cli, *arguments: str) -> list[dict[str, Any]]:
    return json.loads("\n".join(shown(cli, *arguments, "--json")))["entries"]


def test_a_series_is_of_one_host(cli: Cli) -> None:
    assert shown(cli, "words") == [
        "words",
        "ENTRY  HOST  N  SUSPECT    LAST   LEVEL  95 % INTERVAL  SINCE                 HISTORY",
        "load   h1    3           1.10 s  1.00 s              -  2026-11-21T19:30:00Z  ▁▁█",
        "load   h2    3        1  2.00 s  2.00 s              -  2026-11-22T19:30:00Z  ▅▅",
        "what was measured changed:",
        "  2026-11-25T19:30:00Z on h1: DuckDB 1.2.2 and 2.0.0",
    ]


def test_one_host_is_asked_for(cli: Cli) -> None:
    heading, *_, last = shown(cli, "words", "--machine", "h2", "--limit", "2")
    assert heading == "words  on h2"
    assert last == "only the newest 2 were looked at; --limit 0 takes all"
    [found] = entries(cli, "words", "load", "--machine", "h2", "--limit", "2")
    assert (found["hosts"], found["n"], found["last"]) == (["h2"], 2, 2.0)
    asked = ("history", "--sink", "local", "words", "--machine")
    said = cli(*asked, "h3", code=2).err
    assert "nothing of 'words' was measured on 'h3'; " in said
    cli(*asked, "h3", "words", "load", code=2)
    assert "leave one out" in cli(*asked, "h1", "--all-machines", code=2).err


def test_all_hosts_share_a_series_if_asked(cli: Cli) -> None:
    lines = shown(cli, "words", "load", "--all-machines")
    assert lines[0] == "words  load  on h1, h2"
    assert [line.split()[1] for line in lines[5:]] == ["h1", "h2"] * 3
    assert lines[9].endswith("  changed: DuckDB 1.2.2 and 2.0.0")
    assert lines[10].endswith("  suspect: the host swapped")
    assert lines[2].split()[:5] == ["load", "h1,", "h2", "6", "1"]
    assert "HOST" in shown(cli, "words", "--all-machines")[1]


def test_each_host_has_its_timings(cli: Cli) -> None:
    lines = shown(cli, "words", "load")
    assert [line for line in lines if line.startswith(("words", "load on"))] == [
        *("words  load", "load on h1", "load on h2")
    ]


def test_json_has_host_subject_commit_and_versions_of_each_point(cli: Cli) -> None:
    first, second = entries(cli, "words")
    assert [first["hosts"], second["hosts"]] == [["h1"], ["h2"]]
    began = "2026-11-25T19:30:00Z"
    last = first["points"][-1]
    known = {"start": began, "value": 1.1, "host": "h1", "subject": NEW["digest"]}
    known |= {"versions": {"DuckDB": "2.0.0"}, "commit": "a" * 10 + " with changes"}
    assert last | known | {"suspect": None} == last
    [change] = first["changes"]
    assert change["differences"] == [{"what": "DuckDB", "before": "1.2.2", "after": "2.0.0"}]
    assert (change["start"], change["host"]) == (began, "h1")
    assert second["n_suspect"] == 1
    assert second["points"][-1]["suspect"] == "the host swapped"
    assert second["last"] == 2.0


def test_the_picture_says_what_changed(home: Path, cli: Cli) -> None:
    file = home / "a.svg"
    shown(cli, "words", "--plot", str(file))
    tree = ET.parse(file)  # noqa: S314 - it is our own
    texts = ["".join(one.itertext()) for one in tree.iter() if one.tag.endswith("text")]
    assert {"DuckDB 1.2.2 and 2.0.0", "load", "h1", "h2"} <= set(texts)
    assert any("rings: suspect" in text for text in texts)


def test_runs_of_one_second_are_told_apart(cli: Cli) -> None:
    publish(record(7, 6 * DAY + 0.25, 1.0, NEW), record(8, 6 * DAY + 0.5, 2.0, NEW))
    lines = shown(cli, "words", "load", "--machine", "h1")
    starts = [line.split()[0] for line in lines[-2:]]
    assert starts == ["2026-11-27T19:30:00.250000Z", "2026-11-27T19:30:00.500000Z"]
    assert shown(cli)[-1] == "words     8  2026-11-27T19:30:00Z"


def test_many_changes_are_told_of_the_newest(cli: Cli) -> None:
    publish(*(record(n, n * DAY, 1.0, subject("h3", f"3.{n}")) for n in range(20)))
    lines = shown(cli, "words", "--machine", "h3")
    assert lines[4] == "  … and 9 times before"
    assert lines[-1] == "  2026-12-10T19:30:00Z: DuckDB 3.18 and 3.19"
    assert len(lines) == 15
