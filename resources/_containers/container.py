"""One container, from its creation to its removal."""

import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchyard.core.errors import CommandFailedError, NotReadyError
from benchyard.core.model import JsonObject
from benchyard.core.redaction import note_arguments
from benchyard.process.cgroups import Cgroup
from resources._containers import Exit, Specification, engine_config, exit_of
from resources._containers.engine import Client, EngineError, NotThereError, hurried, place, telling
from resources._containers.streams import Follower, Program, Streams

#: Seconds that a container has to obey SIGTERM before it is killed.
STOP_SECONDS = 10
#: Seconds after a kill in which the engine must tell how it ended.
LAST_WORDS_SECONDS = 2
#: What is listened to.
_BOTH = {"stdout": 1, "stderr": 1, "stream": 1}


@dataclass(frozen=True, slots=True)
class ProgramCall:
    """How a program is executed in a container.

    Args:
        environment: Variables added to the container's.
        user: Name or id; the container's own if empty.
        folder: Where it begins; the container's own if None.
        stdin: Whether something is going to be written to it.
        is_watched: Whether it is what the step is about: then its own time and use are told.
    """

    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    user: str = ""
    folder: str | None = None
    stdin: bool = False
    is_watched: bool = False


#: As the container itself was started.
PLAIN_CALL = ProgramCall()


class LiveContainer:
    """A container that was created; thread-safe.

    Args:
        client: The engine.
        spec: What it is made from.
        name: Unique on this host.
        stdout: Where its standard output goes.
        stderr: Where its standard error goes.

    Raises:
        EngineError: If it cannot be created.
    """

    def __init__(
        self, client: Client, spec: Specification, name: str, stdout: Path, stderr: Path
    ) -> None:
        self._api: Any = client.api
        self.spec = spec
        self.name = name
        self.title = f"the container of '{spec.image}'"
        self.follower = Follower(stdout, stderr)
        self._thread: threading.Thread | None = None
        self._over = threading.Event()
        self._exit: Exit | EngineError | None = None
        self._line: Streams | None = None
        self._programs: set[Program] = set()
        #: Its control group on this host, once it was started and if it is here.
        self.group: Cgroup | None = None
        note_arguments([spec.image, *(spec.entrypoint or ()), *(spec.command or ())])
        with telling(f"cannot create a container of '{spec.image}'"):
            config = engine_config(spec)
            self.id: str = self._api.create_container_from_config(config, name)["Id"]

    # -- life

    def start(self) -> None:
        """Start it, and follow what it says.

        Raises:
            EngineError: If the engine cannot, for instance because a port is taken.
        """
        with telling(f"cannot start {self.title}"):
            line = Streams(self._api.attach_socket(self.id, _BOTH))
            try:
                self._api.start(self.id)
            except BaseException:
                line.close()
                raise
        self._line = line
        self._thread = threading.Thread(
            target=self._attend, args=(line,), name=f"follow {self.name}", daemon=True
        )
        self._thread.start()

    def _attend(self, line: Streams) -> None:
        """Follow the streams, then learn how it ended."""
        try:
            # A stream that breaks is no end; the engine tells of the end.
            with suppress(OSError), closing(line):
                self.follower.follow(line.pieces())
            self._end(self._learn_exit())
        except EngineError as error:
            self._end(error)
        except BaseException as error:
            # Whatever it was: nobody may wait for the end forever.
            self._end(EngineError(f"the container '{self.name}' was lost sight of: {error!r}"))
            raise

    def _end(self, how: Exit | EngineError) -> None:
        # The engine may answer after it was given up; the first answer holds.
        if not self._over.is_set():
            self._exit = how
            self._over.set()

    def _learn_exit(self) -> Exit:
        with telling(f"nobody can tell how {self.title} ended"):
            # A read that lasts: the engine answers when it ends, whenever that is.
            self._api.wait(self.id, timeout=None)
            return exit_of(self._api.inspect_container(self.id)["State"])

    def wait(self, timeout: float | None = None) -> Exit | None:
        """Wait until it ends; None if the time was over before.

        Raises:
            EngineError: If the engine went away meanwhile.
        """
        self._over.wait(timeout)
        return self.ended

    @property
    def ended(self) -> Exit | None:
        """How it ended, or None while it runs.

        Raises:
            EngineError: If nobody can tell any more.
        """
        if isinstance(self._exit, EngineError):
            raise self._exit
        return self._exit

    @property
    def running(self) -> bool:
        """Whether it was started and, for all we know, has not ended."""
        return self._thread is not None and not self._over.is_set()

    @property
    def is_over(self) -> bool:
        """Whether it ended, or was given up."""
        return self._over.is_set()

    def kill(self) -> None:
        """Kill every process in it; one that has ended is no error.

        Nobody waits for it afterwards, even if the engine tells nothing of it any more.
        """
        if self._thread is None or self._over.is_set():
            return
        with suppress(EngineError), hurried(self._api) as api, telling("killing a container"):
            api.kill(self.id)
        if not self._over.wait(LAST_WORDS_SECONDS):
            what = f"{self.title} was killed"
            self._end(EngineError(f"{what}, and the Docker engine at {place()} does not answer"))
        for line in (self._line, *list(self._programs)):
            if line is not None:
                line.hang_up()

    def stop(self, seconds: int = STOP_SECONDS) -> None:
        """Ask it to end, then kill it.

        Raises:
            EngineError: If the engine cannot.
        """
        if self.running:
            with telling(f"cannot stop {self.title}"):
                self._api.stop(self.id, timeout=seconds)
            self._over.wait(seconds)

    def remove(self) -> None:
        """Remove it with its anonymous volumes, running or not; one that is gone is no error.

        Raises:
            EngineError: If the engine cannot.
        """
        with suppress(NotThereError), telling(f"cannot remove the container '{self.name}'"):
            self._api.remove_container(self.id, v=True, force=True)
        if self._thread is not None:
            self._thread.join(STOP_SECONDS)

    # -- what is asked of it while it is waited for

    def logs(self) -> Sequence[Path]:
        """Return the files with what it says."""
        return self.follower.stdout, self.follower.stderr

    def said(self) -> str:
        """Return the end of what it said."""
        return self.follower.said()

    def succeeds(self, command: Sequence[str]) -> bool:
        """Execute a program in it, and tell whether that ended well."""
        with self.program(command) as program:
            for _ in program.pieces():
                pass
            return program.exit_code() == 0

    # -- facts

    def inspected(self) -> JsonObject:
        """Return all that the engine knows of it.

        Raises:
            EngineError: If it is gone, or the engine is.
        """
        with telling(f"cannot ask about the container '{self.name}'"):
            return self._api.inspect_container(self.id)

    def pid(self) -> int | None:
        """Return the process id, on this host, of its first process; None if it does not run."""
        state: Any = self.inspected()["State"]
        return state["Pid"] or None

    def address(self) -> str | None:
        """Return its address in its network, or None if it has none."""
        settings: Any = self.inspected()["NetworkSettings"]
        found = [network["IPAddress"] for network in settings["Networks"].values()]
        return next((address for address in found if address), None)

    def port(self, number: int) -> int:
        """Return the port of this host's loopback at which a port of it is to be had.

        Raises:
            NotReadyError: If it is not published, for instance because it ended.
        """
        settings: Any = self.inspected()["NetworkSettings"]
        bound = settings["Ports"].get(f"{number}/tcp")
        if not bound:
            raise NotReadyError(f"port {number} of the container '{self.name}' is not published")
        return int(bound[0]["HostPort"])

    def died(self, doing: str) -> NotReadyError:
        """Return the error for a container that should run and does not."""
        return NotReadyError(self._fate(f"died while {doing}"))

    def over(self) -> CommandFailedError:
        """Return the error for a command that was to be executed in it, and it has ended."""
        return CommandFailedError(self._fate("ended"))

    def _fate(self, what: str) -> str:
        try:
            how = self.ended.describe() if self.ended else "it does not run"
        except EngineError as error:
            return str(error)
        return f"{self.title} {what}: {how}; it said: {self.said()}"

    # -- further programs in it

    @contextmanager
    def program(
        self, arguments: Sequence[str], call: ProgramCall = PLAIN_CALL
    ) -> Generator[Program]:
        """Execute a program in it; its streams are open until the block ends.

        Raises:
            EngineError: If the engine cannot.
        """
        note_arguments(arguments)
        with telling(f"cannot execute '{arguments[0]}' in {self.title}"):
            made = self._api.exec_create(
                self.id,
                list(arguments),
                stdin=call.stdin,
                environment=dict(call.environment),
                user=call.user,
                workdir=call.folder,
            )
            line = self._api.exec_start(made["Id"], socket=True)
        program = Program(self._api, made["Id"], line)
        self._programs.add(program)
        try:
            yield program
        finally:
            self._programs.discard(program)
            program.close()
