"""What a container resource costs over the engine itself, and whether its account is true.

Each round does the same through Docker's own client and through the resource, on an image that is
there already. The account is held against what the kernel tells the program's own parent, inside
the container, of the program from its beginning to its end.
"""

import json
import platform
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.table import Figure, Size, run_program
from benchyard.case.resource import Workspace
from benchyard.host.counters import Counters
from benchyard.process.labels import this_owner
from benchyard.run.running_resources import owned_by
from resources.container import AnyContainerSettings, Container

#: Limits of this project's own making.
START_SECONDS = 0.6
STOP_SECONDS = 0.5
OFF = 0.01

#: Debian with perl: ``tests/images`` makes it.
IMAGE = "benchyard-test/base:bookworm"
#: Listens at once, obeys SIGTERM at once.
SERVES = [
    "perl",
    "-MIO::Socket::INET",
    "-e",
    "$SIG{TERM} = sub { exit }; $| = 1; my $s = IO::Socket::INET->new(LocalPort => 8080,"
    "Listen => 9) or die; print qq(ready\\n); while (1) { my $c = $s->accept or next; <$c>;"
    "print $c qq(HTTP/1.0 200 OK\\r\\n\\r\\n); close $c }",
]
#: Number of getrusage(2). Source: Linux, syscall_64.tbl and syscall.tbl.
_GETRUSAGE = 98 if platform.machine() == "x86_64" else 165
#: A child uses processor and memory; its parent tells the kernel's account of both to the end.
BURNS = (
    "$| = 1; if (!fork) { my $x = 'x' x (512 << 20); my $e = (times)[0] + %d;"
    "while ((times)[0] < $e) { $_++ for 1 .. 1e5 } open F, '/proc/self/status';"
    "my ($k) = map { /VmHWM:\\s+(\\d+)/ } <F>; printf '{\"memory\": %%d, ', $k * 1024; exit }"
    f"wait; my $t = 0; for my $who (0, -1) {{ my $r = chr(0) x 144; syscall {_GETRUSAGE}, $who, $r;"
    "my @r = unpack 'q4', $r; $t += $r[0] + $r[2] + ($r[1] + $r[3]) / 1e6 }"
    "printf '\"cpu_s\": %%.6f}', $t;"
)

Times: TypeAlias = dict[str, list[float]]


def measure(size: Size) -> list[Figure]:
    """Measure starts, stops and commands in turn, then the account."""
    times: Times = {}
    with tempfile.TemporaryDirectory(prefix="benchyard-benchmark-") as made:
        base = Path(made)
        for _ in range(size.of(9)):
            _round(base, times)
        off = [_off(base, size.of(4)) for _ in range(size.of(5))]
    over = [a - b for a, b in zip(times["start"], times["docker run -d"], strict=True)]
    return [
        Figure("docker run -d", times["docker run -d"], "ms"),
        Figure("start of a container resource, until the process runs", times["start"], "ms"),
        Figure("the same over docker run -d", over, "ms", START_SECONDS),
        Figure("docker stop and docker rm", times["docker stop"], "ms"),
        Figure("stop, network and control group included", times["stop"], "ms", STOP_SECONDS),
        *[
            Figure(f"ready by {way}, after the start", times[way], "ms")
            for way in ("log", "tcp", "http", "command", "healthy")
        ],
        Figure("docker exec true", times["docker exec"], "ms"),
        Figure("execute true", times["execute"], "ms"),
        Figure("docker run --rm true", times["docker run --rm"], "ms"),
        Figure("run_to_end true", times["run_to_end"], "ms"),
        Figure("CPU time of a container that ended: off by", [o[0] for o in off], "%", OFF),
        Figure("peak of its memory: off by", [o[1] for o in off], "%", OFF),
    ]


def _round(base: Path, times: Times) -> None:
    def timed(name: str, call: Callable[[], object]) -> None:
        begin = time.perf_counter()
        call()
        times.setdefault(name, []).append(time.perf_counter() - begin)

    name = f"benchyard-benchmark-{uuid.uuid4().hex[:12]}"
    timed("docker run -d", lambda: _docker("run", "-d", "--name", name, IMAGE, *SERVES))
    timed("docker exec", lambda: _docker("exec", name, "true"))
    timed("docker stop", lambda: (_docker("stop", name), _docker("rm", name)))
    timed("docker run --rm", lambda: _docker("run", "--rm", IMAGE, "true"))
    with made(base, ready={"log": "ready"}) as one:
        timed("start", one.start)
        timed("log", one.wait_until_ready)
        timed("execute", lambda: one.execute(["true"]))
        timed("run_to_end", lambda: one.run_to_end(["true"]))
        one.begin("next")
        timed("stop", one.stop)
    for way, ready in _WAYS.items():
        with made(base, ready=ready, health_check=_HEALTH) as one:
            one.start()
            timed(way, one.wait_until_ready)


_HEALTH: dict[str, Any] = {"command": ["true"], "interval": 0.1}
_WAYS: dict[str, dict[str, Any]] = {
    "tcp": {"tcp": 8080},
    "http": {"http": "8080/"},
    "command": {"command": ["true"]},
    "healthy": {"healthy": True},
}


def _off(base: Path, seconds: int) -> tuple[float, float]:
    """Return how far the account of a container is off, CPU time and memory, as shares.

    What the engine itself does inside a container is taken off: that of an idle one.
    """
    with made(base, runs=False) as one:
        one.start()
        idle, _, _ = _used(one, "1")
        cpu_s, peak, said = _used(one, BURNS % seconds)
    own = json.loads(said)
    return abs(cpu_s - idle - own["cpu_s"]) / own["cpu_s"], abs(peak - own["memory"]) / own[
        "memory"
    ]


def _used(container: Container, code: str) -> tuple[float, float, str]:
    counters = Counters()
    before = counters.read(owned_by(container))
    result = container.run_to_end(["perl", "-e", code])
    used = counters.used(before, counters.read(owned_by(container)))
    counters.close()
    cpu_s, peak = used["resource_cpu_s"], used["resource_memory_peak_bytes"]
    said = result.output.read_text(encoding="utf-8") if result.output else ""
    return cpu_s or 0.0, peak or 0.0, said


@contextmanager
def made(base: Path, **settings: Any) -> Generator[Container]:
    """Make a container resource of the base image, and have it stopped."""
    root = base / uuid.uuid4().hex
    folders = [root / name for name in ("inputs", "shared", "own", "kept")]
    for folder in folders:
        folder.mkdir(parents=True)
    labels = {"benchyard.owner": this_owner(), "benchyard.run": root.name}
    given = dict[str, Any](image=IMAGE, command=SERVES) | settings
    container = Container(AnyContainerSettings(**given), Workspace(*folders, labels=labels))
    container.initialize()
    try:
        yield container
    finally:
        container.stop()


def _docker(*arguments: str) -> None:
    program = shutil.which("docker") or "docker"
    subprocess.run([program, *arguments], check=True, capture_output=True, timeout=120)


if __name__ == "__main__":
    run_program(__doc__, measure)
