"""Who else is found to live here."""

import json
import socket
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from benchyard.host.checks.check_context import Finding, Load, Status, glance, look
from benchyard.host.facts.reading import Host
from benchyard.host.facts.system import Contact, EngineFacts, ask, docker, meet_engine
from benchyard.process.labels import OWNER
from tests.benchyard.host.checks.hosts import LAPTOP, SERVER, looked, made, scene_of
from tests.children import speaking
from tests.conftest import eventually

CONTAINERS = "/containers/json"
INFO = {
    "ServerVersion": "26.1.3",
    "DockerRootDir": "/var/lib/docker",
    "Driver": "overlay2",
    "CgroupDriver": "systemd",
    "CgroupVersion": "2",
}


def answer(body: Any) -> bytes:
    head = b"HTTP/1.0 200 OK\r\nServer: Docker/26.1.3 (linux)\r\n\r\n"
    return head + json.dumps(body).encode()


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


# -- the engine


@pytest.mark.parametrize(
    "said",
    [b"", b"HTTP/1.0 500 x\r\n\r\n[]", b"HTTP/1.0 200 OK\r\n\r\n[", b"\xff\xfe", b"\r\n\r\n"],
)
def test_an_engine_that_answers_nonsense_or_nothing_is_silent(said: bytes) -> None:
    with _served(said) as root:
        assert meet_engine(Host(root), CONTAINERS).contact is Contact.SILENT
    with _served(b"") as root, pytest.raises(TimeoutError):
        ask(root / "run" / "docker.sock", "/info", 0.05)


def test_no_engine_is_absent_a_dead_one_silent_and_one_elsewhere_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert meet_engine(Host(tmp_path), CONTAINERS).contact is Contact.ABSENT
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "docker.sock").touch()
    assert meet_engine(Host(tmp_path), CONTAINERS).contact is Contact.SILENT
    monkeypatch.setenv("DOCKER_HOST", "tcp://192.0.2.1:2375")
    assert meet_engine(Host(), CONTAINERS).contact is Contact.ELSEWHERE
    assert docker(Host()) is None


def test_a_socket_that_the_user_names_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with _served(answer(INFO)) as root:
        monkeypatch.setenv("DOCKER_HOST", f"unix://{root}/run/docker.sock")
        versions = {"version": "26.1.3", "cgroup": "systemd v2"}
        assert docker(Host()) == {**versions, "root": "/var/lib/docker", "storage": "overlay2"}


@pytest.mark.parametrize("body", [[], "x", None, 5])
def test_provenance_of_an_engine_that_answers_nonsense_is_null(body: Any) -> None:
    with _served(answer(body)) as root:
        assert docker(Host(root)) is None


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


def test_the_engine_gives_names_and_nothing_counts_twice(tmp_path: Path) -> None:
    listed: Any = [{"Id": "a" * 64, "Names": ["/web"]}, {"Id": "d" * 64}, {}, 5]
    with _served(answer(listed)) as root:
        engine = meet_engine(Host(root), CONTAINERS, 30)
    assert (engine.contact, engine.server) == (Contact.ANSWERS, "Docker/26.1.3 (linux)")
    found = made("other containers", scene_of(tmp_path / "web", SERVER, engine=engine))
    assert found.finding == "3 containers: web, dddddddddddd, cri-containerd bbbbbbbbbbbb"
    own = SERVER | {"proc/self/cgroup": f"0::/docker/{'a' * 64}\n"}
    found = made("other containers", scene_of(tmp_path / "own", own))
    assert found.finding == "1 container: cri-containerd bbbbbbbbbbbb"


# -- labs


def labs(folder: Path, *environs: str) -> Finding:
    files = LAPTOP | {f"proc/{pid}/environ": text for pid, text in enumerate(environs, 50)}
    files |= {f"proc/{pid}/stat": "5 (x) S 1 " + "0 " * 40 for pid, _ in enumerate(environs, 50)}
    now = glance(scene_of(folder / "look", files).host, 0.0)
    return made("other labs", scene_of(folder / "now", files, look=Load(now, now)))


def test_another_lab_is_found_by_its_label(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OWNER, "3:4:5")
    found = labs(tmp_path, "A=1", f"{OWNER}=812:9:1\0B=2", f"{OWNER}=3:4:5", f"X{OWNER}=7:7:7")
    assert found.status is Status.WARN
    assert found.finding == "that of pid 812"


def process(ticks: int, name: str = "x) R 1 (y") -> str:
    return f"7 ({name}) S 1 7 7 0 -1 4194560 100 0 2 0 {ticks} 0 0 0 20 0 1 0 100 0 50{' 0' * 9}\n"


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
    assert found.status is Status.WARN
    assert found.finding == "postgres (pid 10) 90 %, cc1 (pid 12) 40 % of a core"
    still = made("busy processes", looked(tmp_path / "still", before, before))
    assert still.finding == "none above 5 % of a core in 0.5 s"


def test_a_real_process_that_burns_is_found() -> None:
    with speaking("print(flush=True)\nwhile True: pass") as (burner, _):
        assert eventually(lambda: burner.pid in busy(), 60)
        burner.kill()
    assert look(Host(), 0) is None


def busy() -> set[int]:
    seen = look(Host(), 0.1)
    assert seen is not None
    return {pid for pid, share in seen.shares().items() if share > 0.05}
