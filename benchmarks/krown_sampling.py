"""Samples read with psutil and written with the csv module, in the way of KROWN's collector.

``python krown_sampling.py hot COUNT``: seconds per sample, back to back.
``python krown_sampling.py loop INTERVAL SECONDS``: CPU seconds, seconds, samples, missed, mean and
largest gap (s). It sleeps as KROWN does: interval minus (start minus now), so that what a sample
costs is added to the period; and it asks for the same columns by the same calls.
Source: KROWN's collector.py at f3cb8d4, imitated.
"""

import csv
import itertools
import sys
import time
from typing import IO

import psutil

CELLS = (
    *("index", "step", "timestamp", "version", "cpu_user", "cpu_system", "cpu_user_system"),
    *("cpu_idle", "cpu_iowait", "memory_ram", "memory_swap", "memory_ram_swap"),
    *("disk_read_count", "disk_write_count", "disk_read_bytes", "disk_write_bytes"),
    *("disk_read_time", "disk_write_time", "disk_busy_time"),
    *("network_received_count", "network_sent_count", "network_received_bytes"),
    *("network_sent_bytes", "network_received_error", "network_sent_error"),
    *("network_received_drop", "network_sent_drop"),
)


class Collector:
    """Takes samples into a file."""

    def __init__(self, stream: IO[str]) -> None:
        self._writer = csv.DictWriter(stream, CELLS)
        self._writer.writeheader()
        self._began = time.time()
        self.count = 0

    def sample(self, timestamp: float) -> None:
        """Take one sample and write its row."""
        self.count += 1
        row = {"index": self.count, "step": 1, "version": 3, **_memory(), **_cpu(), **_devices()}
        row["timestamp"] = round(timestamp - self._began, 4)
        self._writer.writerow(row)


def _cpu() -> dict[str, float]:
    times = psutil.cpu_times()
    return {
        "cpu_user": times.user,
        "cpu_system": times.system,
        "cpu_user_system": times.user + times.system,
        "cpu_idle": times.idle,
        "cpu_iowait": times.iowait,
    }


def _memory() -> dict[str, float]:
    ram, swap = psutil.virtual_memory(), psutil.swap_memory()
    return {
        "memory_ram": ram.used,
        "memory_swap": swap.used,
        "memory_ram_swap": ram.used + swap.used,
    }


def _devices() -> dict[str, float]:
    row: dict[str, float] = {}
    disk, network = psutil.disk_io_counters(), psutil.net_io_counters()
    if disk:
        for name in ("read_count", "write_count", "read_bytes", "write_bytes"):
            row[f"disk_{name}"] = getattr(disk, name)
        for name in ("read_time", "write_time", "busy_time"):
            row[f"disk_{name}"] = getattr(disk, name)
    names = ("packets_recv", "packets_sent", "bytes_recv", "bytes_sent")
    for column, name in zip(
        CELLS[-8:], (*names, "errin", "errout", "dropin", "dropout"), strict=True
    ):
        row[column] = getattr(network, name)
    return row


def hot(collector: Collector, count: int) -> None:
    """Print the seconds that a sample costs."""
    start = time.monotonic()
    for _ in range(count):
        collector.sample(time.time())
    print((time.monotonic() - start) / count)


def loop(collector: Collector, interval: float, length: float) -> None:
    """Sample for ``length`` seconds, and print what became of it."""
    start, cpu = time.monotonic(), time.process_time()
    instants: list[float] = []
    while time.monotonic() < start + length:
        instants.append(time.monotonic())
        timestamp = time.time()
        collector.sample(timestamp)
        time.sleep(interval - (timestamp - time.time()))
    used, took = time.process_time() - cpu, time.monotonic() - start
    gaps = [later - earlier for earlier, later in itertools.pairwise(instants)]
    missed = max(0, round(length / interval) - len(instants))
    print(used, took, len(instants), missed, sum(gaps) / len(gaps), max(gaps))


def main(way: str, *numbers: str) -> None:
    """Do as the command line says."""
    with open("/dev/null", "w", encoding="utf-8") as stream:  # noqa: PTH123
        collector = Collector(stream)
        if way == "hot":
            hot(collector, int(numbers[0]))
        else:
            loop(collector, *map(float, numbers))


if __name__ == "__main__":
    main(*sys.argv[1:])
