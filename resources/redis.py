"""Redis in a container, under the load of its own benchmark program.

Source: Redis' documentation, "Redis benchmark"; the columns as of Redis 6.2.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, TypeAlias

from benchyard.case.resource import CommandResult, OutputFile, command
from benchyard.core.amounts import parse_size
from benchyard.core.errors import CommandFailedError, InputError
from benchyard.core.model import Json
from resources._containers import Specification
from resources._containers.base import ServerContainer
from resources._containers.settings import ContainerSettings, Wrong, is_dashed_name
from resources._containers.streams import Follower
from resources._files import emptied, kept_file, named_or_kept
from resources._readiness import Readiness, tcp_port

Test: TypeAlias = Literal[
    "ping",
    "ping_inline",
    "ping_mbulk",
    "set",
    "get",
    "incr",
    "lpush",
    "rpush",
    "lpop",
    "rpop",
    "sadd",
    "hset",
    "spop",
    "zadd",
    "zpopmin",
    "lrange",
    "lrange_100",
    "lrange_300",
    "lrange_500",
    "lrange_600",
    "mset",
]

#: Parameter of a load to the program's option.
_OPTIONS = {
    "requests": "-n",
    "clients": "-c",
    "data_size": "-d",
    "pipeline": "-P",
    "keys": "-r",
    "threads": "--threads",
}
#: Column of the program to the end of a value's name; all but the first are milliseconds.
_COLUMNS = {
    "rps": "requests_per_s",
    "avg_latency_ms": "latency_mean_s",
    "min_latency_ms": "latency_min_s",
    "p50_latency_ms": "latency_p50_s",
    "p95_latency_ms": "latency_p95_s",
    "p99_latency_ms": "latency_p99_s",
    "max_latency_ms": "latency_max_s",
}


def load_arguments(tests: Sequence[Test], **numbers: int | None) -> list[str]:
    """Return the program of a load and its arguments.

    Args:
        tests: Which; the program's own choice if empty.
        numbers: As ``Redis.load`` has them; None leaves one to the program.

    Raises:
        CommandFailedError: If a number makes no sense.
    """
    options = ["redis-benchmark", "-p", str(PORT), "--csv", "--precision", "6"]
    for name, option in _OPTIONS.items():
        number = numbers[name]
        if number is not None and number < 1:
            raise CommandFailedError(f"Redis: {name} is {number}; it must be 1 or more")
        options += [] if number is None else [option, str(number)]
    return [*options, "-t", ",".join(tests)] if tests else options


def values(said: str) -> dict[str, Json]:
    """Read what the program says into values in requests per second and seconds.

    Raises:
        CommandFailedError: If it holds no test.
    """
    found: dict[str, Json] = {}
    for row in csv.DictReader(io.StringIO(said, newline="")):
        test = _name(row.get("test") or "")
        for column, name in _COLUMNS.items():
            number = row.get(column)
            if test and number:
                found[f"{test}_{name}"] = float(number) / (1 if column == "rps" else 1000)
    if not found:
        raise CommandFailedError(
            "redis-benchmark ended well and its output has no column 'test' with a test in it; "
            "use an image with Redis 6.2 or newer"
        )
    return found


def _name(test: str) -> str:
    """Return ``lrange_100`` for ``LRANGE_100 (first 100 elements)``."""
    return re.sub(r"[^a-z0-9]+", "_", test.lower().partition(" (")[0]).strip("_")


PORT = 6379


@dataclass(frozen=True, slots=True)
class RedisSettings(ContainerSettings):
    """What a case may set.

    Args:
        maxmemory: So much its data may take, with its unit, such as ``256MB``.
        parameters: The server's own settings by name, such as ``{"appendonly": "yes"}``.
    """

    _named = ("parameters", "parameter", is_dashed_name)

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


class Redis(ServerContainer[RedisSettings]):
    """Redis: host name ``Redis``, port 6379, no password."""

    Settings: ClassVar[type[RedisSettings]] = RedisSettings
    _image: ClassVar[str] = "redis:7"
    _serves: ClassVar[Sequence[int]] = (PORT,)
    _data: ClassVar[str] = "/data"

    def _specification(self) -> Specification:
        given = dict(self.settings.parameters)
        if self.settings.maxmemory is not None:
            given["maxmemory"] = parse_size(self.settings.maxmemory)
        options = [word for name, value in given.items() for word in (f"--{name}", str(value))]
        spec = super()._specification()
        return replace(spec, command=("redis-server", *options)) if options else spec

    def _readiness(self) -> list[Readiness]:
        return [tcp_port(PORT)]

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
        arguments = load_arguments(
            tests or (),
            requests=requests,
            clients=clients,
            data_size=data_size,
            pipeline=pipeline,
            keys=keys,
            threads=threads,
        )
        stdout = emptied(named_or_kept(self.workspace, results_file, "csv"))
        said = kept_file(self.workspace, "stderr.txt")
        self._execute(self._up(), arguments, Follower(stdout, said))
        text = stdout.read_text(encoding="utf-8") if stdout.exists() else ""
        return CommandResult(values(text), stdout)
