"""A real server that wants a password: each command that talks to it says so in a sentence."""

import json
import os
import subprocess
import sys
import urllib.error
from collections.abc import Generator, Mapping
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
    ("suite", "--root", "cases"),
    ("suite", "--root", "cases", "--pool", "testbeds"),
    ("deploy", "--prefect-yaml", str(SOURCE / "prefect.yaml"), "--root", "cases"),
    ("worker", "--checkout", str(SOURCE)),
    ("up", "--no-server", "--prefect-yaml", str(SOURCE / "prefect.yaml"), "--root", "cases"),
)
#: Calls commands one after another in one process; says the exit code after what each said.
CALLS = """
import json, sys
from benchyard.cli import call
for words in json.loads(sys.argv[1]):
    print(f"exit code {call(words)}", file=sys.stderr, flush=True)
"""


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """Run a server that wants ``ana:secret``; give the URL of its API."""
    password = {"PREFECT_SERVER_API_AUTH_STRING": "ana:secret", "PREFECT_UI_ENABLED": "0"}
    with PrefectServer(tmp_path_factory.mktemp("guarded"), password).running() as server:
        yield server.url


def client(url: str, folder: Path) -> dict[str, str]:
    """Return the environment of somebody without a password, whose homes are in `folder`."""
    put_database(folder / "home" / "prefect.db")
    return {
        **os.environ,
        "PREFECT_API_URL": url,
        "PREFECT_HOME": str(folder / "home"),
        "BENCHYARD_HOME": str(folder / "lab"),
    }


@pytest.fixture(scope="module")
def refused(
    guarded: str, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[tuple[str, ...], tuple[str, list[str]]]:
    """Call each command without a password; give the last line, and those before it."""
    folder = tmp_path_factory.mktemp("refused")
    case = folder / "cases" / "quick"
    case.mkdir(parents=True)
    document = {"@id": "urn:test:quick", "name": "quick", "steps": [process("work", "true")]}
    (case / "metadata.json").write_text(json.dumps(document))
    ended = subprocess.run(
        [sys.executable, "-c", CALLS, json.dumps(COMMANDS)],
        cwd=folder,
        env=client(guarded, folder),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    told: list[list[str]] = [[]]
    for line in ended.stderr.splitlines():
        told[-1].append(line)
        if line.startswith("exit code "):
            told.append([])
    return {
        command: (lines[-1], lines[:-1]) for command, lines in zip(COMMANDS, told[:-1], strict=True)
    }


@pytest.fixture
def ask(
    guarded: str, run_benchyard: RunBenchyard, tmp_path: Path, case_folder: MakeCase
) -> RunBenchyard:
    """Run a command of which ``password`` is the client's."""
    case_folder("quick", process("work", "true"))

    def run(*arguments: str | Path, **options: Any) -> "subprocess.CompletedProcess[str]":
        password = {"PREFECT_API_AUTH_STRING": options["password"]}
        return run_benchyard(*arguments, env=client(guarded, tmp_path) | password)

    return run


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: " ".join(one[:1]))
def test_a_missing_password_is_one_sentence(
    command: tuple[str, ...],
    refused: Mapping[tuple[str, ...], tuple[str, list[str]]],
    guarded: str,
) -> None:
    code, said = refused[command]

    assert code == "exit code 1", said
    assert said[-1] == f"benchyard: {wrong_password(guarded)}"
    assert "Traceback" not in "".join(said)
    assert "internal error" not in "".join(said)


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
