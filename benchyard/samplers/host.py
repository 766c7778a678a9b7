"""The collector of a whole host: KROWN's columns as curves, and counters at every boundary."""

import heapq
import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from benchyard.collector import Account, Measured, Reading, StepWindow, Used
from benchyard.errors import MeasurementError
from benchyard.files import write_atomically
from benchyard.harness import HarnessMeter, HarnessReading, used_by_lab
from benchyard.krown_csv import COLUMNS, COUNTERS, to_csv
from benchyard.model import Json
from benchyard.samplers import process, sampler
from benchyard.samplers.rows import Sample, read_samples, rows
from benchyard.samplers.sampler import Sampler, start_sampler
from benchyard.usage import Owned

METRICS_FILE = "metrics.csv"
RAW_FILE = "samples.raw.csv"
_LEVELS = {"memory_ram": "host_memory_used_bytes", "memory_swap": "host_swap_used_bytes"}


@dataclass(frozen=True, slots=True)
class HostReading:
    """The host's counters and the lab's at one instant."""

    at_ns: int
    wall_ns: int
    columns: Mapping[str, float | None]
    harness: HarnessReading


class HostCollector:
    """Measures a run by what its whole host does."""

    def __init__(self, run: Measured) -> None:
        self._run = run
        self._folder = run.folder
        self._harness = HarnessMeter({"flow": os.getpid(), **run.lab})
        self._sampler: Sampler | None = None
        self._boundaries: list[Sample] = []
        self._account: Account | None = None
        self._stopping = threading.Lock()

    def start(self) -> None:
        """Begin to sample; see ``Collector``."""
        self._sampler = start_sampler(self._folder / RAW_FILE, self._run.interval_s)

    def watch(self, resource: str, owned: Owned) -> None:
        """See ``Collector``."""

    def boundary(self, owned: Owned, *, begins: bool) -> Reading:
        """See ``Collector``."""
        del owned
        early = None if begins else self._harness.read(memory=True)
        at_ns, wall_ns, values = time.monotonic_ns(), time.time_ns(), process.read_host()
        # What lies before the first sample (one-time work) is no part of the curves.
        if self._sampler is not None:
            self._boundaries.append(Sample(at_ns, values, boundary=True))
        columns = dict(zip(process.COLUMNS, values, strict=True))
        return HostReading(at_ns, wall_ns, columns, early or self._harness.read(memory=False))

    def used(self, start: Reading, end: Reading) -> Used:
        """See ``Collector``."""
        before, after = cast("HostReading", start), cast("HostReading", end)
        counters, levels = _named(after.columns)
        earlier, _ = _named(before.columns)
        for name, value in counters.items():
            then = earlier[name]
            levels[name] = None if value is None or then is None else value - then
        return Used(levels, used_by_lab(before.harness, after.harness))

    def stop(self, steps: Sequence[StepWindow]) -> Account:
        """See ``Collector``."""
        with self._stopping:
            if self._account is None:
                self._account = self._stop(steps)
            return self._account

    def _stop(self, steps: Sequence[StepWindow]) -> Account:
        ended = sampler.Account(None, 0.0, "it was not started")
        if self._sampler is not None:
            ended = self._sampler.end()
        self._harness.close()
        try:
            samples = self._write(steps)
        except OSError as error:
            path = self._folder / METRICS_FILE
            raise MeasurementError(f"{path}: cannot be written: {error}") from error
        facts: dict[str, Json] = {
            "name": "host",
            "interval_s": self._run.interval_s,
            "samples": samples,
            "boundaries": len(self._boundaries),
            "missed": ended.missed,
            "sampler_cpu_s": ended.cpu_s,
            "file": METRICS_FILE,
            "error": ended.error,
        }
        return Account(facts)

    def _write(self, steps: Sequence[StepWindow]) -> int:
        """Merge samples and boundaries into ``metrics.csv``; return the number of samples."""
        raw = self._folder / RAW_FILE
        samples = list(read_samples(raw))
        boundaries = sorted(self._boundaries, key=_when)
        merged = heapq.merge(samples, boundaries, key=_when)
        made = rows(merged, steps, self._run.case, self._run.run, self._run.origin_ns)
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
