"""The collector of a run on this host: counters at boundaries, curves beside, the lab's own share.

Counters come first: what a step used is the difference between two boundaries. Sampling draws
curves and nothing else. The lab's own processes are read innermost, closest to the command, so
that reading the counters is not taken for the lab's work during the step. Their CPU time is read
from each process's own clock: a tenth of the cost of /proc, and its ticks of 10 ms would hide most
of what is to be shown.
"""

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from benchyard.core.clock import cpu_ns, seconds
from benchyard.core.errors import MeasurementError
from benchyard.core.model import Json
from benchyard.host.checks.suspicion import suspicions, wait_share
from benchyard.host.collector import Account, MeasuredRun, Metrics, Reading, Used
from benchyard.host.counters import Counters, Snapshot, lives_between
from benchyard.host.counters.host import krown_columns
from benchyard.host.counters.kernel import KernelFile
from benchyard.host.counters.parsing import PAGE_BYTES
from benchyard.host.sampler import Sampler, SamplerAccount, host_files, start_sampler
from benchyard.host.sampler.curves import CurvesAccount, write_curves
from benchyard.host.sampler.rows import Boundary, StepSpan
from benchyard.process.launching import launcher_pid
from benchyard.process.usage import Owned, Stop, stops_since
from benchyard.results.folders import RAW_FILE


@dataclass(frozen=True, slots=True)
class HarnessReading:
    """The lab's processes at one instant; None of one that is gone.

    Args:
        cpu_ns: Name to CPU nanoseconds so far, all threads.
        memory_bytes: Name to resident set; empty where it was not asked for.
    """

    cpu_ns: Mapping[str, int | None]
    memory_bytes: Mapping[str, int | None] = field(default_factory=dict[str, int | None])


class HarnessMeter:
    """Reads what the lab's processes use.

    Args:
        pids: Name of each to its process id.
    """

    def __init__(self, pids: Mapping[str, int]) -> None:
        self._pids: dict[str, int] = {}
        self._files: dict[str, KernelFile] = {}
        for name, pid in pids.items():
            self.add(name, pid)

    def add(self, name: str, pid: int) -> None:
        """Count one more process."""
        self._pids[name] = pid
        self._files[name] = KernelFile(Path(f"/proc/{pid}/statm"))

    def read(self, *, memory: bool) -> HarnessReading:
        """Read the clocks, and the memory if it is wanted; takes microseconds."""
        clocks = {name: cpu_ns(pid) for name, pid in self._pids.items()}
        if not memory:
            return HarnessReading(clocks)
        return HarnessReading(clocks, {name: self._resident(name) for name in self._pids})

    def _resident(self, name: str) -> int | None:
        """Return a resident set. Source: proc_pid_statm(5), second field, in pages."""
        fields = (self._files[name].read() or b"").split()
        return int(fields[1]) * PAGE_BYTES if fields else None

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()


def used_by_lab(start: HarnessReading, end: HarnessReading) -> dict[str, float | None]:
    """Return CPU seconds between two readings, and memory at the second one."""
    used: dict[str, float | None] = {}
    for name, after in end.cpu_ns.items():
        before = start.cpu_ns.get(name)
        spent = None if before is None or after is None else (after - before) / 1e9
        used[f"{name}_cpu_s"] = spent
        used[f"{name}_memory_bytes"] = end.memory_bytes.get(name)
    return used


def lab_cpu_s(harness: Metrics) -> float:
    """Return the CPU seconds of all the lab's processes, as far as they are known."""
    return sum(v for name, v in harness.items() if name.endswith("_cpu_s") and v is not None)


@dataclass(frozen=True, slots=True)
class LocalReading:
    """The counters, and the lab's own processes, at one instant.

    Args:
        drawn: Whether there are curves already.
        number: How many readings there were before.
        others: How many commands and phases are under way beside the one that this is about.
    """

    counters: Snapshot
    harness: HarnessReading
    drawn: bool
    number: int
    others: int

    @property
    def at_ns(self) -> int:
        """Monotonic nanoseconds."""
        return self.counters.at_ns

    @property
    def wall_ns(self) -> int:
        """Nanoseconds since 1970, of the wall clock."""
        return self.counters.wall_ns


def _edge(reading: LocalReading) -> Boundary:
    return Boundary(reading.at_ns, krown_columns(reading.counters.host))


class LocalCollector:
    """Measures a run on this host."""

    def __init__(self, run: MeasuredRun) -> None:
        self._run = run
        self._cores = os.cpu_count() or 1
        self._waiting = wait_share()
        self._readings = self._under_way = 0
        self._counting = threading.Lock()
        self._counters = Counters()
        self._harness = HarnessMeter({"flow": os.getpid(), **run.lab})
        self._raw = run.folder / RAW_FILE
        self._asked = False
        self._sampler: Sampler | None = None
        self._executions: list[StepSpan] = []
        # Whether each program in a container was watched with real-time priority.
        self._real_time: list[bool] = []
        self._problems: dict[str, str] = {}
        self._account: Account | None = None
        self._stopping = threading.Lock()

    def start(self) -> None:
        """Begin to sample; see ``Collector``."""
        self._asked = True
        sampler = start_sampler(self._raw, self._run.interval_s, host_files())
        with self._stopping:
            if self._account is None:
                self._sampler = sampler
                self._harness.add("sampler", sampler.pid)
                if (pid := launcher_pid()) is not None:
                    self._harness.add("launcher", pid)
                return
        sampler.end()
        raise MeasurementError("sampling was stopped while it started")

    def watch(self, resource: str, owned: Owned) -> None:
        """See ``Collector``."""
        if self._sampler is not None:
            self._sampler.watch(resource, owned)

    def boundary(self, owned: Owned, *, begins: bool) -> Reading:
        """See ``Collector``."""
        # What lies before the first sample (one-time work) is no part of the curves.
        place = (self._sampler is not None, *self._count(begins=begins))
        if begins:
            snapshot = self._counters.read(owned)
            return LocalReading(snapshot, self._harness.read(memory=False), *place)
        harness = self._harness.read(memory=True)
        return LocalReading(self._counters.read(owned), harness, *place)

    def _count(self, *, begins: bool) -> tuple[int, int]:
        """Count a reading; return its number, and how much else is under way."""
        with self._counting:
            others = self._under_way - (not begins)
            self._under_way += 1 if begins else -1
            self._readings += 1
            return self._readings, others

    def used(
        self, start: Reading, end: Reading, *, step: int | None = None, beside: bool = False
    ) -> Used:
        """See ``Collector``."""
        before, after = cast("LocalReading", start), cast("LocalReading", end)
        if step is not None and before.drawn:
            self._executions.append(StepSpan(step, _edge(before), _edge(after)))
        metrics = self._counters.used(before.counters, after.counters)
        ended = [life.span for life in lives_between(before.counters, after.counters)]
        for span in ended:
            self._real_time += [] if span.is_real_time is None else [span.is_real_time]
            self._problems |= {"run_s": span.problem} if span.problem else {}
        harness = used_by_lab(before.harness, after.harness)
        alone = not beside and not before.others and after.number == before.number + 1
        suspect = suspicions(
            metrics,
            seconds(after.at_ns - before.at_ns),
            self._cores,
            lab_s=lab_cpu_s(harness) if alone else None,
            waiting=self._waiting,
            program=ended[-1] if ended else None,
        )
        return Used(metrics, harness, suspect)

    def stop(self, began: Mapping[int, int]) -> Account:
        """See ``Collector``."""
        with self._stopping:
            if self._account is None:
                self._account = self._stop(began)
            return self._account

    def _stop(self, began: Mapping[int, int]) -> Account:
        ended = SamplerAccount(error="it did not start" if self._asked else None)
        curves = CurvesAccount()
        if self._sampler is not None:
            ended = self._sampler.end()
            try:
                curves = write_curves(self._raw, self._run, self._executions, began)
            except MeasurementError as error:
                # Curves are not worth a run; what its steps used is known all the same.
                ended = replace(ended, error=str(error))
        facts = self._facts(ended, curves)
        self._harness.close()
        self._counters.close()
        stops = [Stop("the lab's sampler", *stop) for stop in curves.stops]
        return Account(facts, curves.sampled, [*stops_since(self._run.origin_ns), *stops])

    def _facts(self, ended: SamplerAccount, curves: CurvesAccount) -> dict[str, Json]:
        return {
            "name": "local",
            "interval_s": self._run.interval_s,
            "cpu_wait_share": self._waiting,
            "samples": curves.samples,
            "real_time": all(self._real_time) if self._real_time else None,
            "boundaries": 2 * len(self._executions),
            "missed": None if ended.error else curves.missed,
            "gaps": [list[Json](gap) for gap in curves.gaps],
            "notes": list[Json](curves.notes),
            "files": list[Json](curves.files),
            "sampler_cpu_s": ended.cpu_s,
            "sampler_peak_rss_bytes": ended.peak_rss_bytes,
            "error": ended.error,
            "memory_peak_bytes": dict[str, Json](self._counters.peaks()),
            "unknown": {**self._counters.reasons, **self._problems},
        }
