"""The program ``redis-benchmark``: how it is called, and what its CSV means.

Source: Redis' documentation, "Redis benchmark"; the columns as of Redis 6.2.
"""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from benchyard.core.errors import CommandFailedError
from benchyard.core.model import Json

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


@dataclass(frozen=True, slots=True)
class Load:
    """What the program is to do.

    Args:
        requests: How many, for each test.
        clients: How many connections at once.
        data_size: Bytes of a value.
        tests: Which; the program's own choice if empty.
        keys: How many different keys; one if None.
        pipeline: Requests that are sent at once.
        threads: Threads of the program; one if None.
    """

    requests: int
    clients: int
    data_size: int
    tests: Sequence[Test] = ()
    keys: int | None = None
    pipeline: int = 1
    threads: int | None = None

    def arguments(self, port: int) -> list[str]:
        """Return program and arguments.

        Raises:
            CommandFailedError: If a number makes no sense.
        """
        given = {
            "-n": ("requests", self.requests),
            "-c": ("clients", self.clients),
            "-d": ("data_size", self.data_size),
            "-P": ("pipeline", self.pipeline),
            "-r": ("keys", self.keys),
            "--threads": ("threads", self.threads),
        }
        options = ["redis-benchmark", "-p", str(port), "--csv", "--precision", "6"]
        for option, (name, number) in given.items():
            if number is not None and number < 1:
                raise CommandFailedError(f"Redis: {name} is {number}; it must be 1 or more")
            options += [] if number is None else [option, str(number)]
        return [*options, "-t", ",".join(self.tests)] if self.tests else options


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
