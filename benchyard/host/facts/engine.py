"""The Docker engine of this host, if there is one, asked without any client of it."""

import json
import os
import socket
import time
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import cast

from benchyard.core.model import Json, JsonObject
from benchyard.host.facts.reading import UNTOLD, Host

#: Seconds for the whole answer: an engine that hangs must not hold a run.
ENGINE_TIMEOUT = 0.5
_MOST_BYTES = 16_000_000
_PLACES = ("run/docker.sock", "var/run/docker.sock")


class Contact(Enum):
    """Whether the Docker engine of this host answers."""

    ABSENT = "there is no socket"
    ELSEWHERE = "it is on another host"
    REFUSED = "this user may not ask"
    SILENT = "it does not answer"
    ANSWERS = "it answers"


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """The Docker engine, as it answered.

    Args:
        place: Its socket, or the other host.
        server: How it names itself, such as ``Docker/26.1.3 (linux)``; "" if it does not.
        body: The document that was asked for; None if it did not answer.
    """

    contact: Contact
    place: str = ""
    server: str = ""
    body: Json = None


def meet_engine(host: Host, what: str, timeout: float = ENGINE_TIMEOUT) -> EngineFacts:
    """Ask the engine for a JSON document; nothing of it is an error.

    ``DOCKER_HOST`` is respected; contexts of Docker's own client are not.

    Args:
        what: Path of the document, such as ``/info``.
        timeout: Seconds for the whole answer.
    """
    given = os.environ.get("DOCKER_HOST", "")
    if given and not given.startswith("unix://"):
        return EngineFacts(Contact.ELSEWHERE, given)
    there = next((host.at(place) for place in _PLACES if host.has(place)), host.at(_PLACES[0]))
    place = given.removeprefix("unix://") or str(there)
    if not os.access(place, os.F_OK):
        return EngineFacts(Contact.ABSENT, place)
    try:
        server, body = ask(place, what, timeout)
    except PermissionError:
        return EngineFacts(Contact.REFUSED, place)
    except UNTOLD:
        return EngineFacts(Contact.SILENT, place)
    return EngineFacts(Contact.ANSWERS, place, server, body)


def ask(place: str | Path, what: str, timeout: float) -> tuple[str, Json]:
    """Return how the engine at a socket names itself, and the document asked for.

    Source: Docker Engine API; with HTTP 1.0 the answer ends with the connection.

    Raises:
        OSError: If nobody answers there, or not in time.
        ValueError: If the answer is no document.
    """
    deadline = time.monotonic() + timeout
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(timeout)
        line.connect(os.fspath(place))
        line.sendall(f"GET {what} HTTP/1.0\r\nHost: docker\r\n\r\n".encode())
        raw = bytearray()
        while len(raw) < _MOST_BYTES:
            line.settimeout(max(deadline - time.monotonic(), 0.001))
            if not (part := line.recv(65_536)):
                break
            raw += part
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *headers = head.decode("latin-1").split("\r\n")
    if first.split()[1:2] != ["200"]:
        raise ValueError(f"the engine at {place} answers '{first}' to {what}")
    named = (header.partition(":") for header in headers)
    server = next((value.strip() for name, _, value in named if name.lower() == "server"), "")
    return server, json.loads(body)


def docker(host: Host) -> JsonObject | None:
    """Return what ``case-info.txt`` tells of the engine; None if none answers."""
    told = meet_engine(host, "/info").body
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
