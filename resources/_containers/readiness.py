"""Ways to know that a container takes commands, each up to a deadline.

Each way ends at once when the container dies. Two of them are told of the moment by the engine;
those that must ask do so again and again, and rest between for as long as the answer may be late.
"""

import re
import socket
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import Any

from benchyard.core.errors import NotReadyError
from resources._containers.container import LiveContainer
from resources._containers.engine import EngineError

#: Seconds between two questions.
PAUSE = 0.02
#: Seconds after which the end of a container is known.
NOTICE_SECONDS = 1.0
#: Seconds that one question may take.
PATIENCE = 5.0


class Readiness(ABC):
    """A way to know that a container takes commands."""

    def prepare(self, container: LiveContainer) -> None:
        """Called before the container starts."""
        del container

    @abstractmethod
    def wait(self, container: LiveContainer, deadline: float) -> bool:
        """Wait; return False if it is not ready by then or died.

        Args:
            deadline: On the monotonic clock, in seconds.
        """


class Asking(Readiness):
    """A way that asks until the answer is right."""

    @abstractmethod
    def is_ready(self, container: LiveContainer) -> bool:
        """Ask once."""

    def wait(self, container: LiveContainer, deadline: float) -> bool:
        """Ask until it is ready, dead, or too late."""
        while container.running and time.monotonic() < deadline:
            try:
                if self.is_ready(container):
                    return True
            except EngineError:
                # One that just died cannot be asked; that it did is known a moment later.
                if container.wait(NOTICE_SECONDS) is None:
                    raise
            container.wait(PAUSE)
        return False


@dataclass(frozen=True, slots=True)
class LogPattern(Readiness):
    """It says so.

    Args:
        pattern: Regular expression, found in what it writes to stdout or stderr.
    """

    pattern: str

    def prepare(self, container: LiveContainer) -> None:
        """Look for the pattern from the first line on."""
        container.follower.expect(self.pattern)

    def wait(self, container: LiveContainer, deadline: float) -> bool:
        """Wait for the line."""
        return container.follower.wait(deadline)

    def __str__(self) -> str:
        return f"its output has '{self.pattern}'"


@dataclass(frozen=True, slots=True)
class TcpPort(Asking):
    """Something listens.

    Args:
        port: Of the container. Its own address is asked: on this host's loopback the engine's
            proxy listens, whether or not the container does.
    """

    port: int

    def is_ready(self, container: LiveContainer) -> bool:
        """Try to connect."""
        address = container.address()
        if address is None:
            return False
        try:
            socket.create_connection((address, self.port), PATIENCE).close()
        except OSError:
            return False
        return True

    def __str__(self) -> str:
        return f"its port {self.port} takes connections"


@dataclass(frozen=True, slots=True)
class HttpUrl(Asking):
    """It answers over HTTP.

    Args:
        port: Of the container; see ``TcpPort``.
        path: With the query, if there is one.
        statuses: Answers that mean that it is ready.
    """

    port: int
    path: str = "/"
    statuses: Sequence[int] = (200,)

    def is_ready(self, container: LiveContainer) -> bool:
        """Ask for the path."""
        address = container.address()
        if address is None:
            return False
        connection = HTTPConnection(address, self.port, timeout=PATIENCE)
        try:
            connection.request("GET", self.path)
            return connection.getresponse().status in self.statuses
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()

    def __str__(self) -> str:
        return f"http://…:{self.port}{self.path} answers {' or '.join(map(str, self.statuses))}"


@dataclass(frozen=True, slots=True)
class Healthy(Asking):
    """The engine finds it healthy."""

    def is_ready(self, container: LiveContainer) -> bool:
        """Ask the engine."""
        state: Any = container.inspected()["State"]
        health = state.get("Health")
        if health is None:
            raise NotReadyError(
                f"the image '{container.spec.image}' has no health check; give 'health_check', or "
                "another way under 'ready'"
            )
        if health["Status"] == "unhealthy":
            tries: list[Any] = health.get("Log") or [{}]
            said = str(tries[-1].get("Output", "")).strip()
            raise NotReadyError(f"the container of '{container.spec.image}' is unhealthy: {said}")
        return health["Status"] == "healthy"

    def __str__(self) -> str:
        return "the engine finds it healthy"


@dataclass(frozen=True, slots=True)
class Answers(Asking):
    """A program in it succeeds.

    Args:
        command: Program and arguments.
    """

    command: Sequence[str]

    def is_ready(self, container: LiveContainer) -> bool:
        """Execute the program."""
        with container.program(self.command) as program:
            for _ in program.pieces():
                pass
            return program.exit_code() == 0

    def __str__(self) -> str:
        return f"'{self.command[0]}' succeeds in it"


def wait_until_ready(container: LiveContainer, ways: Sequence[Readiness], seconds: float) -> None:
    """Wait until a container is ready in every way that is given.

    Raises:
        NotReadyError: If it died, or the time is over; with the end of what it said.
    """
    deadline = time.monotonic() + seconds
    for way in ways:
        if way.wait(container, deadline):
            continue
        if time.monotonic() < deadline:
            # Its streams may end a moment before the engine knows how it ended.
            container.wait(max(0.0, deadline - time.monotonic()))
            raise container.died(f"it was waited for that {way}")
        raise NotReadyError(
            f"the container of '{container.spec.image}' was not ready after {seconds:g} s: it was "
            f"waited for that {way}; it said: {container.follower.said()}"
        )


def is_pattern(text: str) -> bool:
    """Tell whether ``text`` is a regular expression that can be used."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(text.encode())
    except (re.error, OverflowError, RecursionError):
        return False
    return True
