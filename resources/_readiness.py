"""Ports of this host, and ways to know that a server takes commands, each up to a deadline.

What is waited for may be a container or a process of this host. Each way ends at once when it dies.
Those that must ask do so again and again, and rest between for as long as the answer may be late.
"""

import re
import socket
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Protocol

from benchyard.core.errors import InputError, NotReadyError, ResourceError
from benchyard.run.checks import PatternSearch

#: Servers that a case starts are there for this host alone.
LOOPBACK = "127.0.0.1"
#: Seconds between two questions.
PAUSE = 0.02
#: The same between two looks at what a server says, and bytes that are read at once.
_LOG_PAUSE, _PIECE = 0.005, 1 << 16
#: Seconds after which the end of what is waited for is known.
NOTICE_SECONDS = 1.0
#: Seconds that one question may take.
PATIENCE = 5.0


def is_port(text: str) -> bool:
    """Tell whether a text is the number of a port."""
    return text.isascii() and text.isdigit() and len(text) <= 5 and 0 < int(text) < 65536


def is_free(port: int) -> bool:
    """Tell whether a server could listen at a port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """Return a port that the kernel chose; it is free until somebody takes it."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


class Awaited(Protocol):
    """A server that is waited for."""

    #: What errors call it, such as ``the container of 'redis:7'``.
    title: str

    @property
    def running(self) -> bool:
        """Whether it was started and, for all we know, has not ended."""
        ...

    def wait(self, timeout: float | None = None) -> object | None:
        """Wait until it ends; None if the time (s) was over before."""
        ...

    def address(self) -> str | None:
        """Return where its ports are asked, or None if nowhere."""
        ...

    def succeeds(self, command: Sequence[str]) -> bool:
        """Execute a program where it is, and tell whether that ended well."""
        ...

    def logs(self) -> Sequence[Path]:
        """Return the files with what it says, whole as soon as it does not run any more."""
        ...

    def said(self) -> str:
        """Return the end of what it said."""
        ...

    def died(self, doing: str) -> NotReadyError:
        """Return the error for one that should run and does not."""
        ...


@dataclass(frozen=True)
class Readiness:
    """A way to know that a server takes commands.

    Args:
        words: What is waited for.
        wait: Waits until then; False if it is not ready by a time on the monotonic clock (s), or
            died.
    """

    words: str
    wait: Callable[[Awaited, float], bool] = field(compare=False)

    def __str__(self) -> str:
        return self.words


def asking(words: str, ask: Callable[[Awaited], bool]) -> Readiness:
    """Return the way that asks until the answer is right.

    Args:
        words: What is waited for.
        ask: Asks once, and tells whether it is ready.
    """

    def wait(awaited: Awaited, deadline: float) -> bool:
        while awaited.running and time.monotonic() < deadline:
            try:
                if ask(awaited):
                    return True
            except NotReadyError:
                raise
            except ResourceError:
                # One that just died cannot be asked; that it did is known a moment later.
                if awaited.wait(NOTICE_SECONDS) is None:
                    raise
            awaited.wait(PAUSE)
        return False

    return Readiness(words, wait)


def log_pattern(pattern: str) -> Readiness:
    """Return the way that waits until it says so.

    It raises a ``NotReadyError`` if looking for that takes too long.

    Args:
        pattern: Regular expression, found in what it writes to stdout or stderr.
    """
    return Readiness(f"its output has '{pattern}'", partial(_says, pattern))


def _says(pattern: str, awaited: Awaited, deadline: float) -> bool:
    search = PatternSearch(pattern)
    with ExitStack() as files:
        files.callback(search.give_up)
        logs = [files.enter_context(path.open("rb")) for path in awaited.logs()]
        while time.monotonic() < deadline:
            running = awaited.running
            pieces = [log.read(_PIECE) for log in logs]
            # It takes no more once it was found, or cannot be looked for.
            if not all(search.feed(number, piece) for number, piece in enumerate(pieces)):
                return search.wait(deadline)
            if not any(pieces) and not running:
                search.finish()
                return search.wait(deadline)
            if not any(pieces):
                awaited.wait(_LOG_PAUSE)
    return False


def tcp_port(port: int) -> Readiness:
    """Return the way that waits until something listens.

    Args:
        port: Of the server. A container's own address is asked: on this host's loopback the
            engine's proxy listens, whether or not the container does.
    """

    def takes_connections(awaited: Awaited) -> bool:
        address = awaited.address()
        with suppress(OSError):
            if address is not None:
                socket.create_connection((address, port), PATIENCE).close()
                return True
        return False

    return asking(f"its port {port} takes connections", takes_connections)


def http_url(port: int, path: str = "/") -> Readiness:
    """Return the way that waits until it answers over HTTP.

    Args:
        port: Of the server; see ``tcp_port``.
        path: With the query, if there is one.
    """

    def answers(awaited: Awaited) -> bool:
        address = awaited.address()
        if address is None:
            return False
        connection = HTTPConnection(address, port, timeout=PATIENCE)
        with closing(connection), suppress(OSError, HTTPException):
            connection.request("GET", path)
            return connection.getresponse().status == 200
        return False

    return asking(f"http://…:{port}{path} answers 200", answers)


def wait_until_ready(awaited: Awaited, ways: Sequence[Readiness], seconds: float) -> None:
    """Wait until a server is ready in every way that is given.

    Raises:
        NotReadyError: If it died, or the time is over; with the end of what it said.
    """
    deadline = time.monotonic() + seconds
    for way in ways:
        if way.wait(awaited, deadline):
            continue
        if time.monotonic() < deadline:
            # Its streams may end a moment before it is known how it ended.
            awaited.wait(max(0.0, deadline - time.monotonic()))
            raise awaited.died(f"it was waited for that {way}")
        raise NotReadyError(
            f"{awaited.title} was not ready after {seconds:g} s: it was "
            f"waited for that {way}; it said: {awaited.said()}"
        )


# -- as cases write them


def ways_of(given: Mapping[str, Any]) -> list[Readiness]:
    """Return the ways that ``ready`` gives for containers and services alike.

    Raises:
        InputError: If one is no way.
    """
    ways: list[Readiness] = []
    if "log" in given:
        pattern = given["log"]
        _require(is_pattern(pattern), f"log is '{pattern}', which is no regular expression")
        ways.append(log_pattern(pattern))
    if "tcp" in given:
        port = given["tcp"]
        _require(is_port(str(port)), f"tcp is {port}; ports are 1 to 65535")
        ways.append(tcp_port(int(port)))
    if "http" in given:
        text = given["http"]
        port, slash, path = text.removeprefix(":").partition("/")
        _require(is_port(port), f"http is '{text}'; write port and path, like 8080/health")
        ways.append(http_url(int(port), slash + path or "/"))
    if "command" in given:
        program = given["command"]
        _require(program, "command is empty; give program and arguments")
        ways.append(asking(f"'{program[0]}' succeeds in it", lambda it: it.succeeds(program)))
    return ways


def _require(is_right: object, what: str) -> None:
    if not is_right:
        raise InputError(f"ready.{what}")


def is_pattern(text: str) -> bool:
    """Tell whether ``text`` is a regular expression that can be used."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(text.encode())
    except (re.error, OverflowError, RecursionError):
        return False
    return True
