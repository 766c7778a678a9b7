"""Asking the Docker engine of this host, if there is one, without any client of it."""

import json
import os
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from benchyard.core.model import Json, JsonObject
from benchyard.host.facts.reading import UNTOLD, Host

#: Seconds for one answer: an engine that hangs must not hold a run.
ENGINE_TIMEOUT = 0.5
_MOST_BYTES = 16_000_000
_PLACES = ("run/docker.sock", "var/run/docker.sock")


@dataclass(frozen=True, slots=True)
class EngineAnswer:
    """What the engine said.

    Args:
        server: How it names itself, such as ``Docker/26.1.3 (linux)``; "" if it does not.
    """

    server: str
    body: Json


def engine_socket(host: Host) -> Path | None:
    """Return the engine's socket; None for an engine elsewhere, which is no part of this host.

    ``DOCKER_HOST`` is respected; contexts of Docker's own client are not.
    """
    given = os.environ.get("DOCKER_HOST", "")
    if given:
        return Path(given.removeprefix("unix://")) if given.startswith("unix://") else None
    return next((host.at(place) for place in _PLACES if host.has(place)), host.at(_PLACES[0]))


def ask(engine: Path, what: str, timeout: float = ENGINE_TIMEOUT) -> EngineAnswer:
    """Ask the engine for a JSON document.

    Source: Docker Engine API; with HTTP 1.0 the answer ends with the connection.

    Args:
        what: Path of the document, such as ``/info``.
        timeout: Seconds for the whole answer.

    Raises:
        OSError: If nobody answers there, or not in time.
        ValueError: If the answer is no document.
    """
    deadline = time.monotonic() + timeout
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(timeout)
        line.connect(os.fspath(engine))
        line.sendall(f"GET {what} HTTP/1.0\r\nHost: docker\r\n\r\n".encode())
        raw = _all(line, deadline)
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *headers = head.decode("latin-1").split("\r\n")
    if first.split()[1:2] != ["200"]:
        raise ValueError(f"the engine at {engine} answers '{first}' to {what}")
    named = (line.partition(":") for line in headers)
    server = next((value.strip() for name, _, value in named if name.lower() == "server"), "")
    return EngineAnswer(server, json.loads(body))


def _all(line: socket.socket, deadline: float) -> bytes:
    """Receive until the other end closes."""
    parts: list[bytes] = []
    size = 0
    while size < _MOST_BYTES:
        line.settimeout(max(deadline - time.monotonic(), 0.001))
        part = line.recv(65_536)
        if not part:
            break
        if time.monotonic() > deadline:
            raise TimeoutError("the engine did not finish its answer in time")
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def docker(host: Host) -> JsonObject | None:
    """Return what ``case-info.txt`` tells of the engine; None if none answers."""
    engine = engine_socket(host)
    if engine is None or not engine.is_socket():
        return None
    try:
        told = ask(engine, "/info").body
    except UNTOLD:
        return None
    if not isinstance(told, dict):
        return None
    driver, version = told.get("CgroupDriver"), told.get("CgroupVersion")
    return {
        "version": told.get("ServerVersion"),
        "root": told.get("DockerRootDir"),
        "storage": told.get("Driver"),
        "cgroup": f"{driver} v{version}" if driver and version else driver,
    }


def running(told: Json) -> list[JsonObject]:
    """Return the containers of an answer to ``/containers/json``."""
    listed = cast("list[Json]", told) if isinstance(told, list) else []
    return [entry for entry in listed if isinstance(entry, dict)]
