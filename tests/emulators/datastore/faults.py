"""Faults to order: the next calls, or some of all, fail, come late, or cut the line."""

import os
import random
import re
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import grpc

from tests.emulators.datastore.protocol import RefusedError, invalid

When = Literal["before", "half", "after"]
Act = Literal["fail", "slow", "drop", "die"]
_TCP = (socket.AF_INET, socket.SOCK_STREAM)


@dataclass(slots=True)
class Fault:
    """One order.

    Args:
        act: What happens.
        status: Of a failure, the name of gRPC's status.
        seconds: Of a delay.
        methods: Which calls it is for, such as ``Commit``; none for all.
        when: Before the call is done, after it, or in the middle of it: a failed commit has done
            its first half then, and a server that dies has written half of it to its file.
        times: How often it happens; None for always.
        skip: How many such calls pass before the first.
        probability: Of happening to a call that it is for.
        seed: Of the chance.
        holding: Only calls whose request holds this text.
    """

    act: Act
    status: str = "UNAVAILABLE"
    seconds: float = 0.0
    methods: Sequence[str] = ()
    when: When = "before"
    times: int | None = 1
    skip: int = 0
    probability: float = 1.0
    seed: int = 0
    holding: str = ""
    chance: random.Random = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)  # noqa: S311 - a fault is no secret

    def strikes(self, method: str, raw: bytes) -> bool:
        """Tell whether this call is hit, and count it."""
        if self.times == 0 or (self.methods and method not in self.methods):
            return False
        if self.holding.encode() not in raw:
            return False
        if self.skip:
            self.skip -= 1
            return False
        if self.chance.random() >= self.probability:
            return False
        self.times = None if self.times is None else self.times - 1
        return True


class Faults:
    """All orders, and the counts of what was called. For several threads at once."""

    def __init__(self) -> None:
        self._orders: list[Fault] = []
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def order(self, fault: Fault) -> None:
        """Add an order to those there are."""
        if fault.act == "fail" and fault.status not in grpc.StatusCode.__members__:
            invalid(f"there is no status {fault.status}")
        with self._lock:
            self._orders.append(fault)

    def clear(self, *, counts: bool = True) -> None:
        """Take all orders back."""
        with self._lock:
            self._orders.clear()
            if counts:
                self._counts.clear()

    def count(self, what: str, more: int = 1) -> None:
        """Count something that happened."""
        with self._lock:
            self._counts[what] += more

    def counts(self) -> dict[str, int]:
        """Return the counts."""
        with self._lock:
            return dict(self._counts)

    def of_call(self, method: str, raw: bytes) -> Fault | None:
        """Return what happens to a call; nobody else gets it."""
        with self._lock:
            return next((fault for fault in self._orders if fault.strikes(method, raw)), None)


def suffer(fault: Fault | None, when: When, peer: str) -> None:
    """Let a fault happen if its time has come.

    Args:
        peer: The client, as gRPC names it.

    Raises:
        RefusedError: If the call fails.
    """
    if fault is None or fault.when != when:
        return
    match fault.act:
        case "slow":
            time.sleep(fault.seconds)
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "drop":
            cut(peer)
            raise RefusedError(grpc.StatusCode.UNAVAILABLE, "the line was cut")
        case "fail":
            status = grpc.StatusCode[fault.status]
            raise RefusedError(status, f"{fault.status} by order of the test")


def cut(peer: str) -> None:
    """Cut the connection to a client, as a network does: gRPC itself has no way to do so.

    Args:
        peer: As gRPC names it: ``ipv4:127.0.0.1:40404``.
    """
    port = int(re.findall(r"\d+", peer)[-1])
    for descriptor in Path("/proc/self/fd").iterdir():
        # Of what is no connection, the name of its peer is an error.
        with suppress(OSError), socket.fromfd(int(descriptor.name), *_TCP) as connection:
            if connection.getpeername()[1:2] == (port,):
                connection.shutdown(socket.SHUT_RDWR)
