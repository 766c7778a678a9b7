"""``benchyard history``."""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.errors import SinkUnavailableError
from benchyard.core.places import HOME
from benchyard.publish.sinks import open_sink
from tests.benchyard.cli.conftest import Cli
from tests.benchyard.publish.conftest import raising
from tests.benchyard.publish.sinks.local.conftest import document, spooled
from tests.benchyard.show.history.conftest import FakeReader

WORDS = {"load": [1.0, 1.02, 0.98, 1.0, 1.5], "sort": [3e-5, math.nan, 2e-5]}
CONTENT = {"words": WORDS, "tpch[scale=1]": {"query 1": [0.5]}}


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> FakeReader:
    made = FakeReader(CONTENT)

    def opened(sink: str) -> FakeReader:
        assert sink == "datastore"
        return made

    monkeypatch.setattr("benchyard.cli.history.open_reader", opened)
    return made


def shown(cli: Cli, *arguments: str) -> list[str]:
    said = cli("history", "--sink", "datastore", *arguments)
    assert said.err == ""
    return said.out.splitlines()


def refused(cli: Cli, *arguments: str) -> str:
    said = cli("history", *arguments, code=2)
    assert said.out == ""
    return said.err


def test_tests_are_listed(reader: FakeReader, cli: Cli) -> None:
    assert shown(cli) == [
        "TEST           RUNS  LAST",
        "tpch[scale=1]     1  2026-01-01T00:00:00Z",
        "words             5  2026-01-05T00:00:00Z",
    ]
    assert shown(cli, "--limit", "2")[-1] == "words           ≥ 2  2026-01-05T00:00:00Z"
    assert shown(cli, "--since", "2027-01-01") == ["no test was published in this time"]
    assert reader.closed


def test_entries_are_listed_with_what_changed(reader: FakeReader, cli: Cli) -> None:
    assert shown(cli, "words") == [
        "words",
        "ENTRY  N     LAST    LEVEL  95 % INTERVAL  SINCE                 HISTORY",
        "load   5   1.50 s   1.00 s              -  2026-01-01T00:00:00Z  ▁▁▁▁█",
        "sort   3  20.0 µs  25.0 µs              -  2026-01-01T00:00:00Z  █ ▁",
    ]
    assert shown(cli, "words", "--limit", "3")[-1] == (
        "only the newest 3 were looked at; --limit 0 takes all"
    )
    assert shown(cli, "words", "--since", "2027-01-01")[1:] == ["nothing was measured in this time"]
    assert reader.asked


def test_an_entry_is_listed_with_every_timing(reader: FakeReader, cli: Cli) -> None:
    lines = shown(cli, "words", "sort")
    assert lines[0] == "words  sort"
    assert lines[2].endswith("█ ▁")
    assert [line.split()[1:] for line in lines[5:]] == [
        ["30.0", "µs"],
        ["NaN", "s"],
        ["20.0", "µs"],
    ]
    assert shown(cli, "words", "sort", "--newest-first")[5:] == lines[:4:-1]
    late = shown(cli, "words", "sort", "--since", "2027-01-01")
    assert late[1:] == ["nothing was measured in this time"]
    assert reader.asked


def document_of(cli: Cli, *arguments: str) -> dict[str, Any]:
    return json.loads("\n".join(shown(cli, *arguments, "--json")), parse_constant=pytest.fail)


def test_json(reader: FakeReader, cli: Cli) -> None:
    made = document_of(cli, "--since", "2026-01-02")
    [test] = made.pop("tests")
    assert made | {"format": "benchyard-history", "version": 3, "limit": 100} == made
    assert (test["test"], test["starts"], test["complete"]) == ("words", 4, True)
    assert (test["first"], test["last"]) == ("2026-01-02T00:00:00Z", "2026-01-05T00:00:00Z")
    load, sort = document_of(cli, "words", "--limit", "0")["entries"]
    known = {"test": "words", "entry": "load", "step": None, "n": 5, "last": 1.5}
    assert load | known == load
    assert sort["points"][1]["value"] is None
    assert (sort["hosts"], sort["n_suspect"], sort["changes"]) == ([None], 0, [])
    assert (load["levels"][0]["value"], load["levels"][0]["campaigns"]) == (1.0, 5)
    assert reader.asked


def test_a_picture(reader: FakeReader, tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "a.svg"
    shown(cli, "words", "load", "--plot", str(file))
    assert file.read_text().startswith("<svg")
    document_of(cli, "words", "--plot", str(tmp_path / "b.svg"))
    assert (tmp_path / "b.svg").exists()
    arguments = ["history", "--sink", "datastore", "words", "load", "--since", "2027-01-01"]
    assert "nothing to draw" in cli(*arguments, "--plot", tmp_path / "c.svg", code=2).err
    assert not (tmp_path / "c.svg").exists()
    assert reader.asked


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--sink", "datastor"], "there is no sink 'datastor'; there are local, datastore"),
        (["--since", "yesterday"], "'yesterday' is no date; write one such as 2026-11-01"),
        (["--limit", "-1"], "-1 is not in the range"),
        (["--plot", "a.png"], "--output draws a CASE, or one STEP of it; name one"),
        (["words", "--plot", "a.gif"], "a.gif: it must end in .png or .svg"),
        (["--sink", "local"], "there is no local store"),
        (["--sink", "local", "--metric", "cpu_s"], "a sink has wall times alone"),
    ],
)
def test_wrong_input(
    arguments: list[str], said: str, cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(HOME, str(tmp_path))
    assert said in refused(cli, *arguments)


def test_a_sink_that_does_not_answer_exits_with_1(
    reader: FakeReader, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    down = SinkUnavailableError("datastore does not answer")
    monkeypatch.setattr(FakeReader, "tests", raising(down))
    assert cli("history", "--sink", "datastore", code=1) == ("", f"benchyard: {down}\n")
    assert reader.closed


@pytest.mark.slow
@pytest.mark.parametrize(("encoding", "line"), [("utf-8", "▁█"), ("ascii", "_@")])
def test_a_terminal_without_blocks_gets_letters_and_nothing_loads_matplotlib(
    tmp_path: Path, encoding: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOME, str(tmp_path))
    sink = open_sink("local")
    for start in (0, 1):
        sink.store(spooled(document({"load": 1.0 + start}, start=start)))
    sink.close()
    program = (
        "import sys; from benchyard.cli import call;"
        "code = call(['history', '--sink', 'local', 'words']);"
        "assert 'matplotlib' not in sys.modules; sys.exit(code)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env={HOME: str(tmp_path), "PYTHONIOENCODING": encoding},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines()[-1].split()[-1] == line


def test_the_local_store_is_read_where_it_is(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOME, str(tmp_path))
    sink = open_sink("local")
    sink.store(spooled(document({"load": 1.0})))
    sink.close()
    assert "words" in cli("history", "--sink", "local").out
    said = refused(cli, "--sink", f"local:{tmp_path / 'results.sqlite'}", "word")
    assert "there is no test 'word'; did you mean 'words'?" in said
