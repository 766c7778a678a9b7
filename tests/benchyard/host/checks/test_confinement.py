"""What the lab is found to be shut in."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from benchyard.host.checks.confinement import CHECKS
from benchyard.host.checks.finding import Status
from tests.benchyard.host.checks.hosts import CONTAINER, GUEST, LAPTOP, SERVER, scene_of

FAIL, WARN, OK, UNKNOWN = Status.FAIL, Status.WARN, Status.OK, Status.UNKNOWN
AC, BATTERY = "sys/class/power_supply/AC", "sys/class/power_supply/BAT0"
TAINT = "proc/sys/kernel/tainted"


@pytest.mark.parametrize(
    ("check", "files", "status", "words", "advice"),
    [
        ("power supply", LAPTOP, FAIL, "battery, 57 % left", "plug the host in"),
        ("power supply", LAPTOP | {f"{AC}/online": "1"}, OK, "mains", ""),
        ("power supply", {f"{BATTERY}/type": "Battery"}, OK, "no battery", ""),
        (
            "power supply",
            {f"{BATTERY}/type": "Battery", f"{BATTERY}/status": "Full"},
            OK,
            "mains",
            "",
        ),
        ("power supply", SERVER, OK, "no battery", ""),
        ("power profile", LAPTOP, WARN, "balanced", "powerprofilesctl set performance"),
        (
            "power profile",
            {"sys/firmware/acpi/platform_profile": "performance"},
            OK,
            "performance",
            "",
        ),
        ("virtualization", LAPTOP, OK, "bare metal", ""),
        ("virtualization", GUEST, WARN, "virtual machine (QEMU)", "bare metal"),
        ("virtualization", CONTAINER, OK, "bare metal, in a container (docker)", ""),
        ("virtualization", {}, UNKNOWN, "does not tell", ""),
        ("cgroups", LAPTOP, WARN, "version 2: the peak", "Linux 6.12"),
        ("cgroups", SERVER, OK, "version 2: peaks of memory are reset", ""),
        ("cgroups", GUEST, OK, "version 1: peaks", ""),
        (
            "cgroups",
            LAPTOP | {"proc/sys/kernel/osrelease": "6.12.1-custom"},
            OK,
            "version 2: peaks",
            "",
        ),
        ("cgroups", LAPTOP | {"proc/sys/kernel/osrelease": "six"}, WARN, "not for each", ""),
        ("cgroups", {}, WARN, "none are mounted", "mount -t cgroup2"),
        ("limits of the lab", LAPTOP, OK, "none", ""),
        (
            "limits of the lab",
            CONTAINER,
            WARN,
            "2 of 8 cores, reached 41 times so far and 537 MB of memory",
            "quota",
        ),
        ("limits of the lab", GUEST, WARN, "1.5 of 2 cores and 268 MB of memory", ""),
        ("kernel", LAPTOP, WARN, "since boot: warning (taint 4608)", "dmesg"),
        ("kernel", {TAINT: "4097"}, OK, "nothing went wrong since boot (taint 4097)", ""),
        ("kernel", {TAINT: "-1"}, UNKNOWN, "does not tell", ""),
        (
            "kernel",
            SERVER | {"proc/cmdline": "ro slub_debug=FZP quiet\n"},
            WARN,
            "slub_debug=FZP",
            "boot without that",
        ),
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
    found = CHECKS[check](scene_of(tmp_path, files, user=0))
    assert found is not None
    assert (found.check, found.status) == (check, status)
    assert words in found.finding
    assert advice in found.advice


def test_only_root_resets_the_peaks_of_containers(tmp_path: Path) -> None:
    found = CHECKS["cgroups"](scene_of(tmp_path, GUEST, user=1000))
    assert found is not None
    assert found.status is WARN
    assert "only root may reset" in found.finding


def test_a_kernel_says_by_rights_that_it_does_not_reset(tmp_path: Path) -> None:
    context = scene_of(tmp_path, SERVER | {"proc/sys/kernel/osrelease": "6.12.0"}, user=0)
    [peak] = context.host.root.rglob("memory.peak")
    peak.chmod(0o444)
    found = CHECKS["cgroups"](context)
    assert found is not None
    assert found.status is WARN


def test_a_host_without_a_profile_needs_no_line(tmp_path: Path) -> None:
    assert CHECKS["power profile"](scene_of(tmp_path, SERVER)) is None


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
def test_what_is_found_of_permissions(
    tmp_path: Path, check: str, files: Mapping[str, str], status: Status, words: str
) -> None:
    context = scene_of(tmp_path, files)
    if check == "open files" and not words:
        with pytest.raises(IndexError):
            CHECKS[check](context)  # the examiner makes "unknown" of that
        return
    found = CHECKS[check](context)
    assert found is not None
    assert (found.check, found.status) == (check, status)
    assert words in found.finding


@pytest.mark.parametrize(("user", "words"), [(0, "root:"), (1000, "no root (user id 1000)")])
def test_who_is_asked_is_told(tmp_path: Path, user: int, words: str) -> None:
    found = CHECKS["user"](scene_of(tmp_path, {}, user=user))
    assert found is not None
    assert found.finding.startswith(words)
