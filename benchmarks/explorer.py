"""What the explorer costs who waits for a page: one reader alone, then fifty at once.

The server is a process of its own, as users start it. Beside its pages stands an empty one: what
HTTP and the framework cost on this machine. BENCHYARD_BENCHMARK_RESULTS names the folder that is
shown, such as one that ``benchmarks.catalogue`` keeps; else a small one is made.
"""

import asyncio
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.generated_runs import make_campaigns
from benchmarks.table import Figure, Size, Statistic, run_program

CLIENTS, SECONDS = 50, 60.0
PAGE_SECONDS, P99_SECONDS, COMPARE_SECONDS, MEGABYTES = 0.03, 0.3, 0.5, 250.0
CAMPAIGNS, HISTORY_SECONDS = 1000, 0.3
RESULTS = "BENCHYARD_BENCHMARK_RESULTS"
_ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)")
_START_SECONDS = 120.0
_chance = Random(7)  # noqa: S311 - which page is asked for is no secret
_LOOK = """
import sys
from pathlib import Path
from benchyard.catalogue.catalogue import Catalogue
Catalogue([Path(sys.argv[1])]).close()
"""
_EMPTY = """
import contextlib, socket, uvicorn
from fastapi import FastAPI
from fastapi.responses import HTMLResponse
app = FastAPI()
@app.get("/")
def empty() -> HTMLResponse:
    return HTMLResponse("<!doctype html><title>Empty</title>")
# With the protocol named, asyncio sends at once what is written (TCP_NODELAY).
listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
listening.bind(("127.0.0.1", 0))
print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
with contextlib.suppress(KeyboardInterrupt):
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run([listening])
"""


@dataclass(frozen=True, slots=True)
class Server:
    """A server that listens on loopback."""

    port: int
    pid: int

    def get(self, path: str) -> bytes:
        """Ask for a page; any answer but 200 is an error."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port)) as connection:
            return _get(connection, path)

    def seconds(self, paths: Sequence[str]) -> list[float]:
        """Return how long each request takes, one after the other on one connection."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port)) as connection:
            _get(connection, paths[0])
            return [_timed(lambda path=path: _get(connection, path)) for path in paths]

    def peak_megabytes(self) -> float:
        """Return the most memory that it ever had resident."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8")
        return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1e3


def _get(connection: http.client.HTTPConnection, path: str) -> bytes:
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{path}: {answer.status} {body[:200]!r}")
    return body


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


@contextmanager
def _server(*command: str, home: Path) -> Generator[Server]:
    process = subprocess.Popen(
        [sys.executable, *command],
        env={**os.environ, "BENCHYARD_HOME": str(home), "PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        line = next(found for text in process.stdout or () if (found := _ADDRESS.search(text)))
        server = Server(int(line[1]), process.pid)
        deadline = time.monotonic() + _START_SECONDS
        while True:
            with suppress(OSError):
                server.get("/")
                break
            if time.monotonic() > deadline:
                raise TimeoutError("the server does not answer")
            time.sleep(0.1)
        yield server
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


def measure(size: Size) -> list[Figure]:
    """Measure pages one by one, then with all clients at once."""
    with tempfile.TemporaryDirectory(prefix="benchyard-benchmark-") as made:
        home = Path(made)
        results = os.environ.get(RESULTS) or str(_executed(home))
        times = size.of(200, 5)
        with _server("-c", _EMPTY, home=home) as empty:
            floor = empty.seconds(["/"] * times)
            floor_together, _ = asyncio.run(_together(empty, ["/"], size.of(10, 1)))
        # The first look at very many runs takes a minute, and is measured by another program.
        _command("-c", _LOOK, results, home=home)
        with _server("-m", "benchyard.cli", "serve", results, "--port", "0", home=home) as shown:
            figures = [
                Figure("an empty page", floor, "ms"),
                *_alone(shown, times),
                *_compared(shown),
                Figure(
                    f"{CLIENTS} clients, an empty page", floor_together, "ms", None, Statistic.P99
                ),
                *_crowd(shown, size),
                Figure("server, MB at most", [shown.peak_megabytes()], "", MEGABYTES),
            ]
        return [*figures, *_history(home, size.of(CAMPAIGNS, 20))]


def _executed(home: Path) -> Path:
    """Execute a small case, and return the folder with its results."""
    case = home / "cases" / "first"
    (case / "data" / "shared").mkdir(parents=True)
    step = {"@id": "true", "name": "true", "resource": "Process", "command": "execute"}
    steps = [{**step, "parameters": {"arguments": ["true"]}}]
    document = {"@id": "urn:benchmark", "name": "first", "steps": steps}
    (case / "metadata.json").write_text(json.dumps(document), encoding="utf-8")
    options = ["--direct", "--runs", "6", "--cooldown", "0"]
    _command("-m", "benchyard.cli", "run", str(case), *options, home=home)
    return home / "cases"


def _command(*command: str, home: Path) -> None:
    environment = {**os.environ, "BENCHYARD_HOME": str(home)}
    subprocess.run([sys.executable, *command], env=environment, check=True, stdout=sys.stderr)


def _asked(server: Server, path: str) -> Any:
    return json.loads(server.get(path))


def _alone(server: Server, times: int) -> list[Figure]:
    runs = _asked(server, "/runs.json?limit=1")
    total = runs["total"]
    some = [entry["id"] for entry in _asked(server, f"/runs.json?limit={times}")["entries"]]
    cases = [one["results"] for one in _asked(server, f"/runs.json?limit={times}")["entries"]]
    last = [f"/runs?limit=10&offset={max(total - 10 - n, 0)}" for n in range(times)]
    pages = {
        "the first 10 runs": [f"/runs?limit=10&offset={n}" for n in range(times)],
        "the last 10 runs": last,
        "a search": [f"/runs?q=run_{n + 1}&limit=10" for n in range(times)],
        "a run": [f"/run/{one}" for one in some],
        "a case": [f"/case/{one}" for one in dict.fromkeys(cases)][:20],
    }
    title = f"of {total:,} runs: "
    return [
        Figure(title + name, server.seconds(paths), "ms", PAGE_SECONDS)
        for name, paths in pages.items()
    ]


def _history(home: Path, count: int) -> list[Figure]:
    """Measure the page of a case with many campaigns, in a server that shows nothing else."""
    results = str(make_campaigns(home / "campaigns", count))
    _command("-c", _LOOK, results, home=home)
    with _server("-m", "benchyard.cli", "serve", results, "--port", "0", home=home) as server:
        case = _asked(server, "/runs.json?limit=1")["entries"][0]["results"]
        # The same question in other bytes, for answers are kept by these.
        metric = "duration_s"
        ways = [metric[:at] + f"%{ord(one):x}" + metric[at + 1 :] for at, one in enumerate(metric)]
        first, *others = (f"/case/{case}?metric={way}" for way in ways)
        title = f"of {count:,} campaigns: the case, "
        return [
            Figure(title + "at first", [_timed(lambda: server.get(first))], "ms"),
            Figure(title + "then", server.seconds(others), "ms", HISTORY_SECONDS),
            Figure("  server, MB at most", [server.peak_megabytes()], "", MEGABYTES),
        ]


def _compared(server: Server) -> list[Figure]:
    runs = [entry["id"] for entry in _asked(server, "/runs.json?limit=100&format=run")["entries"]]
    half = len(runs) // 2
    sides = f"side={','.join(runs[:half])}&side={','.join(runs[half:])}"
    paths = [f"/compare?{sides}&threshold={n}%25" for n in range(1, 6)]
    return [Figure(f"{len(runs)} runs compared", server.seconds(paths), "ms", COMPARE_SECONDS)]


def _crowd(server: Server, size: Size) -> list[Figure]:
    some = _asked(server, "/runs.json?limit=100")
    runs, total = some["entries"], some["total"]
    paths = [
        *("/", "/runs", "/cases", "/testbeds", "/failures"),
        *(f"/run/{entry['id']}" for entry in runs),
        *dict.fromkeys(f"/case/{entry['results']}" for entry in runs),
        *(f"/runs?limit=10&offset={_chance.randrange(total)}" for _ in range(100)),
        *(f"/runs?q=run_{number}&limit=10" for number in range(1, 20)),
    ]
    seconds, failed = asyncio.run(_together(server, paths, SECONDS if not size.quick else 1.0))
    title = f"{CLIENTS} clients for {SECONDS:.0f} s"
    other = [f"/runs?limit=10&offset={n}" for n in range(min(total, 20_000))]
    anew, failed_anew = asyncio.run(_together(server, other, size.of(10, 1)))
    return [
        Figure(title, seconds, "ms", P99_SECONDS, Statistic.P99),
        Figure("  a second", [len(seconds) / SECONDS], ""),
        Figure(f"{CLIENTS} clients, mostly pages made anew", anew, "ms", None, Statistic.P99),
        Figure("  errors of both", [float(failed + failed_anew)], "", 0.0),
    ]


async def _together(
    server: Server, paths: Sequence[str], seconds: float
) -> tuple[list[float], int]:
    """Let clients ask for pages by chance, each as soon as it has its answer."""
    until = time.monotonic() + seconds
    asked = [_client(server.port, paths, until) for _ in range(CLIENTS)]
    answers = await asyncio.gather(*asked)
    return [one for took, _ in answers for one in took], sum(failed for _, failed in answers)


async def _client(port: int, paths: Sequence[str], until: float) -> tuple[list[float], int]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    took, failed = list[float](), 0
    while time.monotonic() < until:
        start = time.perf_counter()
        request = f"GET {_chance.choice(paths)} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        writer.write(request.encode())
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
        await reader.readexactly(int(length[1]) if length else 0)
        took.append(time.perf_counter() - start)
        failed += not head.startswith(b"HTTP/1.1 200")
    writer.close()
    return took, failed


if __name__ == "__main__":
    run_program(__doc__, measure)
