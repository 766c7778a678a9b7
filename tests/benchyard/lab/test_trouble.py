"""A real server that wants a password: each command that talks to it says so in a sentence."""

import os
import subprocess
import urllib.error
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.errors import BenchyardError
from benchyard.lab.trouble import trouble_with_server, wrong_password
from tests.conftest import MakeCase, RunBenchyard, process
from tests.databases import put_database
from tests.servers import PrefectServer

SOURCE = Path(__file__).resolve().parents[3]
COMMANDS = (
    ("run", "quick", "--runs", "1", "--root", "cases"),
    ("rerun", "quick", "--root", "cases", "--force"),
    ("suite", "--root", "cases"),
    ("suite", "--root", "cases", "--pool", "testbeds"),
    ("deploy", "--prefect-yaml", str(SOURCE / "prefect.yaml"), "--root", "cases"),
    ("worker", "--checkout", str(SOURCE)),
    ("up", "--no-server", "--prefect-yaml", str(SOURCE / "prefect.yaml"), "--root", "cases"),
)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """Run a server that wants ``ana:secret``; give the URL of its API."""
    password = {"PREFECT_SERVER_API_AUTH_STRING": "ana:secret", "PREFECT_UI_ENABLED": "0"}
    with PrefectServer(tmp_path_factory.mktemp("guarded"), password).running() as server:
        yield server.url


@pytest.fixture
def ask(
    guarded: str, run_benchyard: RunBenchyard, tmp_path: Path, case_folder: MakeCase
) -> RunBenchyard:
    """Run a command of which ``password`` is the client's."""
    case_folder("quick", process("work", "true"))
    put_database(tmp_path / "home" / "prefect.db")

    def run(*arguments: str | Path, **options: Any) -> "subprocess.CompletedProcess[str]":
        own = {
            **os.environ,
            "PREFECT_API_URL": guarded,
            "PREFECT_HOME": str(tmp_path / "home"),
            "BENCHYARD_HOME": str(tmp_path / "lab"),
        }
        password = options.get("password")
        return run_benchyard(
            *arguments, env=own | ({"PREFECT_API_AUTH_STRING": password} if password else {})
        )

    return run


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: " ".join(one[:1]))
def test_a_missing_password_is_one_sentence(
    command: tuple[str, ...], ask: RunBenchyard, guarded: str
) -> None:
    ended = ask(*command)

    assert ended.returncode == 1, ended.stderr
    assert ended.stderr.splitlines()[-1] == f"benchyard: {wrong_password(guarded)}"
    assert "Traceback" not in ended.stderr
    assert "internal error" not in ended.stderr


@pytest.mark.slow
def test_a_wrong_password_is_told_and_the_right_one_is_taken(
    ask: RunBenchyard, guarded: str
) -> None:
    command = COMMANDS[0]

    wrong, right = (ask(*command, password=f"ana:{word}") for word in ("guess", "secret"))

    assert (wrong.returncode, right.returncode) == (1, 0), (wrong.stderr, right.stderr)
    assert wrong_password(guarded) in wrong.stderr
    assert "guess" not in wrong.stderr


def refusal(status: int) -> Exception:
    import httpx  # noqa: PLC0415 - the command line takes it for granted that Prefect is there
    from prefect.exceptions import PrefectHTTPStatusError  # noqa: PLC0415 - so

    request = httpx.Request("GET", "http://ana:secret@lab:4200/api/flows")
    answer = httpx.Response(status, request=request)
    return PrefectHTTPStatusError("no", request=request, response=answer)


def test_trouble_is_told_without_what_may_be_a_password() -> None:
    for status, told in ((401, "password for the Prefect"), (503, "has trouble (HTTP 503)")):
        text = trouble_with_server(refusal(status))
        assert text is not None
        assert told in text
        assert "http://lab:4200" in text
        assert "secret" not in text


def test_what_wraps_a_refusal_is_told_as_one_and_other_errors_are_not() -> None:
    wrapped = BenchyardError("the server takes no alerts")
    wrapped.__cause__ = refusal(401)
    assert trouble_with_server(wrapped) is not None
    wrapped.__cause__ = refusal(503)
    assert trouble_with_server(wrapped) is None
    assert trouble_with_server(refusal(404)) is None
    assert trouble_with_server(urllib.error.URLError("x")) is None
