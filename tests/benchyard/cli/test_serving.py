"""``benchyard serve`` as a process: its address, its token, a busy port, its end."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from click.testing import CliRunner

from benchyard.cli import call
from benchyard.cli.serving import command
from tests.benchyard.catalogue.making import put_run
from tests.conftest import eventually

PROGRAM = Path(sys.executable).with_name("benchyard")


@contextmanager
def started(*arguments: str | Path) -> Generator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [PROGRAM, "serve", "--port", "0", *arguments],
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def told(process: "subprocess.Popen[str]") -> str:
    """Return the address that a process printed as JSON."""
    assert process.stdout
    lines = [*takewhile(lambda line: line != "}\n", iter(process.stdout.readline, ""))]
    return str(json.loads("".join(lines) + "}")["url"])


def status(url: str, **headers: str) -> int:
    try:
        asked = urllib.request.Request(url, headers=headers)  # noqa: S310
        with urllib.request.urlopen(asked, timeout=60) as answer:  # noqa: S310
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_a_signal_and_says_nothing_else(
    tmp_path: Path, number: signal.Signals
) -> None:
    put_run(tmp_path / "tpch" / "results")
    with started(tmp_path, "--json") as process:
        url = told(process)
        assert status(f"{url}runs.json") == 200
        assert status(f"{url}nothing") == 404
        assert status(url, Host="rebound.invalid") == 421
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (out, err.strip()) == ("", "benchyard: interrupted")


@pytest.mark.slow
def test_a_new_run_appears_without_being_asked_for(tmp_path: Path) -> None:
    results = tmp_path / "tpch" / "results"
    put_run(results)
    with started(tmp_path, "--json") as process:
        url = told(process)
        put_run(results, 2)

        def there() -> bool:
            with urllib.request.urlopen(f"{url}runs.json", timeout=60) as answer:  # noqa: S310
                return json.load(answer)["total"] == 2

        assert eventually(there, 60)


@pytest.mark.slow
def test_another_address_wants_a_token_that_it_prints(tmp_path: Path) -> None:
    with started(tmp_path, "--json", "--host", "0.0.0.0") as process:  # noqa: S104
        url = urlsplit(told(process))
        [token] = parse_qs(url.query)["token"]
        here = f"http://127.0.0.1:{url.port}/runs.json"
        assert status(here) == 401
        assert status(here, Authorization=f"Bearer {token}") == 200


def test_a_proxy_is_asked_by_its_name(tmp_path: Path) -> None:
    with started("--json", "--allowed-host", "lab.example.org", tmp_path) as process:
        url = told(process)
        assert status(url, Host="lab.example.org") == 200
        assert status(url, Host="evil.example.org") == 421


@pytest.mark.slow
def test_a_head_that_does_not_come_ends_the_connection(tmp_path: Path) -> None:
    with started("--json", tmp_path) as process:
        place = urlsplit(told(process))
        address = (str(place.hostname), int(place.port or 0))
        with socket.create_connection(address, timeout=60) as slow:
            for part in (b"GET / HTTP/1.1\r\n", b"Host: localhost\r\n"):
                slow.sendall(part)
            assert slow.recv(100) == b""
        assert status(place.geturl()) == 200


def test_a_busy_port_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert call(["serve", str(tmp_path), "--port", port]) == 2
    assert f"cannot listen on port {port} of 127.0.0.1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--token", "short"], "16 or more"),
        (["--token", "x" * 16, "--token-file", __file__], "exclude each other"),
        (["--host", "192.0.2.77"], "cannot listen"),
        (["no/such/folder"], "does not exist"),
    ],
)
def test_wrong_options_are_refused(options: list[str], sentence: str) -> None:
    result = CliRunner().invoke(command, [*options, "--port", "0"])
    assert result.exit_code != 0
    assert sentence in f"{result.output} {result.exception}"
