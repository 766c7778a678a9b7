"""A Datastore for tests, in a process of its own: ``with running(index=…) as emulator``.

With ``BENCHYARD_DATASTORE_EMULATOR=gcloud`` it is Google's own emulator, where that is installed;
faults cannot be ordered there, and a test that orders some is skipped.
"""

import os
import signal
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from unittest import mock

import pytest
from google.cloud import datastore

from tests.emulators.datastore import server
from tests.emulators.datastore.faults import When
from tests.emulators.datastore.starting import (
    PATIENCE,
    Child,
    Googles,
    Index,
    Kind,
    Ours,
    ended,
    googles_program,
)

PROJECT = "benchyard-test"
SWITCH = "BENCHYARD_DATASTORE_EMULATOR"


class Faults:
    """What a test orders to go wrong.

    Args:
        emulator: Where.
    """

    def __init__(self, emulator: "Emulator") -> None:
        self._emulator = emulator

    def fail(
        self,
        status: str = "UNAVAILABLE",
        *,
        times: int | None = 1,
        methods: Sequence[str] = (),
        skip: int = 0,
        when: When = "before",
        probability: float = 1.0,
        seed: int = 0,
        holding: str = "",
    ) -> None:
        """Answer calls with an error.

        Args:
            status: The name of gRPC's status.
            times: How many calls; None for all.
            methods: Which ones, such as ``Commit``; none for all.
            skip: How many such calls pass before.
            when: ``after`` if the call is done all the same; ``half`` if the first half of a
                commit's mutations is, as may happen outside of a transaction.
            probability: Of failing; with a seed.
            holding: Only calls whose request holds this text.
        """
        self._order(
            "fail",
            status=status,
            times=times,
            methods=methods,
            skip=skip,
            when=when,
            probability=probability,
            seed=seed,
            holding=holding,
        )

    def slow(
        self,
        seconds: float,
        *,
        times: int | None = 1,
        methods: Sequence[str] = (),
        skip: int = 0,
        when: When = "before",
    ) -> None:
        """Answer calls so much later."""
        order = {"seconds": seconds, "methods": methods, "skip": skip, "when": when}
        self._order("slow", times=times, **order)

    def drop(
        self,
        *,
        times: int | None = 1,
        methods: Sequence[str] = (),
        skip: int = 0,
        when: When = "before",
    ) -> None:
        """Cut the connection instead of an answer; ``after`` if the call is done all the same."""
        self._order("drop", times=times, methods=methods, skip=skip, when=when)

    def die(
        self, *, methods: Sequence[str] = ("Commit",), skip: int = 0, when: When = "half"
    ) -> None:
        """Kill the server at a call: before it is done, half-way of the journal, or after it."""
        self._order("die", times=1, methods=methods, skip=skip, when=when)

    def clear(self) -> None:
        """Take all orders back."""
        self._emulator.ordered({"do": "no-faults"})

    def _order(self, act: str, **order: Any) -> None:
        self._emulator.ordered({"do": "fault", "act": act, **order})


@dataclass(slots=True)
class Emulator:
    """A server for tests.

    Args:
        kind: How it is started.
        address: ``127.0.0.1:`` and its port; the same one after a restart.
    """

    kind: Kind
    project: str = PROJECT
    address: str = ""
    _child: Child | None = None
    _clients: list[Any] = field(default_factory=list[Any])

    @property
    def environment(self) -> dict[str, str]:
        """The variables that point Google's client to it."""
        return {"DATASTORE_EMULATOR_HOST": self.address, "GOOGLE_CLOUD_PROJECT": self.project}

    @property
    def is_ours(self) -> bool:
        """Whether it is this folder's server."""
        return isinstance(self.kind, Ours)

    @property
    def faults(self) -> Faults:
        """What goes wrong in it; a test with Google's emulator is skipped."""
        self.need_ours()
        return Faults(self)

    def client(self, **settings: Any) -> Any:
        """Return a client of Google's that speaks to it; it is closed with the server."""
        with mock.patch.dict(os.environ, self.environment):
            made = cast("Any", datastore).Client(project=self.project, **settings)
        self._clients.append(made)
        return made

    def admit(
        self, *, project: str | None = None, database: str | None = None, refused: str | None = None
    ) -> None:
        """Let in only this project and database, or refuse credentials; ``clear`` lets all in."""
        order = {"project": project, "database": database, "refused": refused}
        self.ordered({"do": "admit", **order})

    def counters(self) -> dict[str, int]:
        """Return how often each call came, and how many mutations were done.

        Calls that failed are there by their name and also as ``Commit:UNAVAILABLE``.
        """
        return self.ordered({"do": "count"})

    def clear(self) -> None:
        """Make it forget entities, faults and counts."""
        self.kind.clear(self.address)

    def start(self) -> None:
        """Start it, on the port that it had before if it had one."""
        port = int(self.address.rpartition(":")[2] or 0)
        self._child, port = self.kind.start(port)
        self.address = f"127.0.0.1:{port}"

    def stop(self) -> None:
        """Stop it."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Kill it."""
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        """Kill it if it runs and start it again; with ``data`` it knows what it knew."""
        self.kill()
        self.start()

    def wait(self) -> int:
        """Wait until it has ended by itself, as ``faults.die`` makes it, and return how."""
        return self._child.wait(PATIENCE) if self._child else 0

    def close(self) -> None:
        """Stop it and close its clients."""
        for client in self._clients:
            client.close()
        self.stop()
        self.kind.close()

    def ordered(self, order: dict[str, Any]) -> dict[str, int]:
        """Send an order, as the server's ``control`` knows them."""
        self.need_ours()
        return server.ordered(self.address, order)

    def need_ours(self) -> None:
        """Skip the test unless this folder's server runs."""
        if not self.is_ours:
            pytest.skip("Google's emulator takes no orders and keeps few of the limits")

    def _end(self, number: signal.Signals) -> None:
        if self._child is not None:
            ended(self._child, number)
        self._child = None


@contextmanager
def running(
    index: Index = None,
    *,
    data: Path | None = None,
    legacy: bool = False,
    batch_bytes: int | None = None,
) -> Generator[Emulator]:
    """Give a server that is stopped at the end.

    Args:
        index: An index.yaml; ``any`` answers every query, None only what needs no such index.
        data: A file that keeps the entities when it is killed.
        legacy: Whether more than 500 mutations a commit are refused.
        batch_bytes: After how many bytes a query's answer is cut; 2 MiB unless said.
    """
    plain = data is None and batch_bytes is None and not legacy
    googles = os.environ.get(SWITCH) == "gcloud" and plain
    kind = googles_kind(index) if googles else Ours(index, data, legacy, batch_bytes)
    with running_kind(kind) as emulator:
        yield emulator


def googles_kind(index: Index = None) -> Kind:
    """Return Google's emulator; the test is skipped where there is none."""
    program = googles_program()
    if program is None:
        pytest.skip("Google's emulator of Datastore is not installed")
    return Googles(program, index)


@contextmanager
def running_kind(kind: Kind) -> Generator[Emulator]:
    """Give a server of a kind; it is stopped at the end."""
    emulator = Emulator(kind)
    try:
        emulator.start()
        yield emulator
    finally:
        emulator.close()
