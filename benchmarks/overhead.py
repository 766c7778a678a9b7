"""What the lab itself burns while a step only sleeps, and what is left when it is killed.

The CPU time is read from outside, by the clocks of the flow's process and of its sampler; the
record's own figures (``harness``) are held against them. The Prefect server runs elsewhere.
"""

import signal
import subprocess
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from benchmarks.lab import RESOURCES, benchyard, clocked, environment, server, write_case
from benchmarks.table import Figure, Size, run_program
from benchyard.core.clock import cpu_ns
from benchyard.host.measuring import RAW_FILE, lab_cpu_s
from benchyard.host.sampler import process
from benchyard.host.sampler.raw import Tick, read_raw
from benchyard.process.labels import start_time
from benchyard.results.record import read_record

#: Share of a core that flow and sampler may use together while a step sleeps.
SHARE = 0.006
#: Samples that must be on disk 5 s after the first one, at 0.1 s.
SAMPLES = 45
#: Seconds after which the sampler of a killed lab must be gone.
GONE_SECONDS = 1.0

_PREFECT = "Prefect's flow process alone, other machine"
_KROWN = "KROWN, 3 of 3 kills, other machine"


def measure(size: Size) -> list[Figure]:
    """Measure through Prefect with a server of its own."""
    with tempfile.TemporaryDirectory(prefix="benchyard-benchmark-") as made:
        base = Path(made)
        home = base / "home"
        home.mkdir()
        with server(home) as url:
            variables = environment(home, url)
            return [*_shares(base, variables, size), *_killed(base, variables, size)]


def _shares(base: Path, variables: Mapping[str, str], size: Size) -> list[Figure]:
    length, rounds = float(size.of(20, 2)), size.of(5)
    flows: list[float] = []
    samplers: list[float] = []
    told: list[float] = []
    for number in range(rounds):
        case = write_case(base, f"sleep-{number}", [clocked("sleep", "sleep", seconds=length + 3)])
        with _running(case, variables) as lab:
            sampler = _sampler_of(case)
            time.sleep(1)
            pids = (lab.pid, sampler)
            before = [cpu_ns(pid) or 0 for pid in pids]
            time.sleep(length)
            after = [cpu_ns(pid) or 0 for pid in pids]
            flow, sampling = ((b - a) / 1e9 / length for a, b in zip(before, after, strict=True))
            lab.wait()
        flows.append(flow)
        samplers.append(sampling)
        repetition = read_record(case / "results" / "run_1").steps[0].measured[0]
        told.append(lab_cpu_s(_without_server(repetition.harness)) / repetition.duration_s)
    both = [flow + sampling for flow, sampling in zip(flows, samplers, strict=True)]
    return [
        Figure("flow process and sampler, share of a core", both, "%", SHARE),
        Figure("flow process alone", flows, "%"),
        Figure("sampler alone, 0.1 s", samplers, "%"),
        Figure("both, as the record tells it", told, "%"),
        Figure("Prefect alone", [0.002], "%", literature=_PREFECT),
    ]


def _without_server(harness: Mapping[str, float | None]) -> dict[str, float | None]:
    return {name: value for name, value in harness.items() if not name.startswith("server")}


def _killed(base: Path, variables: Mapping[str, str], size: Size) -> list[Figure]:
    samples: list[float] = []
    gone: list[float] = []
    for number in range(size.of(5)):
        case = write_case(base, f"killed-{number}", [clocked("sleep", "sleep", seconds=600)])
        raw = case / "results" / "run_1" / RAW_FILE
        with _running(case, variables) as lab:
            sampler = _sampler_of(case)
            while not raw.exists() or not raw.stat().st_size:
                time.sleep(0.01)
            time.sleep(size.of(5))
            lab.send_signal(signal.SIGKILL)
            killed = time.monotonic()
            # Not whether /proc/PID is there: it stays until the system's init reaps the zombie.
            while start_time(sampler) is not None and time.monotonic() - killed < 10:
                time.sleep(0.002)
            gone.append(time.monotonic() - killed)
        samples.append(float(sum(isinstance(record, Tick) for record in read_raw(raw))))
    lost = [max(0.0, SAMPLES - count) for count in samples]
    return [
        Figure("samples on disk after kill -9, 5 s at 0.1 s", samples, ""),
        Figure(f"the same, missing of {SAMPLES}", lost, "", 0.0),
        Figure("sampler gone after", gone, "s", GONE_SECONDS),
        Figure("KROWN: samples on disk", [0.0], "", literature=_KROWN),
    ]


@contextmanager
def _running(case: Path, variables: Mapping[str, str]) -> "Generator[subprocess.Popen[bytes]]":
    command = benchyard("run", case, "--runs", "1", "--cooldown", "0")
    lab = subprocess.Popen(
        [*command, "--resources", str(RESOURCES)],
        cwd=case,
        env=dict(variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield lab
    finally:
        lab.kill()
        lab.wait()


def _sampler_of(case: Path) -> int:
    """Wait for the sampling process of a case's run, and return its process id.

    Raises:
        RuntimeError: If there is none after a minute.
    """
    wanted = (process.__file__.encode(), bytes(case))
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for folder in Path("/proc").glob("[0-9]*"):
            if all(text in _command_line(folder) for text in wanted):
                return int(folder.name)
        time.sleep(0.05)
    raise RuntimeError("the lab started no sampler")


def _command_line(folder: Path) -> bytes:
    try:
        return (folder / "cmdline").read_bytes()
    except OSError:
        return b""


if __name__ == "__main__":
    run_program(__doc__, measure)
