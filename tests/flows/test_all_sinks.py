"""One case to all three sinks at once, against local servers: rows in each, once, no secret."""

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from prefect.settings import PREFECT_API_DATABASE_CONNECTION_URL

from benchyard.publish.sinks import open_reader
from benchyard.publish.sinks.azure.credentials import access
from benchyard.publish.sinks.azure.reader import events
from benchyard.publish.sinks.datastore.connection import INDEX_FILE
from tests.conftest import MakeCase, RunBenchyard, process
from tests.emulators.azurite.server import Azurite
from tests.emulators.azurite.server import running as azurite_running
from tests.emulators.datastore.fixture import Emulator
from tests.emulators.datastore.fixture import running as datastore_running

pytestmark = [pytest.mark.slow, pytest.mark.requires("azurite")]

WORD = "xyzzy-plugh-4711"
SINKS = ("local", "datastore", "azure-tables")


@pytest.fixture
def datastore(tmp_path: Path) -> Generator[Emulator]:
    with datastore_running(index=INDEX_FILE, data=tmp_path / "datastore.data") as emulator:
        yield emulator


@pytest.fixture
def azurite(tmp_path: Path) -> Generator[Azurite]:
    folder = tmp_path / "azurite"
    folder.mkdir()
    with azurite_running(folder) as made:
        yield made


@pytest.fixture
def lab(
    home: Path,
    datastore: Emulator,
    azurite: Azurite,
    prefect_server: str,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """Give a lab's home, and all that the sinks need, in the environment."""
    monkeypatch.setenv("PREFECT_API_URL", prefect_server)
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", azurite.connection_string)
    monkeypatch.setenv("SECRET_WORD", WORD)
    for name, value in datastore.environment.items():
        monkeypatch.setenv(name, value)
    return home


def entries(sink: str) -> list[tuple[str, str, float]]:
    reader = open_reader(sink)
    try:
        return [
            (test, entry, timing.value)
            for test in reader.tests()
            for entry in reader.entries(test)
            for timing in reader.timings(test, entry)
        ]
    finally:
        reader.close()


def files(*folders: Path) -> dict[Path, bytes]:
    found = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return {path: path.read_bytes() for path in found}


@pytest.mark.usefixtures("lab")
def test_rows_in_all_three_and_the_same_command_adds_none(
    case_folder: MakeCase, run_benchyard: RunBenchyard, datastore: Emulator
) -> None:
    case = case_folder("everywhere", process("one", "true"), process("two", "true"))
    options = ("--prefect", "--runs", "2", "--cooldown", "0", "--publish", ",".join(SINKS))
    command = ("run", case, *options)
    seen: list[Any] = []
    for _ in range(2):
        ended = run_benchyard(*command)
        assert ended.returncode == 0, ended.stderr
        found = {sink: sorted(entries(sink)) for sink in SINKS}
        rows = [(e.at, e.name) for e in events(access())]
        kinds = [len(list(datastore.client().query(kind=k).fetch())) for k in ("Test", "Entry")]
        seen.append((found, rows, kinds))

    (found, rows, kinds), again = seen
    assert again == (found, rows, kinds)
    assert kinds == [2, 4]
    assert [name for _, name, _ in found["local"]] == ["one", "one", "two", "two"]
    assert found["local"] == found["datastore"]
    assert [row[:2] for row in found["azure-tables"]] == [row[:2] for row in found["local"]]
    told = [name for _, name in rows]
    assert told.count("run-start") == told.count("run-end") == 2
    assert told.count("attempt-start") == told.count("attempt-end") == 4
    assert told.count("upload-end") == told.count("archive-end") == 2


def test_no_secret_gets_anywhere(
    case_folder: MakeCase, run_benchyard: RunBenchyard, lab: Path, azurite: Azurite, tmp_path: Path
) -> None:
    shows = process("shows", "test -n ${env:SECRET_WORD} && echo ${env:SECRET_WORD} >&2; exit 3")
    case = case_folder("secretive", {**shows, "may_fail": True, "retries": 1}, process("x", "true"))

    ended = run_benchyard(
        "run", case, "--prefect", "--runs", "1", "-v", "--publish", ",".join(SINKS)
    )
    assert ended.returncode == 0, ended.stderr
    azurite.stop()
    places = ("--datadir", lab / "archive" / "azure-tables", "--archivedir", tmp_path / "again")
    down = run_benchyard("publish", "--sink", "azure-tables", *places, "--retries", "0")
    assert down.returncode == 1, down.stderr

    database = Path(PREFECT_API_DATABASE_CONNECTION_URL.value().partition(":///")[2])
    assert database.is_file()
    written = files(lab, case / "results", database.parent, tmp_path / "azurite")
    written[tmp_path / "datastore.data"] = (tmp_path / "datastore.data").read_bytes()
    assert len(written) > 10
    texts = [ended.stdout, ended.stderr, down.stdout, down.stderr]
    for secret in (WORD, azurite.key, azurite.connection_string):
        assert [path for path, content in written.items() if secret.encode() in content] == []
        assert [text for text in texts if secret in text] == []
    assert json.loads((case / "results" / "run_1" / "run.json").read_text())["steps"]
