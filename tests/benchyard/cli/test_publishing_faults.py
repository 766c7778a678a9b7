"""``benchyard publish`` where settings are wrong: nothing rejected, nothing lost, one sentence."""

import base64
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from benchyard.publish.sinks.datastore.connection import INDEX_FILE
from tests.benchyard.cli.conftest import Ends
from tests.benchyard.cli.conftest import Run as Publish
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
def publish(folder: Path, ends: Ends) -> Publish:
    return partial(ends, "publish", "--datadir", folder)


# -- Datastore

Break = Callable[[Emulator, random.Random], dict[str, str]]


def wrong_project(server: Emulator, chance: random.Random) -> dict[str, str]:
    server.admit(project=server.project)
    wrong = ["My Project", "a", "PROJECT", "x" * 300, f"project-{chance.randrange(10**6)}"]
    return {"GOOGLE_CLOUD_PROJECT": chance.choice(wrong)}


def wrong_database(server: Emulator, chance: random.Random) -> dict[str, str]:
    server.admit(database="the-right-one")
    return {"BENCHYARD_DATASTORE_DATABASE": f"database-{chance.randrange(10**6)}"}


def no_permission(server: Emulator, chance: random.Random) -> dict[str, str]:
    server.admit(refused=chance.choice(["PERMISSION_DENIED", "UNAUTHENTICATED"]))
    return {}


def all_is_invalid(server: Emulator, chance: random.Random) -> dict[str, str]:
    code = chance.choice(["INVALID_ARGUMENT", "OUT_OF_RANGE"])
    server.faults.fail(code, times=None, methods=["Commit"])
    return {}


def dead_port(_: Emulator, __: random.Random) -> dict[str, str]:
    return {"DATASTORE_EMULATOR_HOST": f"127.0.0.1:{free_port()}"}


DATASTORE: list[Break] = [wrong_project, wrong_database, no_permission, all_is_invalid, dead_port]


def holds(publish: Publish, folder: Path, sink: str) -> float:
    """Publish with wrong settings; return the seconds that it took."""
    wanted, began = names(folder), time.monotonic()
    code, out, err = publish("--sink", sink)
    took = time.monotonic() - began
    assert (code, out) == (1, f"{sink}: {DOCUMENTS} waiting\n")
    assert len(err.splitlines()) == 1, err
    assert names(folder) == wanted
    return took


def try_datastore(
    publish: Publish, folder: Path, server: Emulator, broken: Break, chance: random.Random
) -> float:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in broken(server, chance).items():
            patch.setenv(name, value)
        took = holds(publish, folder, "datastore")
    server.clear()
    return took


@pytest.mark.parametrize("broken", DATASTORE)
def test_datastore(publish: Publish, folder: Path, server: Emulator, broken: Break) -> None:
    try_datastore(publish, folder, server, broken, random.Random(1))  # noqa: S311
    assert publish("--sink", "datastore")[0] == 0
    assert len(list(server.client().query(kind="Test").fetch())) == DOCUMENTS


def test_without_retries_a_server_that_fails_is_asked_once(
    publish: Publish, server: Emulator
) -> None:
    server.faults.fail("UNAVAILABLE", times=None)
    code, _, err = publish("--sink", "datastore", "--retries", "0")
    assert code == 1
    assert len(err.splitlines()) == 1
    assert server.counters()["Commit"] == 1


def test_what_a_server_refuses_is_offered_again_once_it_takes_it(
    publish: Publish, folder: Path, server: Emulator
) -> None:
    body = (folder / "3.json").read_text().replace("//t:x", "//t:odd")
    write(folder / "3.json", body)
    long_ago = time.time() - 9000
    for path in folder.iterdir():
        os.utime(path, (long_ago, long_ago))
    server.faults.fail("INVALID_ARGUMENT", times=None, methods=["Commit"], holding="//t:odd")
    code, out, _ = publish("--sink", "datastore")
    assert (code, out) == (1, f"datastore: {DOCUMENTS - 1} published, 1 rejected\n")
    server.faults.clear()
    assert publish("--sink", "datastore", "--again")[:2] == (0, "datastore: 1 published\n")
    assert names(folder / "rejected") == []


# -- Azure Tables

AzureBreak = Callable[[Azurite, random.Random, ExitStack], str]


def wrong_key(azurite: Azurite, chance: random.Random, _: ExitStack) -> str:
    other = base64.b64encode(chance.randbytes(32)).decode()
    return azurite.connection_string.replace(azurite.key, other)


def wrong_account(azurite: Azurite, chance: random.Random, _: ExitStack) -> str:
    return azurite.connection_string.replace(ACCOUNT, f"nobody{chance.randrange(1000)}")


def wrong_endpoint(azurite: Azurite, _: random.Random, __: ExitStack) -> str:
    return azurite.through(free_port())


def refused(azurite: Azurite, chance: random.Random, stack: ExitStack) -> str:
    answers = [
        Answers(409, {"x-ms-error-code": "TableBeingDeleted"}),
        Answers(403, {"x-ms-error-code": "AuthorizationPermissionMismatch"}),
        Answers(401),
        Answers(404),
        Answers(400, {"x-ms-error-code": "InvalidInput"}),
        Answers(405),
    ]
    proxy = stack.enter_context(between(azurite.port))
    proxy.faults += [chance.choice(answers)] * 100
    return azurite.through(proxy.port)


AZURE: list[AzureBreak] = [wrong_key, wrong_account, wrong_endpoint, refused]


def try_azure(
    publish: Publish, folder: Path, azurite: Azurite, broken: AzureBreak, chance: random.Random
) -> float:
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        patch.setenv(SOUND, broken(azurite, chance, stack))
        return holds(publish, folder, "azure-tables")


@of_azurite
@pytest.mark.parametrize("broken", AZURE)
def test_azure(publish: Publish, folder: Path, azurite: Azurite, broken: AzureBreak) -> None:
    try_azure(publish, folder, azurite, broken, random.Random(1))  # noqa: S311
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SOUND, azurite.connection_string)
        assert publish("--sink", "azure-tables")[0] == 0


@pytest.mark.soak
@of_azurite
def test_a_hundred_faults_of_settings(
    publish: Publish, folder: Path, server: Emulator, azurite: Azurite
) -> None:
    chance = random.Random(20261123)  # noqa: S311
    for _ in range(100):
        if chance.random() < 0.5:
            took = try_datastore(publish, folder, server, chance.choice(DATASTORE), chance)
        else:
            took = try_azure(publish, folder, azurite, chance.choice(AZURE), chance)
        assert took <= 5


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
