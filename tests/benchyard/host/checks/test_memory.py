"""What the memory is found to be."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from benchyard.host.checks.check_context import Look, glance
from benchyard.host.checks.finding import Status
from benchyard.host.checks.memory import CHECKS
from tests.benchyard.host.checks.hosts import GUEST, LAPTOP, SERVER, scene_of

WARN, OK, UNKNOWN = Status.WARN, Status.OK, Status.UNKNOWN
ASLR = "proc/sys/kernel/randomize_va_space"
THP = "sys/kernel/mm/transparent_hugepage"
NO_SWAP = "Filename\tType\tSize\tUsed\tPriority\n"


@pytest.mark.parametrize(
    ("check", "files", "status", "words", "advice"),
    [
        ("swap", LAPTOP, WARN, "398 MB of 8.59 GB used, in memory (zram)", "swapoff -a"),
        ("swap", SERVER, OK, "none", ""),
        ("swap", {"proc/swaps": NO_SWAP + "/swap\\040x file 1000 0 -2\n"}, WARN, "0 B of", ""),
        ("swap", {"proc/swaps": NO_SWAP + "/x file 1000\n/y file a b c\n"}, OK, "none", ""),
        ("swap", {}, UNKNOWN, "does not tell", ""),
        ("free memory", LAPTOP, OK, "9.22 GB of 16.6 GB available", ""),
        ("free memory", SERVER, WARN, "20.5 GB of 541 GB", "ps -eo rss,comm"),
        ("free memory", {"proc/meminfo": "MemTotal: 5 kB"}, UNKNOWN, "does not tell", ""),
        ("huge pages", LAPTOP, OK, "madvise: only for programs that ask", ""),
        ("huge pages", SERVER, WARN, "always", f"echo madvise > /{THP}/enabled"),
        (
            "huge pages",
            {f"{THP}/enabled": "always [madvise] never", f"{THP}/defrag": "[always] never"},
            WARN,
            "defrag always",
            f"echo madvise > /{THP}/defrag",
        ),
        ("huge pages", {f"{THP}/enabled": "always madvise [never]"}, OK, "never", ""),
        ("ASLR", LAPTOP, OK, "full", ""),
        ("ASLR", {ASLR: "1"}, WARN, "partial (1)", "sysctl -w kernel.randomize_va_space=2"),
        ("ASLR", {ASLR: "0"}, WARN, "off: all runs share a layout", ""),
        ("ASLR", {ASLR: "on"}, UNKNOWN, "does not tell", ""),
    ],
)
def test_what_is_found(
    tmp_path: Path,
    check: str,
    files: Mapping[str, str],
    status: Status,
    words: str,
    advice: str,
) -> None:
    found = CHECKS[check](scene_of(tmp_path, files))
    assert found is not None
    assert (found.check, found.status) == (check, status)
    assert words in found.finding
    assert advice in found.advice


def test_swapping_at_this_very_moment_fails(tmp_path: Path) -> None:
    busy = LAPTOP | {"proc/vmstat": "pswpin 100\npswpout 0\n"}
    before = glance(scene_of(tmp_path / "before", LAPTOP).host, 0.0)
    after = glance(scene_of(tmp_path / "after", busy).host, 0.3)
    found = CHECKS["swap"](scene_of(tmp_path / "now", busy, look=Look(before, after)))
    assert found is not None
    assert found.status is Status.FAIL
    assert "moved in 0.3 s just now" in found.finding


def test_what_a_guest_does_not_tell_is_unknown(tmp_path: Path) -> None:
    found = CHECKS["huge pages"](scene_of(tmp_path, GUEST))
    assert found is not None
    assert found.status is UNKNOWN
