"""What else the host is found to do."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from benchyard.host.checks.finding import Finding, Status
from benchyard.host.checks.load import CHECKS
from benchyard.host.checks.look import Look, glance, look
from benchyard.host.checks.scene import Scene
from benchyard.host.facts.reading import Host
from tests.benchyard.host.checks.hosts import GUEST, LAPTOP, SERVER, STAT, scene_of

WARN, OK, UNKNOWN = Status.WARN, Status.OK, Status.UNKNOWN


def process(ticks: int, name: str = "x) R 1 (y") -> str:
    return f"7 ({name}) S 1 7 7 0 -1 4194560 100 0 2 0 {ticks} 0 0 0 20 0 1 0 100 0 50\n"


def looked(folder: Path, before: Mapping[str, str], after: Mapping[str, str]) -> Scene:
    """Return a scene with a look of half a second between two states of a host."""
    first = glance(scene_of(folder / "before", before).host, 0.0)
    second = glance(scene_of(folder / "after", after).host, 0.5)
    return scene_of(folder / "now", after, look=Look(first, second))


def made(check: str, scene: Scene) -> Finding:
    found = CHECKS[check](scene)
    assert found is not None
    assert found.check == check
    return found


@pytest.mark.parametrize(
    ("check", "files", "status", "words"),
    [
        ("load average", LAPTOP, OK, "0.05 0.10 0.08 over 1, 5 and 15 minutes, on 4 cores"),
        ("load average", SERVER, WARN, "7.90 8.10 8.00"),
        ("load average", {"proc/loadavg": "99 99 99 1/2 3"}, WARN, "99 99 99"),
        ("load average", {}, UNKNOWN, "does not tell"),
        ("pressure", LAPTOP, OK, "cpu 0.00%, memory 0.00%, io 0.00%"),
        ("pressure", SERVER, WARN, "cpu 12.50%"),
        ("pressure", {"proc/pressure/io": "some avg10=1.01 total=5"}, WARN, "waited: io 1.01%"),
        ("pressure", {"proc/pressure/cpu": "full avg10=9.00"}, UNKNOWN, "does not measure"),
        ("steal", GUEST, WARN, "5.18% of all CPU time since boot"),
        ("steal", {"proc/stat": "cpu 1 2 3"}, UNKNOWN, "does not tell"),
    ],
)
def test_what_is_found(
    tmp_path: Path, check: str, files: Mapping[str, str], status: Status, words: str
) -> None:
    found = made(check, scene_of(tmp_path, files))
    assert found.status is status
    assert words in found.finding


def test_bare_metal_needs_no_line_for_steal(tmp_path: Path) -> None:
    assert CHECKS["steal"](scene_of(tmp_path, LAPTOP)) is None


def test_without_a_look_nobody_is_busy(tmp_path: Path) -> None:
    assert CHECKS["busy processes"](scene_of(tmp_path, LAPTOP)) is None


def test_a_load_of_all_cores_fails_while_looked_at(tmp_path: Path) -> None:
    busy = SERVER | {"proc/loadavg": "8.00 1 1 1/1 1"}
    assert made("load average", looked(tmp_path, busy, busy)).status is Status.FAIL


def test_who_computes_is_named_with_its_share(tmp_path: Path) -> None:
    before = LAPTOP | {"proc/10/stat": process(500), "proc/11/stat": process(7)}
    after = {
        "proc/10/stat": process(545),
        "proc/10/comm": "postgres\n",
        "proc/11/stat": process(8),
        "proc/12/stat": process(20),
        "proc/12/comm": "cc1\n",
    }
    found = made("busy processes", looked(tmp_path, before, before | after))
    assert found.status is WARN
    assert found.finding == "postgres (pid 10) 90%, cc1 (pid 12) 40% of a core"


def test_nobody_computes(tmp_path: Path) -> None:
    still = LAPTOP | {"proc/10/stat": process(500)}
    found = made("busy processes", looked(tmp_path, still, still))
    assert found.finding == "none above 5% of a core in 0.5 s"


def test_steal_at_this_very_moment_counts(tmp_path: Path) -> None:
    before = GUEST | {"proc/stat": STAT.format(user=9000, idle=900_000, steal=100)}
    after = GUEST | {"proc/stat": STAT.format(user=9000, idle=900_000, steal=110)}
    found = made("steal", looked(tmp_path, before, after))
    assert found.status is WARN
    assert found.finding.startswith("0.10 s in 0.5 s just now; 0.01% of all CPU time since boot")
    assert made("steal", looked(tmp_path / "b", before, before)).status is OK


def test_a_real_process_that_burns_is_found() -> None:
    program = "print(flush=True)\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as burner:
        assert burner.stdout is not None
        burner.stdout.readline()
        try:
            seen = look(Host(), 0.2)
        finally:
            burner.kill()
    assert seen is not None
    assert seen.shares()[burner.pid] > 0.05


def test_no_time_is_no_look() -> None:
    assert look(Host(), 0) is None
