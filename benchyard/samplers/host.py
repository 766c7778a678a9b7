"""The collector of a whole host: KROWN's columns as curves, and counters at every boundary."""

import heapq
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchyard.collector import Owned, Reading, StepWindow
from benchyard.errors import MeasurementError
from benchyard.files import write_atomically
from benchyard.krown_csv import COLUMNS, COUNTERS, to_csv
from benchyard.model import Json
from benchyard.samplers import process
from benchyard.samplers.rows import Sample, read_samples, rows
from benchyard.samplers.sampler import Account, Sampler, start_sampler
from benchyard.samplers.tree import tree_cpu_s

METRICS_FILE = "metrics.csv"
RAW_FILE = "samples.raw.csv"
_LEVELS = {"memory_ram": "host_memory_used_bytes", "memory_swap": "host_swap_used_bytes"}


class HostCollector:
    """Measures a run by what its whole host does.

    Args:
        folder: The run's result folder.
        case: Title of the case.
        interval: Seconds between two samples.
        origin_ns: The run's start, monotonic nanoseconds.
    """

    def __init__(self, folder: Path, case: str, run: int, interval: float, origin_ns: int) -> None:
        self._folder = folder
        self._case = case
        self._run = run
        self._interval = interval
        self._origin_ns = origin_ns
        self._sampler: Sampler | None = None
        self._boundaries: list[Sample] = []
        self._account: dict[str, Json] | None = None
        self._stopping = threading.Lock()

    def start(self) -> None:
        """Start the sampler, and wait for its first sample.

        Raises:
            MeasurementError: If there is none.
        """
        self._sampler = start_sampler(self._folder / RAW_FILE, self._interval)

    def boundary(self, owned: Owned) -> Reading:
        """Read the host's counters, and the CPU time of the owned process trees."""
        at_ns = time.monotonic_ns()
        values = process.read_host()
        # What lies before the first sample (one-time work) is no part of the curves.
        if self._sampler is not None:
            self._boundaries.append(Sample(at_ns, values, boundary=True))
        counters, levels = _named(dict(zip(process.COLUMNS, values, strict=True)))
        if owned.pids:
            user, system = tree_cpu_s(owned.pids)
            counters |= {"tree_cpu_user_s": user, "tree_cpu_system_s": system}
        return Reading(at_ns, counters, levels)

    def stop(self, steps: Sequence[StepWindow]) -> dict[str, Json]:
        """End the sampler, write ``metrics.csv``, and return the account.

        Raises:
            MeasurementError: If the file cannot be written; the sampler is gone all the same.
        """
        with self._stopping:
            if self._account is None:
                self._account = self._stop(steps)
            return dict(self._account)

    def _stop(self, steps: Sequence[StepWindow]) -> dict[str, Json]:
        ended = Account(None, 0.0, "it was not started")
        if self._sampler is not None:
            ended = self._sampler.end()
        try:
            samples = self._write(steps)
        except OSError as error:
            path = self._folder / METRICS_FILE
            raise MeasurementError(f"{path}: cannot be written: {error}") from error
        return {
            "name": "host",
            "interval_s": self._interval,
            "samples": samples,
            "boundaries": len(self._boundaries),
            "missed": ended.missed,
            "sampler_cpu_s": ended.cpu_s,
            "file": METRICS_FILE,
            "error": ended.error,
        }

    def _write(self, steps: Sequence[StepWindow]) -> int:
        """Merge samples and boundaries into ``metrics.csv``; return the number of samples."""
        raw = self._folder / RAW_FILE
        samples = list(read_samples(raw))
        boundaries = sorted(self._boundaries, key=_when)
        merged = heapq.merge(samples, boundaries, key=_when)
        made = rows(merged, steps, self._case, self._run, self._origin_ns)
        write_atomically(self._folder / METRICS_FILE, to_csv(COLUMNS, made))
        raw.unlink(missing_ok=True)
        return len(samples)


def _when(sample: Sample) -> int:
    return sample.at_ns


def _named(
    columns: Mapping[str, float | None],
) -> tuple[dict[str, float | None], dict[str, float | None]]:
    """Give KROWN's columns our names and SI units: counters, and levels."""
    counters: dict[str, float | None] = {}
    for column, (names, scale) in COUNTERS.items():
        if len(names) == 1:
            value = columns[column]
            counters[names[0]] = value / scale if value is not None and scale != 1 else value
    return counters, {name: columns[column] for column, name in _LEVELS.items()}
