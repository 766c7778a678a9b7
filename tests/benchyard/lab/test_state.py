"""The claim that only one lab is up here, the logs, and where others find it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchyard.core import places
from benchyard.core.errors import InputError
from benchyard.lab import state
from tasks.names import variable_of
from tests.children import ending
from tests.conftest import eventually


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(places.HOME, str(tmp_path))
    return tmp_path / "lab"


def test_a_claim_is_held_once_and_the_second_reads_who_has_it() -> None:
    with state.claim("up", "{pid} {url}") as tell:
        tell(url="http://lab", api="http://lab/api")
        with (
            pytest.raises(InputError, match=f"{os.getpid()} http://lab"),
            state.claim("up", "{pid} {url}"),
        ):
            pass
        assert state.running_lab() == "http://lab/api"
    assert state.running_lab() is None
    with state.claim("up", ""):
        pass


def test_a_claim_that_is_not_ready_yet_is_no_lab() -> None:
    with state.claim("up", "{pid} {url}"):
        assert state.running_lab() is None
        with pytest.raises(InputError, match="still starting"), state.claim("up", "{pid} {url}"):
            pass


def test_the_claim_of_a_killed_lab_is_free_and_it_is_not_running(home: Path) -> None:
    program = (
        "import time; from benchyard.lab import state\n"
        "with state.claim('up', '') as tell:\n"
        "    tell(api='http://x/api'); print(1, flush=True); time.sleep(60)"
    )
    with ending(subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)) as other:
        assert other.stdout is not None
        other.stdout.readline()
        assert state.running_lab() == "http://x/api"
        other.kill()
    assert eventually(lambda: state.running_lab() is None)
    assert (home / "up.lock").read_text()
    with state.claim("up", ""):
        pass


@pytest.mark.parametrize("text", ["", "nonsense", "[]", '{"api": "x"}', '{"owner": 1, "api": 2}'])
def test_a_damaged_claim_is_no_lab(home: Path, text: str) -> None:
    state.folder()
    (home / "up.lock").write_text(text)

    assert state.running_lab() is None


def test_only_its_user_may_look_into_the_folder(home: Path) -> None:
    assert state.folder() == home
    assert home.stat().st_mode & 0o077 == 0


def test_a_log_that_has_grown_is_put_aside(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "_LOG_BYTES", 10)
    log = state.log_of("worker a/b")
    assert log == home / "logs" / "worker-a-b.log"
    log.write_text("x" * 11)

    assert not state.log_of("worker a/b").exists()
    assert log.with_suffix(".log.1").read_text() == "x" * 11


def test_a_variable_s_name_is_what_prefect_takes() -> None:
    assert variable_of("Host-7.example") == "benchyard_testbed_host_7_example"
