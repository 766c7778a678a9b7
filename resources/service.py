"""Any program of this host that serves, and the programs that ask it."""

import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from benchyard.case.resource import Workspace, name_of
from benchyard.core.errors import CommandFailedError, ResourceError
from benchyard.core.model import Json
from benchyard.process.usage import Ended
from resources._readiness import free_port, is_free, wait_until_ready
from resources._server_process import ServerProcess, ServerProgram
from resources._service_settings import PORT, ServiceSettings, with_port
from resources.process import Call, HostProgram, run_label, usage


class Service(HostProgram[ServiceSettings]):
    """A program of this host that serves until the run ends."""

    Settings: ClassVar[type[ServiceSettings]] = ServiceSettings
    concurrent: ClassVar[bool] = False
    works_beside: ClassVar[bool] = True

    def __init__(self, settings: ServiceSettings, workspace: Workspace) -> None:
        super().__init__(settings, workspace)
        self._server: ServerProcess | None = None
        self._port = 0

    # -- what it is

    @classmethod
    def program_lines(
        cls, settings: Mapping[str, Json], command: str, parameters: Mapping[str, Json]
    ) -> Iterator[Sequence[str]]:
        """Yield the program that serves, and the one that asks it, with their arguments."""
        del command
        for given in (settings.get("arguments"), parameters.get("arguments")):
            if isinstance(given, list) and given:
                yield [*map(str, given)]

    def port(self) -> int:
        """Return the port at which it serves."""
        return self._port

    # -- life

    def initialize(self) -> None:
        """See that a fixed port is free."""
        self._refuse_taken_port()

    def _refuse_taken_port(self) -> None:
        port = self.settings.port
        if port and not is_free(port):
            raise ResourceError(
                f"{name_of(self)}: port {port} of this host is taken; stop who has it, or let the "
                f"kernel choose one: leave 'port' out and write {PORT}"
            )

    def start(self) -> None:
        """Start the program."""
        self._refuse_taken_port()
        settings = self.settings
        self._port = port = settings.port or free_port()
        self._server = server = ServerProcess(
            ServerProgram(
                title=f"the service '{name_of(self)}'",
                arguments=[with_port(word, port) for word in settings.arguments],
                folder=self._folder(settings.working_folder),
                log=self._log(),
                environment=self._with_port(settings.environment),
                labels=run_label(self.workspace),
            ),
            self._hear_end,
        )
        for way in settings.ways(port):
            way.prepare(server)
        server.start()
        self.changed()

    def _log(self) -> Path:
        """Return a file that is not there yet: an earlier instance of the run may have its own."""
        self.workspace.kept.mkdir(parents=True, exist_ok=True)
        names = (f"service{number}.log" for number in ("", *(f"-{n}" for n in range(2, 10_000))))
        files = (self.workspace.kept / name for name in names)
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
        wait_until_ready(server, ways, self.settings.ready_seconds)
        if not server.running:
            raise server.died("it became ready")

    def stop(self) -> None:
        """Ask the program to end, and kill it if it does not in time."""
        server = self._server
        if server is not None:
            server.stop(signal.Signals[self.settings.stop_signal], self.settings.stop_seconds)
        super().stop()

    def abort(self, step: str | None = None) -> None:
        """Kill who asks it, and the program itself."""
        super().abort(step)
        if self._server is not None:
            self._server.kill()

    def alive(self) -> bool:
        """Tell whether the program runs."""
        return self._server is not None and self._server.running

    def last_words(self) -> str:
        """Return how it ended, with the end of its log."""
        return self._up().last_words()

    def pids(self, step: str | None = None) -> Sequence[int]:
        """Return the program that serves, and not who asks it."""
        del step
        pid = None if self._server is None else self._server.pid
        return [] if pid is None else [pid]

    def ended(self, step: str | None = None) -> Sequence[Ended]:
        """Return what the kernel accounted for the program that served."""
        del step
        ended = None if self._server is None else self._server.ended
        return [] if ended is None else [ended]

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
