"""What is found of clocks."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from benchyard.host.checks.clocks import ClockState, read_clock, source, synchronization
from benchyard.host.checks.finding import Status
from tests.benchyard.host.checks.hosts import GUEST, LAPTOP, SERVER, write_host

PLACE = "sys/devices/system/clocksource/clocksource0"


def test_the_kernel_is_asked_of_its_clock() -> None:
    clock = read_clock()
    assert clock is None or clock.error_s >= 0


@pytest.mark.parametrize(
    ("clock", "files", "status", "words"),
    [
        (ClockState(True, 0.00012, 0.025), {}, Status.OK, "off by 0.12 ms, at most by 25 ms"),
        (ClockState(False, 0, 16), {}, Status.WARN, "not synchronized"),
        (ClockState(False, 0, 16), LAPTOP, Status.OK, "systemd-timesyncd"),
        (None, LAPTOP, Status.OK, "systemd-timesyncd"),
        (None, SERVER, Status.UNKNOWN, "does not tell"),
    ],
)
def test_synchronization(
    tmp_path: Path,
    clock: ClockState | None,
    files: Mapping[str, str],
    status: Status,
    words: str,
) -> None:
    found = synchronization(write_host(tmp_path, files), clock)
    assert found.status is status
    assert words in found.finding
    assert (found.advice == "") == (status is Status.OK)


@pytest.mark.parametrize(
    ("files", "status", "advice"),
    [
        (LAPTOP, Status.OK, ""),
        (GUEST, Status.OK, ""),
        (SERVER, Status.WARN, f"echo tsc > /{PLACE}/current_clocksource"),
        ({f"{PLACE}/current_clocksource": "hpet"}, Status.WARN, "dmesg | grep -i tsc"),
        ({}, Status.UNKNOWN, ""),
    ],
)
def test_the_source_of_time(
    tmp_path: Path, files: Mapping[str, str], status: Status, advice: str
) -> None:
    found = source(write_host(tmp_path, files))
    assert found.status is status
    assert advice in found.advice
