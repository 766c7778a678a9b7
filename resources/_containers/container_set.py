"""The containers of one resource, made, run, killed and removed together with their volumes."""

import os
import threading
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from benchyard.core.errors import SIGNALLED, CommandFailedError
from benchyard.core.model import JsonObject
from benchyard.host.counters.lives import Sight
from benchyard.process.cgroups import Cgroup
from benchyard.process.labels import CHILD, kill_labelled
from benchyard.process.usage import Life
from resources._containers import Exit, Specification, expected_place, oom_kills, own_group
from resources._containers.container import LiveContainer, ProgramCall
from resources._containers.engine import Client, EngineError, answers, connect, facts, telling
from resources._containers.network import ensure_network, leave_network
from resources._containers.streams import Follower

#: Seconds after which the end of a container is known.
A_MOMENT = 1.0


class ContainerSet:
    """Thread-safe: it may be aborted while it is at work.

    Args:
        title: Of the resource; a part of the containers' names.
        label: By which every process in its containers is known on this host.
        labels: Of the run; network and volumes carry them.
        changed: Called whenever other containers run.
    """

    def __init__(
        self, title: str, label: str, labels: Mapping[str, str], changed: Callable[[], None]
    ) -> None:
        self._title = title
        self._label = label
        self._labels = labels
        self._changed = changed
        self._lock = threading.Lock()
        self._containers: list[LiveContainer] = []
        self._is_engine_gone = False
        #: The run's network, once it was made.
        self.network: str | None = None
        #: Name to where it is mounted.
        self.volumes: dict[str, str] = {}
        #: The accounts of what ended; it only grows.
        self.lives: list[Life] = []
        #: Whether it was killed; then it starts nothing any more.
        self.aborted = False

    # -- the engine, the network and the volumes

    @cached_property
    def engine(self) -> Client:
        """The connection to the engine.

        Raises:
            EngineError: If none answers.
        """
        return connect()

    @cached_property
    def engine_facts(self) -> JsonObject:
        """What the engine says of itself."""
        return facts(self.engine)

    def engine_answers(self) -> bool:
        """Tell whether the engine answers; one that did not is not waited for again."""
        self._is_engine_gone = self._is_engine_gone or not answers(self.engine.api)
        return not self._is_engine_gone

    def prepare(self, folders: Iterable[str]) -> None:
        """Make the run's network, and an empty volume for each of these folders of containers.

        Raises:
            EngineError: If the engine cannot.
        """
        self.network = ensure_network(self.engine, self._labels)
        for folder in folders:
            name = f"benchyard-{uuid.uuid4().hex}"
            with telling("cannot make a volume"):
                self.engine.api.create_volume(name, labels=dict(self._labels))
            self.volumes[name] = folder

    def close(self) -> None:
        """Remove network and volumes; what the engine cannot remove now, the next run removes.

        Raises:
            EngineError: If the engine does not answer.
        """
        try:
            if self.network is not None or self.volumes:
                self._remove_from_engine()
        finally:
            if "engine" in self.__dict__:
                self.engine.close()

    def _remove_from_engine(self) -> None:
        if not self.engine_answers():
            leave_network(self._labels)
            raise EngineError(
                "the Docker engine does not answer; what the run made there is removed at the "
                "start of the next one"
            )
        for name in self.volumes:
            with suppress(EngineError), telling(f"cannot remove the volume '{name}'"):
                self.engine.api.remove_volume(name, force=True)
        if self.network is not None:
            leave_network(self._labels, self.engine)

    # -- containers

    def _new(self, spec: Specification, stdout: Path, stderr: Path) -> LiveContainer:
        name = f"benchyard-{self._title.lower()}-{uuid.uuid4().hex[:12]}"
        return LiveContainer(self.engine, spec, name, stdout, stderr)

    def create(self, spec: Specification, stdout: Path, stderr: Path) -> LiveContainer:
        """Create a container.

        Args:
            stdout: Where its standard output goes.
            stderr: Where its standard error goes.

        Raises:
            CommandFailedError: If it was aborted.
            EngineError: If the engine cannot.
        """
        self.refuse_aborted(spec)
        container = self._new(spec, stdout, stderr)
        with self._lock:
            self._containers.append(container)
        return container

    def start(self, container: LiveContainer) -> int | None:
        """Start a container, and find out where the kernel keeps its account.

        Returns:
            The id of its first process on this host; None if it ended, or is elsewhere.

        Raises:
            CommandFailedError: If it was aborted.
            EngineError: If the engine cannot.
        """
        self.refuse_aborted(container.spec)
        container.start()
        if self.aborted:
            # abort() may have looked before there was something to kill.
            container.kill()
        pid = container.pid()
        container.group = own_group(container.id, pid)
        self._changed()
        return pid if container.group else None

    def run_to_end(self, container: LiveContainer) -> Exit:
        """Start a container and wait for its end.

        Raises:
            CommandFailedError: If it was aborted.
            EngineError: If the engine cannot, or went away.
        """
        place = expected_place(container.id, self.engine_facts["cgroup_driver"])
        sight = Sight(place, is_alone=True)
        try:
            if (pid := self.start(container)) is not None:
                sight.hint(pid)
            ended = container.wait()
        except EngineError:
            # Of a container that is killed the engine may have nothing to say any more.
            self.refuse_aborted(container.spec)
            raise
        finally:
            self.lives.append(life := sight.close())
            self._changed()
        self.refuse_aborted(container.spec)
        assert ended is not None  # noqa: S101 - it was waited for without a deadline
        return replace(ended, run_s=life.span.seconds)

    def run_apart(self, spec: Specification) -> None:
        """Run a container of the lab's own to its end, also after an abort.

        Raises:
            EngineError: If the engine cannot.
        """
        container = self._new(spec, Path(os.devnull), Path(os.devnull))
        try:
            container.start()
            container.wait()
        finally:
            container.remove()

    def execute(
        self,
        container: LiveContainer,
        arguments: Sequence[str],
        follower: Follower,
        call: ProgramCall,
    ) -> Exit:
        """Execute a program in a container that runs, and wait for its end.

        Raises:
            CommandFailedError: If it was aborted, or the container ended.
            EngineError: If the engine cannot, or went away.
        """
        if not container.running:
            raise container.over()
        group = container.group
        killed = oom_kills(group)
        folder = group and (group.folders.get("cpuacct") or group.folders.get(""))
        sight = Sight(folder, is_alone=False) if call.is_watched else None
        life, pid = None, None
        try:
            with container.program(arguments, call) as program:
                follower.follow(program.pieces())
                self.refuse_aborted(container.spec)
                code = program.exit_code(lambda: container.running and not self.aborted)
                pid = program.pid
        except (EngineError, CommandFailedError) as error:
            # In a container that is killed the engine executes nothing any more.
            self.refuse_aborted(container.spec)
            self._refuse_over(container, error)
            raise
        finally:
            if sight is not None:
                self.lives.append(life := sight.close(pid))
        self.refuse_aborted(container.spec)
        if code > SIGNALLED:
            self._refuse_over(container)
        out_of_memory = oom_kills(group) > killed
        run_s = life.span.seconds if life else None
        return Exit(code, out_of_memory, run_s=run_s, has_begun=pid is not None)

    @staticmethod
    def _refuse_over(container: LiveContainer, error: Exception | None = None) -> None:
        """See that a container runs on, whose end may be known a moment after its programs'."""
        with suppress(EngineError):
            container.wait(A_MOMENT)
        if not container.running:
            raise container.over() from error

    def refuse_aborted(self, spec: Specification) -> None:
        """See that it was not killed.

        Raises:
            CommandFailedError: If it was.
        """
        if self.aborted:
            raise CommandFailedError(f"aborted: the containers of '{spec.image}' were killed")

    def abort(self) -> None:
        """Kill every process in every container, even if the engine hangs."""
        with self._lock:
            self.aborted = True
            containers = list(self._containers)
        self._kill_processes()
        if containers:
            # An engine that hangs keeps each of them waiting: side by side, for as long as one.
            with ThreadPoolExecutor(len(containers)) as pool:
                for container in containers:
                    pool.submit(container.kill)

    def _kill_processes(self) -> None:
        """Kill what runs in containers on this host, the engine's help aside."""
        kill_labelled(CHILD, lambda value: value == self._label)

    def tidy(self) -> None:
        """Remove the containers that ended; what cannot be removed is left to ``stop``."""
        with self._lock:
            over = [container for container in self._containers if container.is_over]
        for container in over:
            with suppress(EngineError):
                container.remove()
                with self._lock:
                    self._containers.remove(container)

    def stop(self, seconds: int) -> None:
        """End and remove all containers.

        Args:
            seconds: So long each may take to end when it is asked to; then it is killed.

        Raises:
            EngineError: If one could not be removed.
        """
        with self._lock:
            containers, self._containers = self._containers, []
        if containers and not self.engine_answers():
            self._kill_processes()
            raise EngineError("the Docker engine does not answer; the next run removes containers")
        # The last comes first, and each is removed whatever becomes of the others.
        with ExitStack() as ends:
            for container in containers:
                ends.callback(container.remove)
                if not self.aborted:
                    ends.callback(container.stop, seconds)

    def groups(self) -> Sequence[Cgroup]:
        """Return the control groups that count what the containers use."""
        with self._lock:
            running = [container for container in self._containers if container.running]
        return [container.group for container in running if container.group is not None]
