"""``benchyard publish`` where settings are wrong: nothing rejected, nothing lost, one sentence."""

import base64
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path

import pytest

from benchyard.publish.sinks.datastore.connection import INDEX_FILE
from tests.benchyard.cli.conftest import Cli
from tests.benchyard.publish.conftest import names, write
from tests.benchyard.publish.sinks.azure.proxy import Answers, between
from tests.emulators.azurite.server import ACCOUNT, Azurite
from tests.emulators.azurite.server import running as azurite_running
from tests.emulators.datastore.fixture import Emulator
from tests.emulators.datastore.fixture import running as datastore_running
from tests.ports import free_port

pytestmark = pytest.mark.slow

DOCUMENTS = 9
SOUND = "AZURE_STORAGE_CONNECTION_STRING"
of_azurite = pytest.mark.requires("azurite")


@pytest.fixture(scope="module")
def made() -> Generator[Emulator]:
    with datastore_running(index=INDEX_FILE) as emulator:
        emulator.need_ours()
        yield emulator


@pytest.fixture
def server(made: Emulator, monkeypatch: pytest.MonkeyPatch) -> Generator[Emulator]:
    """Have a sound server, and the variables that lead to it."""
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    made.clear()
    yield made
    made.clear()


@pytest.fixture(scope="module")
def azurite() -> Generator[Azurite]:
    with azurite_running() as made:
        yield made


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "home"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "results"
    made.mkdir()
    fill(made)
    return made


def fill(folder: Path, count: int = DOCUMENTS) -> list[str]:
    for number in range(count):
        entries = {"entry": [{"name": "BM", "wallTime": number}]}
        body = {"name": "//t:x", "startTime": str(1_700_000_000 + number), "entries": entries}
        write(folder / f"{number}.json", json.dumps(body))
    return names(folder)


@pytest.fixture
def publish(folder: Path, cli: Cli) -> Cli:
    return partial(cli, "publish", "--datadir", folder)


# -- Datastore


def refusing(status: str) -> Callable[[Emulator], None]:
    return lambda server: server.faults.fail(status, times=None, methods=["Commit"])


def admitting(**facts: str) -> Callable[[Emulator], None]:
    return lambda server: server.admit(**facts)


def one_project(server: Emulator) -> None:
    server.admit(project=server.project)


def holds(publish: Cli, folder: Path, sink: str) -> None:
    """Publish with wrong settings, which is told at once."""
    wanted, began = names(folder), time.monotonic()
    out, err = publish("--sink", sink, code=1)
    assert time.monotonic() - began <= 30
    assert out == f"{sink}: {DOCUMENTS} waiting\n"
    assert len(err.splitlines()) == 1, err
    assert names(folder) == wanted


@pytest.mark.parametrize(
    ("broken", "variables"),
    [
        *(
            (one_project, {"GOOGLE_CLOUD_PROJECT": wrong})
            for wrong in ("My Project", "a", "PROJECT", "x" * 300, "project-1")
        ),
        (admitting(database="the-right-one"), {"BENCHYARD_DATASTORE_DATABASE": "database-1"}),
        *((admitting(refused=why), {}) for why in ("PERMISSION_DENIED", "UNAUTHENTICATED")),
        *((refusing(why), {}) for why in ("INVALID_ARGUMENT", "OUT_OF_RANGE")),
        (admitting(), {"DATASTORE_EMULATOR_HOST": f"127.0.0.1:{free_port()}"}),
    ],
)
def test_datastore(
    publish: Cli,
    folder: Path,
    server: Emulator,
    broken: Callable[[Emulator], None],
    variables: dict[str, str],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        broken(server)
        holds(publish, folder, "datastore")
    server.clear()
    publish("--sink", "datastore")
    assert len(list(server.client().query(kind="Test").fetch())) == DOCUMENTS


def test_without_retries_a_server_that_fails_is_asked_once(publish: Cli, server: Emulator) -> None:
    server.faults.fail("UNAVAILABLE", times=None)
    err = publish("--sink", "datastore", "--retries", "0", code=1).err
    assert len(err.splitlines()) == 1
    assert server.counters()["Commit"] == 1


def test_what_a_server_refuses_is_offered_again_once_it_takes_it(
    publish: Cli, folder: Path, server: Emulator
) -> None:
    body = (folder / "3.json").read_text().replace("//t:x", "//t:odd")
    write(folder / "3.json", body)
    long_ago = time.time() - 9000
    for path in folder.iterdir():
        os.utime(path, (long_ago, long_ago))
    server.faults.fail("INVALID_ARGUMENT", times=None, methods=["Commit"], holding="//t:odd")
    out = publish("--sink", "datastore", code=1).out
    assert out == f"datastore: {DOCUMENTS - 1} published, 1 rejected\n"
    server.faults.clear()
    assert publish("--sink", "datastore", "--force").out == "datastore: 1 published\n"
    assert names(folder / "rejected") == []


# -- Azure Tables


@of_azurite
@pytest.mark.parametrize("wrong", ["key", "account", "endpoint"])
def test_azure(publish: Cli, folder: Path, azurite: Azurite, wrong: str) -> None:
    sound, other = azurite.connection_string, base64.b64encode(b"another key" * 6).decode()
    broken = {
        "key": sound.replace(azurite.key, other),
        "account": sound.replace(ACCOUNT, "nobody1"),
        "endpoint": azurite.through(free_port()),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SOUND, broken[wrong])
        holds(publish, folder, "azure-tables")
        patch.setenv(SOUND, sound)
        publish("--sink", "azure-tables")


@of_azurite
@pytest.mark.parametrize(
    "refusal",
    [
        Answers(409, {"x-ms-error-code": "TableBeingDeleted"}),
        Answers(403, {"x-ms-error-code": "AuthorizationPermissionMismatch"}),
        Answers(400, {"x-ms-error-code": "InvalidInput"}),
        *map(Answers, (401, 404, 405)),
    ],
)
def test_azure_that_refuses(
    publish: Cli,
    folder: Path,
    azurite: Azurite,
    refusal: Answers,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with between(azurite.port) as proxy:
        proxy.faults += [refusal] * 100
        monkeypatch.setenv(SOUND, azurite.through(proxy.port))
        holds(publish, folder, "azure-tables")
    monkeypatch.setenv(SOUND, azurite.connection_string)
    publish("--sink", "azure-tables")


# -- large files


def test_ten_gigabytes_are_told_and_the_others_published_in_little_memory(
    folder: Path, tmp_path: Path
) -> None:
    for ending in ("json", "json.gz", "json.zst"):
        with (folder / f"20261123T000000Z-large-0123456789ab.{ending}").open("wb") as stream:
            stream.truncate(10 * 1024**3)
    code = (
        "import json, re, sys; from pathlib import Path; from benchyard.cli import call;"
        "code = call(sys.argv[1:]); status = Path('/proc/self/status').read_text();"
        "print(code, re.search(r'VmHWM:\\s+(\\d+)', status)[1])"
    )
    command = ["publish", "--datadir", str(folder), "--archivedir", str(tmp_path / "old")]
    ended = subprocess.run(
        [sys.executable, "-c", code, *command], capture_output=True, text=True, check=True
    )
    told, [exit_code, peak_kib] = ended.stdout.splitlines()[0], ended.stdout.split()[-2:]
    assert told == f"local: {DOCUMENTS} published, 3 rejected"
    assert exit_code == "1"
    assert int(peak_kib) <= 300 * 1024
    assert "larger than 64 MiB (10,240 MiB)" in ended.stderr
    assert len(names(tmp_path / "old")) == DOCUMENTS
