"""How long until something is measured: from the start of ``benchyard run`` to its first step.

The end is the step's ``started_at`` in run.json, the beginning the wall clock before the process
is started. Servers and homes are the benchmark's own.
"""

import tempfile
from pathlib import Path

from benchmarks.lab import clocked, environment, execute, first_start, server, write_case
from benchmarks.table import Figure, Size, run_program

SERVER_SECONDS = 3.0
COLD_SECONDS = 12.0


def measure(size: Size) -> list[Figure]:
    """Measure with a server, without one from cold and from warm, and without Prefect."""
    with tempfile.TemporaryDirectory(prefix="benchyard-benchmark-") as made:
        base = Path(made)
        case = write_case(base, "first", [clocked("Nothing")])
        homes = [Path(tempfile.mkdtemp(prefix="home-", dir=base)) for _ in range(size.of(5))]
        cold = [_wait(case, environment(home), "--prefect") for home in homes]
        home = homes[-1]
        warm = [_wait(case, environment(home), "--prefect") for _ in range(size.of(5))]
        direct = [_wait(case, environment(home), "--direct") for _ in range(size.of(10, quick=2))][
            1:
        ]
        with_server = _with_server(case, home, size)
    return [
        Figure("to the first step, Prefect server running", with_server, limit=SERVER_SECONDS),
        Figure("to the first step, no server, cold PREFECT_HOME", cold, limit=COLD_SECONDS),
        Figure("to the first step, no server, warm PREFECT_HOME", warm),
        Figure("to the first step, --direct", direct),
    ]


def _with_server(case: Path, home: Path, size: Size) -> list[float]:
    client = home / "client"
    client.mkdir()
    with server(home) as url:
        variables = environment(client, url)
        return [_wait(case, variables) for _ in range(size.of(8, quick=2))][1:]


def _wait(case: Path, variables: dict[str, str], *options: str) -> float:
    started, record = execute(case, variables, *options)
    return first_start(record) - started


if __name__ == "__main__":
    run_program(__doc__, measure)
