"""What this user is found to be allowed to measure."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from benchyard.host.checks.finding import Status
from benchyard.host.checks.permissions import CHECKS
from tests.benchyard.host.checks.hosts import LAPTOP, SERVER, scene_of

WARN, OK, UNKNOWN = Status.WARN, Status.OK, Status.UNKNOWN
PERF = "proc/sys/kernel/perf_event_paranoid"
RAPL = "sys/class/powercap/intel-rapl:0/energy_uj"


@pytest.mark.parametrize(
    ("check", "files", "status", "words"),
    [
        ("process counters", LAPTOP, OK, "can be had"),
        ("process counters", {"proc/self/io": "x"}, WARN, "peaks of memory of processes cannot"),
        ("process counters", {}, WARN, "bytes of disks and peaks of memory"),
        ("perf events", LAPTOP, OK, "in own programs, outside of the kernel"),
        ("perf events", LAPTOP | {PERF: "-1"}, OK, "the kernel's too (perf_event_paranoid -1)"),
        ("perf events", LAPTOP | {PERF: "4"}, WARN, "this user may count nothing"),
        (
            "perf events",
            {PERF: "4", "proc/self/status": "CapEff:\t000001ffffffffff\n"},
            OK,
            "the kernel's too",
        ),
        ("perf events", {PERF: "4", "proc/self/status": "CapEff:\tno\n"}, WARN, "nothing"),
        ("perf events", {}, UNKNOWN, "has none"),
        ("energy counters", SERVER, OK, "1 counter (RAPL) can be read"),
        ("energy counters", LAPTOP, UNKNOWN, "has none"),
        ("energy counters", {RAPL: "no number"}, WARN, "1 counter, which only root may read"),
        ("open files", LAPTOP, OK, "1024 at once, 524288 if asked for"),
        ("open files", {"proc/self/limits": "Max open files 256 4096 files"}, WARN, "256 at once"),
        ("open files", {"proc/self/limits": "Max open files unlimited"}, UNKNOWN, ""),
        ("open files", {}, UNKNOWN, "does not tell"),
    ],
)
def test_what_is_found(
    tmp_path: Path, check: str, files: Mapping[str, str], status: Status, words: str
) -> None:
    scene = scene_of(tmp_path, files)
    if check == "open files" and not words:
        with pytest.raises(IndexError):
            CHECKS[check](scene)  # the examiner makes "unknown" of that
        return
    found = CHECKS[check](scene)
    assert found is not None
    assert (found.check, found.status) == (check, status)
    assert words in found.finding


@pytest.mark.parametrize(("user", "words"), [(0, "root:"), (1000, "no root (user id 1000)")])
def test_who_is_asked_is_told(tmp_path: Path, user: int, words: str) -> None:
    found = CHECKS["user"](scene_of(tmp_path, {}, user=user))
    assert found is not None
    assert found.finding.startswith(words)
