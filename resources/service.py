"""Any program of this host that serves, and the programs that ask it."""

import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, count
from pathlib import Path
from signal import Signals
from typing import Any, ClassVar, Literal, TypedDict, cast

from benchyard.case.resource import InputFolder, Workspace, name_of
from benchyard.core.clock import Deadline
from benchyard.core.errors import (
    CommandFailedError,
    InputError,
    NotReadyError,
    ResourceError,
    SettingsError,
)
from benchyard.core.model import Json, JsonObject, mapped
from benchyard.process.children import Child, spawn, tail
from benchyard.process.files import kept_output
from benchyard.process.usage import Ended
from resources import _readiness
from resources._readiness import LOOPBACK, PATIENCE, Readiness, tcp_port
from resources.process import Call, HostProgram, run_label, usage

#: What stands for the port in texts of the case.
PORT = "${port}"


class ServiceReadySettings(TypedDict, total=False):
    """When a service is ready: each way that is given must say so.

    ``log`` is a regular expression for a line; ``tcp`` is a port; ``http`` is port and path
    (``8080/path``), or a path alone at its own port; ``command`` is executed on this host.
    """

    log: str
    tcp: int | str
    http: str
    command: list[str]


StopSignal = Literal["SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGKILL"]


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """What a case may set; ``${port}`` in a text stands for the port.

    Args:
        arguments: Program and arguments; it must stay in the foreground.
        working_folder: Folder inside ``data/shared``; by default ``data/shared`` itself.
        environment: Variables added to the lab's own.
        port: Of this host's loopback; 0 lets the kernel choose one.
        ready: When it takes commands; by default when its port takes connections.
        ready_seconds: So long it may take until it is ready.
        stop_signal: By what it is asked to end.
        stop_seconds: So long it may take to end then; after that it is killed.
    """

    arguments: list[str] = field(default_factory=list[str])
    working_folder: InputFolder = ""
    environment: dict[str, str] = field(default_factory=dict[str, str])
    port: int = 0
    ready: ServiceReadySettings = field(default_factory=ServiceReadySettings)
    ready_seconds: float = 120.0
    stop_signal: StopSignal = "SIGTERM"
    stop_seconds: float = 10.0

    def __post_init__(self) -> None:
        wrong = [*self._wrong()]
        if wrong:
            raise SettingsError(wrong)

    def _wrong(self) -> Iterator[tuple[str, str]]:
        if not self.arguments:
            yield "arguments", "arguments is empty; its first item must be the program"
        if not 0 <= self.port < 65536:
            yield "port", f"port is {self.port}; ports are 1 to 65535, and 0 lets the kernel choose"
        if self.ready_seconds <= 0:
            yield "ready_seconds", f"ready_seconds is {self.ready_seconds:g}; it must be above 0"
        if self.stop_seconds < 0:
            yield "stop_seconds", f"stop_seconds is {self.stop_seconds:g}; it must be 0 or more"
        try:
            self.ways(1)  # some port: its own is not known yet
        except InputError as error:
            yield "ready", str(error)

    def ways(self, port: int) -> list[Readiness]:
        """Return the ways in which it must be ready.

        Raises:
            InputError: If one is no way.
        """
        if not self.ready:
            texts = (*self.arguments, *self.environment.values())
            return [tcp_port(port)] if any(PORT in text for text in texts) else []
        ready = cast("JsonObject", self.ready)
        given = {name: mapped(way, partial(with_port, port=port)) for name, way in ready.items()}
        if str(given.get("http")).startswith("/"):
            given["http"] = f"{port}{given['http']}"
        return _readiness.ways_of(given)


def with_port(text: str, port: int) -> str:
    """Put the port into a text."""
    return text.replace(PORT, str(port))


class ServerProcess:
    """A server of this host, which starts when it is made; thread-safe.

    Args:
        title: What errors call it, such as ``the service 'web'``.
        program: What is started; both its streams go to one log.
        labels: By which its processes are found when the lab is gone.
        hear_end: Called, in another thread, when it ended.

    Raises:
        CommandFailedError: If the program cannot be started.
    """

    def __init__(
        self, title: str, program: Call, labels: Mapping[str, str], hear_end: Callable[[], None]
    ) -> None:
        self.title = title
        self._program = program
        self._labels = labels
        self._hear_end = hear_end
        self._over = threading.Event()
        with ExitStack() as files:
            log = files.enter_context(kept_output(program.stdout))
            #: Its process; ``ended`` tells how it ended, once that was accounted for.
            self.child = self._spawn(program.arguments, stdout=log, stderr=subprocess.STDOUT)
            self._files = files.pop_all()
        name = f"wait for {title}"
        threading.Thread(target=self._attend, name=name, daemon=True).start()

    def _spawn(self, arguments: Sequence[str], **streams: Any) -> Child:
        folder, environment = self._program.folder, self._program.environment
        return spawn(
            arguments, folder=folder, environment=environment, labels=self._labels, **streams
        )

    def _attend(self) -> None:
        try:
            # Without its launcher nobody can tell how it ended; that it did is sure.
            with suppress(CommandFailedError):
                self.child.wait()
        finally:
            self._over.set()
            self._hear_end()

    def stop(self, number: Signals, grace: float) -> None:
        """Ask it to end, kill what has not ended after ``grace`` seconds, and close its log."""
        try:
            self.child.stop(grace, number)
            self.child.kill()  # what an end of its own left behind
            self._over.wait()
        finally:
            self._files.close()

    # -- what is asked of it while it is waited for

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return not self._over.is_set() and self.child.running

    def wait(self, timeout: float | None = None) -> object | None:
        """Wait until it ends; None if the time (s) was over before."""
        return self._over.wait(timeout) or None

    def address(self) -> str:
        """Return where its ports are asked."""
        return LOOPBACK

    def succeeds(self, command: Sequence[str]) -> bool:
        """Execute a program on this host, and tell whether that ended well in time."""
        child = self._spawn(command)
        try:
            with Deadline(PATIENCE, child.kill).armed():
                return child.wait().exit_status == 0
        finally:
            child.kill()

    def logs(self) -> Sequence[Path]:
        """Return its log."""
        return (self._program.stdout,)

    def said(self) -> str:
        """Return the end of its log."""
        return tail(self._program.stdout) or "nothing"

    def died(self, doing: str) -> NotReadyError:
        """Return the error for one that died before it was ready."""
        return NotReadyError(f"{self.title} died while {doing}: {self.last_words()}")

    def last_words(self) -> str:
        """Return how it ended, with the end of its log."""
        self._over.wait(PATIENCE)
        with suppress(CommandFailedError):
            self._files.close()  # all that it said is in the file then
        how = self.child.ended.describe() if self.child.ended else "it was lost sight of"
        stays = "; a service must stay in the foreground" if how == "exit code 0" else ""
        return f"{how}{stays}; it said: {self.said()}"


class Service(HostProgram[ServiceSettings]):
    """A program of this host that serves until the run ends."""

    Settings: ClassVar[type[ServiceSettings]] = ServiceSettings
    concurrent: ClassVar[bool] = False
    works_beside: ClassVar[bool] = True

    def __init__(self, settings: ServiceSettings, workspace: Workspace) -> None:
        super().__init__(settings, workspace)
        self._server: ServerProcess | None = None
        self._port = 0

    @classmethod
    def program_lines(
        cls, settings: Mapping[str, Json], command: str, parameters: Mapping[str, Json]
    ) -> Iterator[Sequence[str]]:
        """Yield the program that serves, and the one that asks it, with their arguments."""
        for given in (settings.get("arguments"), parameters.get("arguments")):
            if isinstance(given, list) and given:
                yield [*map(str, given)]

    def port(self) -> int:
        """Return the port at which it serves."""
        return self._port

    def initialize(self) -> None:
        """See that a fixed port is free."""
        port = self.settings.port
        if port and not _readiness.is_free(port):
            raise ResourceError(
                f"{name_of(self)}: port {port} of this host is taken; stop who has it, or let the "
                f"kernel choose one: leave 'port' out and write {PORT}"
            )

    def start(self) -> None:
        """Start the program."""
        self.initialize()  # it may have been taken meanwhile
        settings = self.settings
        self._port = port = settings.port or _readiness.free_port()
        words = [with_port(word, port) for word in settings.arguments]
        folder, log = self._folder(settings.working_folder), self._log()
        call = Call(words, folder, log, log, environment=self._with_port(settings.environment))
        title = f"the service '{name_of(self)}'"
        self._server = ServerProcess(title, call, run_label(self.workspace), self._hear_end)
        self.changed()

    def _log(self) -> Path:
        """Return a file that is not there yet: an earlier instance of the run may have its own."""
        self.workspace.kept.mkdir(parents=True, exist_ok=True)
        later = (f"service-{number}.log" for number in count(2))
        files = (self.workspace.kept / name for name in chain(("service.log",), later))
        return next(file for file in files if not file.exists())

    def _with_port(self, variables: Mapping[str, str]) -> dict[str, str]:
        return {name: with_port(value, self._port) for name, value in variables.items()}

    def _hear_end(self) -> None:
        """End who asks it: nobody answers any more."""
        super().abort(None)
        self.changed()

    def wait_until_ready(self) -> None:
        """Wait until it is ready in the ways that the case gives."""
        ways = self.settings.ways(self._port)
        server = self._up()
        _readiness.wait_until_ready(server, ways, self.settings.ready_seconds)
        if not server.running:
            raise server.died("it became ready")

    def stop(self) -> None:
        """Ask the program to end, and kill it if it does not in time."""
        server = self._server
        if server is not None:
            server.stop(Signals[self.settings.stop_signal], self.settings.stop_seconds)
        super().stop()

    def abort(self, step: str | None = None) -> None:
        """Kill who asks it, and the program itself."""
        super().abort(step)
        if self._server is not None:
            self._server.child.kill()

    def alive(self) -> bool:
        """Tell whether the program runs."""
        return self._server is not None and self._server.running

    def last_words(self) -> str:
        """Return how it ended, with the end of its log."""
        return self._up().last_words()

    def pids(self, step: str | None = None) -> Sequence[int]:
        """Return the program that serves, and not who asks it."""
        server = self._server
        return [] if server is None or server.child.ended else [server.child.pid]

    def ended(self, step: str | None = None) -> Sequence[Ended]:
        """Return what the kernel accounted for the program that served."""
        server = self._server
        return [] if server is None or server.child.ended is None else [server.child.ended]

    def _up(self) -> ServerProcess:
        if self._server is None:
            raise ResourceError(f"{name_of(self)} was not started")
        return self._server

    # -- commands

    def _run(self, call: Call) -> Ended:
        """Run a program that asks the service."""
        self._refuse_dead()
        asks = replace(
            call,
            arguments=[with_port(word, self._port) for word in call.arguments],
            environment=self._with_port(call.environment or {}),
        )
        try:
            return super()._run(asks)
        finally:
            # That the service ended is told before how the program did that asked it.
            self._refuse_dead()

    @staticmethod
    def _values(ended: Ended) -> dict[str, Json]:
        """Return what a program used that asks: the names must not pass for the service's."""
        told = usage(ended)
        return {name if name == "exit_code" else f"client_{name}": told[name] for name in told}

    def _refuse_dead(self) -> None:
        server = self._up()
        if not server.running:
            raise CommandFailedError(f"{server.title} ended: {server.last_words()}")
