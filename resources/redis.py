"""Redis in a container, under the load of its own benchmark program."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from benchyard.case.resource import CommandResult, OutputFile, command, current_step
from benchyard.core.amounts import parse_size
from benchyard.core.errors import CommandFailedError, InputError
from resources._containers.kinds import ServerContainer
from resources._containers.readiness import Readiness, TcpPort
from resources._containers.settings import ContainerSettings, Wrong
from resources._containers.specification import Specification
from resources._containers.streams import Follower
from resources._databases.redis_benchmark import Load, Test, values

PORT = 6379
#: Where the image keeps its data.
DATA = "/data"


@dataclass(frozen=True, slots=True)
class RedisSettings(ContainerSettings):
    """What a case may set.

    Args:
        maxmemory: So much its data may take, with its unit, such as ``256MB``.
        parameters: The server's own settings by name, such as ``{"appendonly": "yes"}``.
    """

    maxmemory: str | None = None
    parameters: dict[str, str | int] = field(default_factory=dict[str, str | int])

    def wrong(self) -> Iterator[Wrong]:
        """Yield the name of each setting that cannot be, and why."""
        # A dataclass with slots is a second class: super() without arguments knows the first.
        yield from ContainerSettings.wrong(self)
        if self.maxmemory is not None:
            try:
                parse_size(self.maxmemory)
            except InputError as error:
                yield "maxmemory", f"maxmemory: {error}"
        for name in self.parameters:
            if not name.replace("-", "_").isidentifier():
                yield "parameters", f"Redis: '{name}' is not the name of a parameter"


class Redis(ServerContainer[RedisSettings]):
    """Redis: host name ``Redis``, port 6379, no password."""

    Settings: ClassVar[type[RedisSettings]] = RedisSettings
    _image: ClassVar[str] = "redis:7"
    _serves: ClassVar[Sequence[int]] = (PORT,)

    def _specification(self) -> Specification:
        given = dict(self.settings.parameters)
        if self.settings.maxmemory is not None:
            given["maxmemory"] = parse_size(self.settings.maxmemory)
        options = [word for name, value in given.items() for word in (f"--{name}", str(value))]
        spec = super()._specification()
        return replace(spec, command=("redis-server", *options)) if options else spec

    def _readiness(self) -> list[Readiness]:
        return [TcpPort(PORT)]

    def start(self) -> None:
        """Make a volume for the data and start the container."""
        if DATA not in {*self.settings.volumes, *self.settings.tmpfs}:
            self._add_volume(DATA)
        super().start()

    def version(self) -> str:
        """Ask the server."""
        with self._up().program(["redis-cli", "-p", str(PORT), "INFO", "server"]) as program:
            said = b"".join(piece or b"" for piece, _ in program.pieces()).decode()
        told = dict(line.split(":", 1) for line in said.splitlines() if ":" in line)
        if "redis_version" not in told:
            raise CommandFailedError(f"Redis does not tell its version; it said: {said.strip()}")
        return told["redis_version"]

    @command
    def load(  # noqa: PLR0913 - each is a parameter that a step may give by name
        self,
        requests: int = 100_000,
        clients: int = 50,
        data_size: int = 3,
        *,
        tests: list[Test] | None = None,
        keys: int | None = None,
        pipeline: int = 1,
        threads: int | None = None,
        results_file: OutputFile | None = None,
    ) -> CommandResult:
        """Put the server under the load of ``redis-benchmark``, which runs beside it.

        Args:
            requests: How many, for each test.
            clients: How many connections at once.
            data_size: Bytes of a value.
            tests: Which; the program's own choice by default.
            keys: How many different keys; by default all requests are for one.
            pipeline: Requests that are sent at once.
            threads: Threads of the program.
            results_file: What the program says, as CSV; by default a file among the results.
        """
        load = Load(requests, clients, data_size, tests or (), keys, pipeline, threads)
        arguments = load.arguments(PORT)
        stdout = self._csv(results_file)
        said = self.workspace.kept / f"{current_step()}.stderr.txt"
        self._execute(self._up(), arguments, Follower(stdout, said))
        text = stdout.read_text(encoding="utf-8") if stdout.exists() else ""
        return CommandResult(values(text), stdout)

    def _csv(self, name: str | None) -> Path:
        self.workspace.kept.mkdir(parents=True, exist_ok=True)
        if not name:
            file = self.workspace.kept / f"{current_step()}.csv"
        else:
            file = self.workspace.new_file(name)
        file.write_bytes(b"")
        return file
