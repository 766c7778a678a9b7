"""Programs that serve: how they become ready, how they end, and that nothing of them stays."""

import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchyard.case.resource import Workspace, step_context
from benchyard.core.errors import (
    CommandFailedError,
    NotReadyError,
    ProgramFailedError,
    ResourceError,
    SettingsError,
)
from benchyard.run.checks import PatternSearch
from benchyard.run.judging import SearchLimits
from resources import _readiness
from resources._readiness import log_pattern
from resources.service import Service, ServiceSettings
from tests.conftest import eventually, is_gone
from tests.ports import free_port
from tests.resources.containers import broken_off, said

Start = Callable[..., Service]

#: Serves files over HTTP; says so on stderr.
HTTP = [sys.executable, "-u", "-m", "http.server", "--bind", "127.0.0.1", "${port}"]
#: Answers each connection with a word; on "die" it ends.
ECHO = """
import os, signal, socket, sys
signal.signal(signal.SIGUSR1, lambda *_: os.write(1, b'bye\\n') and sys.exit())
with socket.create_server(('127.0.0.1', int(sys.argv[1]))) as server:
    print('listening', flush=True)
    while True:
        link, _ = server.accept()
        with link:
            asked = link.recv(100)
            if asked == b'die':
                sys.exit(print('asked to die') or 7)
            if asked != b'hang':
                link.sendall(b'pong')
            else:
                link.recv(100)
"""
ASK = (
    "import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); "
    "s.sendall(sys.argv[2].encode()); print(s.recv(9).decode(), flush=True)"
)


def echo() -> list[str]:
    return [sys.executable, "-c", ECHO, "${port}"]


def asking(word: str) -> list[str]:
    return [sys.executable, "-c", ASK, "${port}", word]


@pytest.fixture
def start(workspace: Workspace) -> Generator[Start]:
    """Start a service; all of them are stopped afterwards, and must leave nothing."""
    made: list[Service] = []

    def started(arguments: list[str], **settings: Any) -> Service:
        service = Service(ServiceSettings(arguments, **settings), workspace)
        made.append(service)
        service.initialize()
        service.start()
        return service

    yield started
    pids = [pid for service in made for pid in service.pids()]
    for service in made:
        service.stop()
    assert all(is_gone(pid) for pid in pids)


def up(start: Start, arguments: list[str], **settings: Any) -> Service:
    service = start(arguments, **settings)
    service.wait_until_ready()
    return service


@pytest.mark.parametrize(
    "ready",
    [
        {},
        {"tcp": "${port}"},
        {"http": "/"},
        {"http": "${port}/"},
        {"log": "Serving HTTP on"},
        {"command": [sys.executable, "-c", ASK, "${port}", "x\n\n"]},
        {"log": "Serving", "http": "/", "tcp": "${port}"},
    ],
    ids=str,
)
def test_each_way_to_be_ready(start: Start, ready: dict[str, Any]) -> None:
    service = start(HTTP, ready=ready)
    service.wait_until_ready()
    socket.create_connection(("127.0.0.1", service.port())).close()


def test_a_program_asks_the_service(start: Start, workspace: Workspace) -> None:
    service = up(start, echo())
    with step_context("01-ask"):
        result = service.execute(asking("ping"))
    assert said(result) == "pong\n"
    assert result.values["exit_code"] == 0
    assert {name for name in result.values if name != "exit_code"} == {
        "client_cpu_user_s",
        "client_cpu_system_s",
        "client_peak_rss_bytes",
    }
    assert (workspace.kept / "service.log").read_text() == "listening\n"
    (pid,) = service.pids()
    assert service.ended() == []
    service.stop()
    assert service.pids() == []
    assert [ended.pid for ended in service.ended()] == [pid]


def test_the_port_stands_in_the_environment(start: Start) -> None:
    show = [sys.executable, "-c", "import os; print(os.environ['AT'])"]
    service = start(
        ["sh", "-c", "echo at $AT; exec sleep 600"],
        environment={"AT": "<${port}>"},
        ready={"log": "at <[0-9]+>"},
    )
    service.wait_until_ready()
    assert said(service.execute(show, environment={"AT": "${port}"})) == f"{service.port()}\n"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (
            ["sh", "-c", "echo no config; exit 4"],
            "(?s)died while .*code 4; it said: no config",
        ),
        (["true"], "must stay in the foreground"),
    ],
)
def test_a_crash_at_the_start_is_told_at_once_with_its_words(
    start: Start, arguments: list[str], why: str
) -> None:
    service = start(arguments, ready={"log": "x"})
    with pytest.raises(NotReadyError, match=why):
        service.wait_until_ready()
    assert not service.alive()


@pytest.mark.parametrize("ready", [{"log": "never"}, {"tcp": "${port}"}, {"command": ["false"]}])
def test_one_that_is_never_ready_is_given_up(start: Start, ready: dict[str, Any]) -> None:
    code = "print('busy', flush=True); import time; time.sleep(600)"
    service = start([sys.executable, "-c", code], ready=ready, ready_seconds=0.5)
    with pytest.raises(NotReadyError, match=r"not ready after 0\.5 s"):
        service.wait_until_ready()
    assert service.alive()


def test_a_fixed_port_is_the_service_s_and_a_taken_one_refused(start: Start) -> None:
    port = free_port()
    taken = pytest.raises(ResourceError, match=f"port {port} of this host is taken")
    with socket.create_server(("127.0.0.1", port)), taken:
        start(echo(), port=port)
    assert up(start, echo(), port=port).port() == port


def test_a_crash_during_a_step_fails_it_with_the_log(start: Start) -> None:
    service = up(start, echo())
    with pytest.raises(
        CommandFailedError, match=r"(?s)ended: exit code 7; it said: .*asked to die"
    ) as caught:
        # Whoever asked is still there when the end is noticed, however late that is.
        service.execute(
            [sys.executable, "-c", f"{ASK}; import time; time.sleep(600)", "${port}", "die"]
        )
    assert not isinstance(caught.value, ProgramFailedError)
    assert not service.alive()
    with pytest.raises(CommandFailedError, match="exit code 7"):
        service.execute(["true"])


def test_the_asking_program_s_own_failure_is_its_own(start: Start) -> None:
    service = up(start, echo())
    with pytest.raises(ProgramFailedError, match="exit code 3"):
        service.execute(["sh", "-c", "exit 3"])
    assert service.alive()
    assert said(service.execute(asking("ping"))) == "pong\n"


@pytest.mark.parametrize("is_killed", [False, True])
def test_abort_ends_both_and_who_asks_a_dead_service_does_not_hang(
    start: Start, is_killed: bool
) -> None:
    service = up(start, echo())
    (pid,) = service.pids()
    kill = partial(os.kill, pid, signal.SIGKILL) if is_killed else service.abort
    assert "SIGKILL" in broken_off(lambda: service.execute(asking("hang")), kill, 0.3)
    assert eventually(lambda: is_gone(pid))


def test_the_signal_that_the_case_names(start: Start, workspace: Workspace) -> None:
    service = up(start, echo(), stop_signal="SIGUSR1")
    service.stop()
    assert (workspace.kept / "service.log").read_text() == "listening\nbye\n"
    assert service.ended()[0].exit_status == 0


def test_one_that_does_not_listen_is_killed_after_its_grace(start: Start) -> None:
    code = (
        "import signal, subprocess, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
        "p = subprocess.Popen(['sleep', '600'], start_new_session=True); "
        "print('child', p.pid, flush=True); time.sleep(600)"
    )
    service = start([sys.executable, "-c", code], ready={"log": "child [0-9]+"}, stop_seconds=0.2)
    service.wait_until_ready()
    child = int((service.workspace.kept / "service.log").read_text().split()[1])
    service.stop()
    assert service.ended()[0].exit_status == -signal.SIGKILL
    assert eventually(lambda: is_gone(child))


def test_a_second_instance_keeps_the_log_of_the_first(start: Start, workspace: Workspace) -> None:
    start(["echo", "one"])
    start(["echo", "two"])
    assert eventually(lambda: (workspace.kept / "service-2.log").read_text() == "two\n")
    assert (workspace.kept / "service.log").exists()


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"arguments": []}, "arguments"),
        ({"port": 70_000}, "port"),
        ({"ready": {"tcp": "x"}}, "ready"),
        ({"ready": {"command": []}}, "ready"),
        ({"ready_seconds": 0}, "ready_seconds"),
        ({"stop_seconds": -1}, "stop_seconds"),
    ],
)
def test_wrong_settings_are_told(settings: dict[str, Any], name: str) -> None:
    wrong: Any = {"arguments": ["true"], **settings}
    with pytest.raises(SettingsError) as caught:
        ServiceSettings(**wrong)
    assert [wrong for wrong, _ in caught.value.wrong] == [name]


def test_the_programs_of_a_step_are_known() -> None:
    lines = Service.program_lines({"arguments": ["a", "b"]}, "execute", {"arguments": ["c"]})
    assert [*lines] == [["a", "b"], ["c"]]


# -- a line that is waited for, in what a server says


def server(folder: Path, out: str, err: str, *, running: bool) -> Any:
    """Stand in for a server that has said so much, and says no more."""
    logs = [folder / "out", folder / "err"]
    for log, text in zip(logs, (out, err), strict=True):
        log.write_text(text)
    return SimpleNamespace(running=running, logs=lambda: logs, wait=time.sleep)


@pytest.mark.parametrize(
    ("out", "err", "running", "is_ready"),
    [
        ("one\nready\n", "", True, True),
        ("", "ready\n", False, True),
        ("re", "ady\n", False, False),
        ("some", "", False, False),
        ("never", "", True, False),
    ],
)
def test_a_line_of_either_stream_counts(
    tmp_path: Path, out: str, err: str, running: bool, is_ready: bool
) -> None:
    awaited = server(tmp_path, out, err, running=running)
    deadline = time.monotonic() + (10 if is_ready or not running else 0.3)
    assert log_pattern("^ready$").wait(awaited, deadline) is is_ready


@pytest.mark.slow
def test_a_pattern_that_takes_for_ever_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    soon = partial(PatternSearch, limits=SearchLimits(search_seconds=0.5))
    monkeypatch.setattr(_readiness, "PatternSearch", soon)
    awaited = server(tmp_path, "a" * 60 + "!", "", running=True)
    with pytest.raises(NotReadyError, match="let its repetitions not overlap"):
        log_pattern("(a|aa)+$").wait(awaited, time.monotonic() + 60)
