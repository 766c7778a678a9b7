"""The containers of one resource, made, run, killed and removed together."""

import threading
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from benchyard.core.errors import SIGNALLED, CommandFailedError
from benchyard.process.cgroups import Cgroup
from benchyard.process.labels import CHILD, kill_labelled
from benchyard.process.usage import Life
from resources._containers.container import LiveContainer, ProgramCall
from resources._containers.container_environment import ContainerEnvironment
from resources._containers.engine import EngineError
from resources._containers.specification import Exit, Specification
from resources._containers.streams import Follower

#: Seconds after which the end of a container is known.
A_MOMENT = 1.0


class ContainerSet:
    """Thread-safe: it may be aborted while it is at work.

    Args:
        title: Of the resource; a part of the containers' names.
        label: By which every process in its containers is known on this host.
        changed: Called whenever other containers run.
    """

    def __init__(
        self, title: str, label: str, environment: ContainerEnvironment, changed: Callable[[], None]
    ) -> None:
        self._title = title
        self._label = label
        self._environment = environment
        self._changed = changed
        self._lock = threading.Lock()
        self._containers: list[LiveContainer] = []
        #: The accounts of what ended; it only grows.
        self.lives: list[Life] = []
        #: Whether it was killed; then it starts nothing any more.
        self.aborted = False

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
        name = f"benchyard-{self._title.lower()}-{uuid.uuid4().hex[:12]}"
        container = LiveContainer(self._environment.engine, spec, name, stdout, stderr)
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
        pid = self._environment.account_for(container)
        self._changed()
        return pid

    def run_to_end(self, container: LiveContainer) -> Exit:
        """Start a container and wait for its end.

        Raises:
            CommandFailedError: If it was aborted.
            EngineError: If the engine cannot, or went away.
        """
        sight = self._environment.sight_of(container)
        try:
            if (pid := self.start(container)) is not None:
                sight.hint(pid)
            ended = container.wait()
        except EngineError:
            # Of a container that is killed the engine may have nothing to say any more.
            self.refuse_aborted(container.spec)
            raise
        finally:
            life = sight.close()
            self.lives.append(life)
            self._changed()
        self.refuse_aborted(container.spec)
        assert ended is not None  # noqa: S101 - it was waited for without a deadline
        return replace(ended, run_s=life.span.seconds)

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
        killed = self._environment.oom_kills(container)
        sight = self._environment.sight_in(container) if call.is_watched else None
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
                life = sight.close(pid)
                self.lives.append(life)
        self.refuse_aborted(container.spec)
        if code > SIGNALLED:
            self._refuse_over(container)
        run_s = life.span.seconds if life else None
        out_of_memory = self._environment.oom_kills(container) > killed
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
        if containers and not self._environment.engine_answers():
            self._kill_processes()
            raise EngineError("the Docker engine does not answer; the next run removes containers")
        wrong: list[EngineError] = []
        for container in reversed(containers):
            try:
                self._end(container, seconds)
            except EngineError as error:
                wrong.append(error)
        if wrong:
            raise wrong[0]

    def _end(self, container: LiveContainer, seconds: int) -> None:
        try:
            if not self.aborted:
                container.stop(seconds)
        finally:
            container.remove()

    def groups(self) -> Sequence[Cgroup]:
        """Return the control groups that count what the containers use."""
        with self._lock:
            running = [container for container in self._containers if container.running]
        return self._environment.groups(running)
