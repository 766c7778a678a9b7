"""The lab on this host: start its parts, keep them up, stop them."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep

from prefect.client.orchestration import SyncPrefectClient

from benchyard.core.errors import BenchyardError
from benchyard.lab import state
from benchyard.lab.exploring import ExplorerPart
from benchyard.lab.server import wait_for_answer
from benchyard.lab.supervisor import LabProcess, Requests, Say
from benchyard.lab.where import Where, is_surely_sqlite
from benchyard.process.labels import kill_labelled, labelled, owner_is_alive, this_owner
from tasks import names
from tasks.pools import online_workers
from tasks.prefect_internals import our_client

#: Seconds for a server to answer: 8 s on two idle cores, with a database to be made.
SERVER_SECONDS = 120.0
#: Seconds for the workers to say to the server that they are there.
_WORKERS_SECONDS = 90.0
_LOOK_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class TestbedPlan:
    """How this host takes part in a lab.

    Args:
        name: Of the testbed and its worker.
        queue: Its own queue; ``default`` for none.
        tags: That cases may ask for.
        checkout: Whose flows and cases are executed.
        allowed: Further folders that parameters of flow runs may name.
    """

    __test__ = False  # keeps pytest from collecting a class that is named Test…

    name: str
    queue: str
    tags: Sequence[str]
    checkout: Path
    allowed: Sequence[Path] = ()


@dataclass
class Lab:
    """The parts of a lab on this host.

    Args:
        say: Tells the user a line.
    """

    where: Where
    testbed: TestbedPlan
    say: Say
    server: LabProcess | None = None
    workers: list[LabProcess] = field(default_factory=list[LabProcess])
    explorer: ExplorerPart | None = None

    @property
    def parts(self) -> list[LabProcess]:
        """Its processes, the one that others need first."""
        server = [self.server] if self.server else []
        return [*server, *self.workers, *([self.explorer.part] if self.explorer else [])]

    def start_server(self, database_url: str | None) -> None:
        """Start our own server and wait until it answers.

        Raises:
            BenchyardError: If it dies, or does not answer for two minutes.
        """
        settings = {**self.where.environment(database_url), names.LAB: this_owner()}
        bind = ["--host", str(self.where.bind), "--port", str(self.where.port)]
        start = ["server", "start", *bind]
        folder = self.testbed.checkout
        server = LabProcess(names.SERVER_PART, "benchyard.lab.serving", start, settings, folder)
        self.server = server
        server.start()
        if not wait_for_answer(self.where.api, SERVER_SECONDS, lambda: server.alive):
            raise BenchyardError(
                f"the Prefect server did not come up: {server.last_words()} (log {server.log})"
            )

    def start_explorer(self, explorer: ExplorerPart) -> None:
        """Start the process that shows the results; the workers that start later link to it."""
        self.explorer = explorer
        explorer.part.start()

    def start_testbed(self) -> None:
        """Start the worker that measures: one flow run at a time."""
        testbed = self.testbed
        queues = list(dict.fromkeys([testbed.queue, names.DEFAULT_QUEUE]))
        own = {names.TESTBED: testbed.name, names.TAGS: ",".join(testbed.tags)}
        self._start(names.TESTBEDS, 1, queues, own)

    def start_control(self) -> None:
        """Start the worker for everything that does not measure."""
        self._start(names.CONTROL, names.CONTROL_LIMIT, [names.DEFAULT_QUEUE], {})

    def _start(self, pool: str, limit: int, queues: list[str], own: dict[str, str]) -> None:
        name, checkout = self.testbed.name, self.testbed.checkout
        folders = [checkout, *self.testbed.allowed]
        settings = {
            names.SERVER: self.where.api,
            names.LAB: this_owner(),
            names.ROOT: str(checkout),
        }
        settings[names.ALLOWED] = os.pathsep.join(str(folder.resolve()) for folder in folders)
        if self.explorer is not None:
            settings[names.EXPLORER] = self.explorer.url
        part = LabProcess(
            f"worker {pool} {name}",
            "benchyard.lab.working",
            [pool, name, str(limit), *queues],
            {**settings, **own},
            checkout,
        )
        self.workers.append(part)
        part.start()

    def wait_for_workers(self) -> None:
        """Wait until the server holds all workers for alive.

        Raises:
            BenchyardError: If one of them dies, or says nothing for a while.
        """
        latest = monotonic() + _WORKERS_SECONDS
        with our_client() as client:
            while not all(_is_online(client, part) for part in self.workers):
                dead = [part for part in self.workers if not part.alive]
                if dead or monotonic() > latest:
                    part = (dead or self.workers)[0]
                    raise BenchyardError(
                        f"the {part.name} did not come up: {part.last_words()} (log {part.log})"
                    )
                sleep(_LOOK_SECONDS)
            count = len(online_workers(client, names.TESTBEDS))
            if count > 1 and is_surely_sqlite(client):
                self.say(
                    f"{count} testbeds share a server on SQLite, which takes one writer at a time "
                    "and refuses some requests, which are asked again; give it a PostgreSQL "
                    "database (benchyard up --database-url)"
                )

    def keep_up(self, requests: Requests) -> None:
        """Restart parts that exit, until the user asks the lab to stop."""
        while not requests.count:
            self.see_to(self.parts)
            times = [part.again_at for part in self.parts if part.again_at is not None]
            requests.sleep(min(times) - monotonic() if times else None)

    def see_to(self, parts: Sequence[LabProcess]) -> None:
        """Take note of the parts that have ended, and start those again whose time has come."""
        for part in parts:
            how = part.reap()
            if how is not None:
                self.say(
                    f"the {part.name} ended ({how}) and starts again in {part.delay:.0f} s; "
                    f"its log is {part.log}"
                )
            if part.again_at is not None and part.again_at <= monotonic():
                part.start()

    def abandon(self) -> None:
        """End everything at once; nothing has been measured yet."""
        with ExitStack() as ends:
            for part in self.parts:
                ends.callback(part.end, 5, at_once=True)
        kill_lab()


def kill_lab() -> None:
    """Kill whatever of this process's lab is left."""
    owner = this_owner()
    kill_labelled(names.LAB, lambda value: value == owner)


def _is_online(client: SyncPrefectClient, part: LabProcess) -> bool:
    pool, name = part.arguments[:2]
    return name in online_workers(client, pool)


def wait_for_dead_labs(say: Say) -> None:
    """Wait until labs of this host whose supervisor was killed have wound up.

    Their flow runs may finish; the server ends by itself after them.
    """
    told = False
    while dead := _dead_labs():
        if not told:
            pids = ", ".join(map(str, sorted(dead)))
            say(
                "a lab on this host was killed and is winding up: waiting for its flow runs to "
                f"finish (processes {pids}); Ctrl-C gives up"
            )
            told = True
        sleep(1)


def _dead_labs() -> list[int]:
    """Return the processes of labs of this home that are dead."""
    here = {pid for pid, home in labelled(names.HOME) if home == str(state.folder())}
    return [pid for pid, owner in labelled(names.LAB) if pid in here and not owner_is_alive(owner)]
