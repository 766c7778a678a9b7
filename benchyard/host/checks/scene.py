"""What the checks look at: the host's files, a look at its counters, what answers a question."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TypeAlias

from benchyard.core.model import Json
from benchyard.host.checks.clocks import ClockState
from benchyard.host.checks.finding import Finding
from benchyard.host.checks.look import Look
from benchyard.host.facts.engine import ask, engine_socket
from benchyard.host.facts.processor import online
from benchyard.host.facts.reading import UNTOLD, Host

#: Seconds for the engine's answer: one that is slower than this is worth a finding itself.
_PATIENCE = 0.2


class Contact(Enum):
    """Whether the Docker engine of this host answers."""

    ABSENT = "there is no socket"
    ELSEWHERE = "it is on another host"
    REFUSED = "this user may not ask"
    SILENT = "it does not answer"
    ANSWERS = "it answers"


@dataclass(frozen=True, slots=True)
class Engine:
    """The Docker engine, as it answered.

    Args:
        place: Its socket.
        server: How it names itself.
        containers: What it says of the running ones; None if it did not answer.
    """

    contact: Contact
    place: str = ""
    server: str = ""
    containers: Json = None


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that a check may use.

    Args:
        look: None if there was no time for one.
        results: Folder for results.
        temporary: Folder for temporary files.
        clock: What the kernel says of its clock; None if it does not.
        user: Effective user id.
    """

    host: Host
    results: Path
    temporary: Path
    look: Look | None = None
    engine: Engine = Engine(Contact.ABSENT)
    clock: ClockState | None = None
    user: int = 0

    @property
    def cores(self) -> int:
        """How many CPUs are online."""
        return len(online(self.host))


def meet_engine(host: Host) -> Engine:
    """Ask the Docker engine for its running containers."""
    place = engine_socket(host)
    if place is None:
        return Engine(Contact.ELSEWHERE, os.environ.get("DOCKER_HOST", ""))
    if not os.access(place, os.F_OK):
        return Engine(Contact.ABSENT, str(place))
    try:
        answer = ask(place, "/containers/json", _PATIENCE)
    except PermissionError:
        return Engine(Contact.REFUSED, str(place))
    except UNTOLD:
        return Engine(Contact.SILENT, str(place))
    return Engine(Contact.ANSWERS, str(place), answer.server, answer.body)


#: Name of each check to what makes it; None is a check that does not apply to this host.
Checks: TypeAlias = Mapping[str, Callable[[Scene], Finding | None]]
