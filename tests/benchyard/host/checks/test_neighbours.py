"""Who else is found to live here."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from benchyard.host.checks.check_context import (
    CheckContext,
    Contact,
    EngineFacts,
    Look,
    glance,
    look,
    meet_engine,
)
from benchyard.host.checks.finding import Finding, Status
from benchyard.host.checks.neighbours import CHECKS
from benchyard.host.facts.engine import ask, docker
from benchyard.host.facts.reading import Host
from benchyard.process.labels import OWNER
from tests.benchyard.host.checks.hosts import CONTAINER, GUEST, LAPTOP, SERVER, STAT, scene_of

Serve = Callable[[bytes], AbstractContextManager[Path]]
INFO = {
    "ServerVersion": "26.1.3",
    "DockerRootDir": "/var/lib/docker",
    "Driver": "overlay2",
    "CgroupDriver": "systemd",
    "CgroupVersion": "2",
}


def answer(body: Any, status: str = "200 OK") -> bytes:
    head = f"HTTP/1.0 {status}\r\nServer: Docker/26.1.3 (linux)\r\n\r\n"
    return head.encode() + json.dumps(body).encode()


@contextmanager
def _served(said: bytes) -> Generator[Path]:
    """Answer one question at a socket; the folder's path is short, as a socket's must be."""
    with tempfile.TemporaryDirectory(prefix="by-") as folder:
        place = Path(folder, "run", "docker.sock")
        place.parent.mkdir()
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(place))
            listening.listen()

            def serve() -> None:
                line, _ = listening.accept()
                with line:
                    line.recv(4096)
                    if said:
                        line.sendall(said)
                    else:
                        line.recv(1)

            server = threading.Thread(target=serve, daemon=True)
            server.start()
            yield Path(folder)
            server.join(5)


@pytest.fixture(autouse=True)
def _engine_of_this_host(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.delenv("DOCKER_HOST", raising=False)


def made(check: str, context: CheckContext) -> Finding:
    found = CHECKS[check](context)
    assert found is not None
    assert found.check == check
    return found


# -- the engine


def test_an_engine_that_answers_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchyard.host.checks.check_context._PATIENCE", 30)
    with _served(answer([{"Id": "f" * 64, "Names": ["/web"]}])) as root:
        engine = meet_engine(Host(root))
    assert engine.contact is Contact.ANSWERS
    assert engine.server == "Docker/26.1.3 (linux)"
    assert engine.containers == [{"Id": "f" * 64, "Names": ["/web"]}]


@pytest.mark.parametrize(
    "said",
    [b"", b"HTTP/1.0 500 x\r\n\r\n[]", b"HTTP/1.0 200 OK\r\n\r\n[", b"\xff\xfe", b"\r\n\r\n"],
)
def test_an_engine_that_answers_nonsense_or_nothing_is_silent(said: bytes) -> None:
    with _served(said) as root:
        assert meet_engine(Host(root)).contact is Contact.SILENT


def test_no_engine_is_absent_and_a_dead_one_silent(tmp_path: Path) -> None:
    assert meet_engine(Host(tmp_path)).contact is Contact.ABSENT
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "docker.sock").touch()
    assert meet_engine(Host(tmp_path)).contact is Contact.SILENT


def test_an_engine_elsewhere_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://192.0.2.1:2375")
    assert meet_engine(Host()).contact is Contact.ELSEWHERE
    assert docker(Host()) is None


def test_a_socket_that_the_user_names_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with _served(answer(INFO)) as root:
        monkeypatch.setenv("DOCKER_HOST", f"unix://{root}/run/docker.sock")
        assert docker(Host()) == {
            "version": "26.1.3",
            "root": "/var/lib/docker",
            "storage": "overlay2",
            "cgroup": "systemd v2",
        }


@pytest.mark.parametrize("body", [[], "x", None, 5])
def test_provenance_of_an_engine_that_answers_nonsense_is_null(body: Any) -> None:
    with _served(answer(body)) as root:
        assert docker(Host(root)) is None


def test_an_engine_that_hangs_is_given_up() -> None:
    with _served(b"") as root, pytest.raises(TimeoutError):
        ask(root / "run" / "docker.sock", "/info", 0.05)


@pytest.mark.parametrize(
    ("contact", "status", "words"),
    [
        (Contact.ANSWERS, Status.OK, "Docker/26 answers at /x"),
        (Contact.ABSENT, Status.UNKNOWN, "no engine at /x; only cases with containers need one"),
        (Contact.REFUSED, Status.WARN, "this user may not use the engine at /x"),
        (Contact.SILENT, Status.WARN, "the engine at /x does not answer"),
        (Contact.ELSEWHERE, Status.WARN, "on another host (/x)"),
    ],
)
def test_each_way_of_an_engine_is_told(
    tmp_path: Path, contact: Contact, status: Status, words: str
) -> None:
    found = made("docker", scene_of(tmp_path, {}, engine=EngineFacts(contact, "/x", "Docker/26")))
    assert found.status is status
    assert words in found.finding


# -- containers


@pytest.mark.parametrize(
    ("files", "status", "words"),
    [
        (LAPTOP, Status.OK, "none run"),
        (SERVER, Status.WARN, "2 containers: docker aaaaaaaaaaaa, cri-containerd bbbbbbbbbbbb"),
        (GUEST, Status.WARN, "1 container: docker aaaaaaaaaaaa"),
        ({}, Status.UNKNOWN, "without cgroups others cannot be seen"),
        (
            {path: text for path, text in CONTAINER.items() if ".scope" not in path},
            Status.UNKNOWN,
            "from inside a container (docker) others cannot be seen",
        ),
    ],
)
def test_containers_are_found_by_their_cgroups(
    tmp_path: Path, files: Mapping[str, str], status: Status, words: str
) -> None:
    found = made("other containers", scene_of(tmp_path, files))
    assert found.status is status
    assert words in found.finding


def test_the_engine_gives_names_and_nothing_counts_twice(tmp_path: Path) -> None:
    listed: Any = [{"Id": "a" * 64, "Names": ["/web"]}, {"Id": "d" * 64}, {}, 5]
    engine = EngineFacts(Contact.ANSWERS, "/x", "", listed)
    found = made("other containers", scene_of(tmp_path, SERVER, engine=engine))
    assert found.finding == "3 containers: web, dddddddddddd, cri-containerd bbbbbbbbbbbb"


def test_the_labs_own_container_is_no_other(tmp_path: Path) -> None:
    own = GUEST | {"proc/self/cgroup": f"4:memory:/docker/{'a' * 64}\n"}
    assert made("other containers", scene_of(tmp_path, own)).finding == "none run"


# -- labs


def labs(folder: Path, *environs: str) -> Finding:
    files = LAPTOP | {f"proc/{pid}/environ": text for pid, text in enumerate(environs, 50)}
    files |= {f"proc/{pid}/stat": "5 (x) S 1 " + "0 " * 40 for pid, _ in enumerate(environs, 50)}
    now = glance(scene_of(folder / "look", files).host, 0.0)
    return made("other labs", scene_of(folder / "now", files, look=Look(now, now)))


def test_another_lab_is_found_by_its_label(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OWNER, "3:4:5")
    found = labs(tmp_path, "A=1", f"{OWNER}=812:9:1\0B=2", f"{OWNER}=3:4:5", f"X{OWNER}=7:7:7")
    assert found.status is Status.WARN
    assert found.finding == "that of pid 812"


def test_no_other_lab_is_fine(tmp_path: Path) -> None:
    assert labs(tmp_path, "A=1").status is Status.OK
    assert CHECKS["other labs"](scene_of(tmp_path / "no look", LAPTOP)) is None


def test_this_process_is_no_neighbour() -> None:
    now = glance(Host())
    assert os.getpid() in now.processes


WARN, OK, UNKNOWN = Status.WARN, Status.OK, Status.UNKNOWN


def process(ticks: int, name: str = "x) R 1 (y") -> str:
    return f"7 ({name}) S 1 7 7 0 -1 4194560 100 0 2 0 {ticks} 0 0 0 20 0 1 0 100 0 50\n"


def looked(folder: Path, before: Mapping[str, str], after: Mapping[str, str]) -> CheckContext:
    """Return a context with a look of half a second between two states of a host."""
    first = glance(scene_of(folder / "before", before).host, 0.0)
    second = glance(scene_of(folder / "after", after).host, 0.5)
    return scene_of(folder / "now", after, look=Look(first, second))


@pytest.mark.parametrize(
    ("check", "files", "status", "words"),
    [
        ("load average", LAPTOP, OK, "0.05 0.10 0.08 over 1, 5 and 15 minutes, on 4 cores"),
        ("load average", SERVER, WARN, "7.90 8.10 8.00"),
        ("load average", {"proc/loadavg": "99 99 99 1/2 3"}, WARN, "99 99 99"),
        ("load average", {}, UNKNOWN, "does not tell"),
        ("pressure", LAPTOP, OK, "cpu 0.00%, memory 0.00%, io 0.00%"),
        ("pressure", SERVER, WARN, "cpu 12.50%"),
        ("pressure", {"proc/pressure/io": "some avg10=1.01 total=5"}, WARN, "waited: io 1.01%"),
        ("pressure", {"proc/pressure/cpu": "full avg10=9.00"}, UNKNOWN, "does not measure"),
        ("steal", GUEST, WARN, "5.18% of all CPU time since boot"),
        ("steal", {"proc/stat": "cpu 1 2 3"}, UNKNOWN, "does not tell"),
    ],
)
def test_what_is_found(
    tmp_path: Path, check: str, files: Mapping[str, str], status: Status, words: str
) -> None:
    found = made(check, scene_of(tmp_path, files))
    assert found.status is status
    assert words in found.finding


def test_bare_metal_needs_no_line_for_steal(tmp_path: Path) -> None:
    assert CHECKS["steal"](scene_of(tmp_path, LAPTOP)) is None


def test_without_a_look_nobody_is_busy(tmp_path: Path) -> None:
    assert CHECKS["busy processes"](scene_of(tmp_path, LAPTOP)) is None


def test_a_load_of_all_cores_fails_while_looked_at(tmp_path: Path) -> None:
    busy = SERVER | {"proc/loadavg": "8.00 1 1 1/1 1"}
    assert made("load average", looked(tmp_path, busy, busy)).status is Status.FAIL


def test_who_computes_is_named_with_its_share(tmp_path: Path) -> None:
    before = LAPTOP | {"proc/10/stat": process(500), "proc/11/stat": process(7)}
    after = {
        "proc/10/stat": process(545),
        "proc/10/comm": "postgres\n",
        "proc/11/stat": process(8),
        "proc/12/stat": process(20),
        "proc/12/comm": "cc1\n",
    }
    found = made("busy processes", looked(tmp_path, before, before | after))
    assert found.status is WARN
    assert found.finding == "postgres (pid 10) 90%, cc1 (pid 12) 40% of a core"


def test_nobody_computes(tmp_path: Path) -> None:
    still = LAPTOP | {"proc/10/stat": process(500)}
    found = made("busy processes", looked(tmp_path, still, still))
    assert found.finding == "none above 5% of a core in 0.5 s"


def test_steal_at_this_very_moment_counts(tmp_path: Path) -> None:
    before = GUEST | {"proc/stat": STAT.format(user=9000, idle=900_000, steal=100)}
    after = GUEST | {"proc/stat": STAT.format(user=9000, idle=900_000, steal=110)}
    found = made("steal", looked(tmp_path, before, after))
    assert found.status is WARN
    assert found.finding.startswith("0.10 s in 0.5 s just now; 0.01% of all CPU time since boot")
    assert made("steal", looked(tmp_path / "b", before, before)).status is OK


def test_a_real_process_that_burns_is_found() -> None:
    program = "print(flush=True)\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as burner:
        assert burner.stdout is not None
        burner.stdout.readline()
        try:
            seen = look(Host(), 0.2)
        finally:
            burner.kill()
    assert seen is not None
    assert seen.shares()[burner.pid] > 0.05


def test_no_time_is_no_look() -> None:
    assert look(Host(), 0) is None
