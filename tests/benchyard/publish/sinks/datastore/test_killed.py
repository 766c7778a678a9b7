"""kill -9 of real publishers between their commits: nothing is lost, nothing is twice."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchyard.publish.sinks.datastore.conftest import MakeSpooled
from tests.conftest import eventually
from tests.emulators.datastore.fixture import Emulator

pytestmark = pytest.mark.slow

DOCUMENTS, ENTRIES = 24, 60
#: After so many commits two publishers are killed; each leaves some for those that come after.
KILLS = (1, 2, 4, 6, 9)


def publisher(emulator: Emulator, folder: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [
            *(str(Path(sys.executable).with_name("benchyard")), "publish", "--sink", "datastore"),
            *("--datadir", str(folder / "waiting"), "--archivedir", str(folder / "archive")),
        ],
        env=os.environ | emulator.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def kill_after(emulator: Emulator, commits: int, running: "list[subprocess.Popen[bytes]]") -> None:
    """Kill publishers once they have sent so many commits, or are through."""
    wanted = emulator.counters().get("Commit", 0) + commits

    def is_time() -> bool:
        ended = all(child.poll() is not None for child in running)
        return ended or emulator.counters().get("Commit", 0) >= wanted

    assert eventually(is_time, timeout=60.0)
    for child in running:
        child.kill()
        child.wait()


def test_publishers_killed_after_so_many_commits(
    emulator: Emulator, tmp_path: Path, spooled: MakeSpooled
) -> None:
    (tmp_path / "waiting").mkdir()
    for number in range(DOCUMENTS):
        content = spooled(start=number, entries=ENTRIES).content
        (tmp_path / "waiting" / f"{number}.json").write_bytes(content)
    emulator.faults.slow(0.02, times=None, methods=["Commit"])
    for commits in KILLS:
        kill_after(emulator, commits, [publisher(emulator, tmp_path) for _ in range(2)])
    emulator.faults.clear()
    assert publisher(emulator, tmp_path).wait(timeout=120) == 0
    archived = sorted(path.name for path in (tmp_path / "archive").iterdir())
    assert archived == sorted(f"{number}.json" for number in range(DOCUMENTS))
    client = emulator.client()
    assert len(list(client.query(kind="Test").fetch())) == DOCUMENTS
    assert len(list(client.query(kind="Entry").fetch())) == DOCUMENTS * ENTRIES
