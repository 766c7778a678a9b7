"""The sampling process: it reads the host's counters until its input ends.

The collector starts it by file path, isolated, and imports it too, so that samples and boundaries
are read by the same code. It therefore imports nothing of Benchyard. Its input is a pipe that the
parent holds: when the parent dies, whatever killed it, the input ends.

What it writes: a line ``at_ns`` and the COLUMNS per sample into a file, ``ready`` on its output
after the first one, and its account as a line of JSON at the end.
"""

import json
import select
import sys
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import IO, TypeAlias

import psutil

Values: TypeAlias = "tuple[int | float | None, ...]"

#: KROWN's names and units: cpu s, memory B, disk times ms; absolute, not yet differences.
COLUMNS = (
    "cpu_user",
    "cpu_system",
    "cpu_idle",
    "cpu_iowait",
    "memory_ram",
    "memory_swap",
    "disk_read_count",
    "disk_write_count",
    "disk_read_bytes",
    "disk_write_bytes",
    "disk_read_time",
    "disk_write_time",
    "disk_busy_time",
    "network_received_count",
    "network_sent_count",
    "network_received_bytes",
    "network_sent_bytes",
    "network_received_error",
    "network_sent_error",
    "network_received_drop",
    "network_sent_drop",
)
_DISK = (
    "read_count",
    "write_count",
    "read_bytes",
    "write_bytes",
    "read_time",
    "write_time",
    "busy_time",
)
_NETWORK = (
    "packets_recv",
    "packets_sent",
    "bytes_recv",
    "bytes_sent",
    "errin",
    "errout",
    "dropin",
    "dropout",
)
#: Below this interval (s) a write per sample would be felt; lines then wait for FLUSH_NS.
SLOW = 0.05
FLUSH_NS = 500_000_000


def read_host() -> Values:
    """Read the host's counters, in the order of COLUMNS; None where the system does not tell."""
    return (*_cpu(), *_memory(), *_disk(), *_network())


def _cpu() -> Values:
    try:
        times = psutil.cpu_times()
    except OSError:
        return (None,) * 4
    return times.user, times.system, times.idle, times.iowait


def _memory() -> Values:
    # One reading of the kernel's file gives both at the same instant; psutil takes three files.
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None, None
    kib = {name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines)}
    return _used(kib, "MemTotal", "MemAvailable"), _used(kib, "SwapTotal", "SwapFree")


def _used(kib: dict[str, int], total: str, free: str) -> int | None:
    """Return the bytes in use. Source: proc_meminfo(5); its "kB" are 1024 bytes."""
    return (kib[total] - kib[free]) * 1024 if total in kib and free in kib else None


def _disk() -> Values:
    try:
        # The protection against wrapping keeps state and a lock; the kernel counts in 64 bits.
        disks = psutil.disk_io_counters(perdisk=True, nowrap=False) or {}
    except (OSError, NotImplementedError, ValueError):
        disks = {}
    found = [disks[name] for name in real_disks() if name in disks]
    if not found:
        return (None,) * len(_DISK)
    return tuple(sum(getattr(disk, name) for disk in found) for name in _DISK)


@cache
def real_disks() -> frozenset[str]:
    """Return the block devices with hardware behind them.

    Partitions, loops, RAM disks and volumes of the device mapper are left out: their traffic
    reaches a real disk, where it would be counted a second time, or none at all.
    """
    return frozenset(path.parent.name for path in Path("/sys/block").glob("*/device"))


def _network() -> Values:
    try:
        network = psutil.net_io_counters(nowrap=False)
    except OSError:
        network = None
    if not network:
        return (None,) * len(_NETWORK)
    return tuple(getattr(network, name) for name in _NETWORK)


def line_of(at_ns: int, values: Values) -> str:
    """Write a sample as a line; what is not known stays empty."""
    return ",".join((str(at_ns), *("" if v is None else repr(v) for v in values))) + "\n"


def next_deadline(due_ns: int, now_ns: int, interval_ns: int) -> tuple[int, int]:
    """Return the next deadline after now, and how many passed by without a sample.

    Deadlines are multiples of the interval from the first one, so what a sample costs shifts none.
    """
    missed = max(0, (now_ns - due_ns) // interval_ns)
    return due_ns + (missed + 1) * interval_ns, missed


def sample(stream: IO[str], interval: float) -> tuple[int, int]:
    """Sample until the input ends, and once more then.

    Args:
        interval: Seconds.

    Returns:
        How many samples were written, and how many deadlines missed.
    """
    interval_ns = max(1, round(interval * 1e9))
    samples = missed = 0
    due = flushed = time.monotonic_ns()
    ended = False
    while True:
        at = time.monotonic_ns()
        stream.write(line_of(at, read_host()))
        samples += 1
        if samples == 1 or interval >= SLOW or at - flushed >= FLUSH_NS:
            stream.flush()
            flushed = at
        if samples == 1:
            _tell("ready")
        if ended:
            return samples, missed
        due, passed = next_deadline(due, time.monotonic_ns(), interval_ns)
        missed += passed
        ended = _input_ends_before(due)


def _input_ends_before(due_ns: int) -> bool:
    left = max(0, due_ns - time.monotonic_ns()) / 1e9
    return bool(select.select([sys.stdin], [], [], left)[0])


def _tell(line: str) -> None:
    try:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # Nobody listens any more; the samples matter more, and the input ends in a moment.
        return


def main(arguments: Sequence[str]) -> None:
    """Sample into the file ``arguments[0]`` every ``arguments[1]`` seconds."""
    try:
        with Path(arguments[0]).open("w") as stream:
            stream.write(",".join(("at_ns", *COLUMNS)) + "\n")
            samples, missed = sample(stream, float(arguments[1]))
    except OSError as error:
        sys.exit(f"cannot write {arguments[0]}: {error.strerror}")
    _tell(json.dumps({"samples": samples, "missed": missed}))


if __name__ == "__main__":
    main(sys.argv[1:])
