"""What the CPUs' settings are found to be."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from benchyard.host.checks.check_context import Look, glance
from benchyard.host.checks.finding import Status
from benchyard.host.checks.processor import CHECKS
from tests.benchyard.host.checks.hosts import CPU, GUEST, LAPTOP, SERVER, scene_of, threads

WARN, OK, UNKNOWN = Status.WARN, Status.OK, Status.UNKNOWN
POLICY = f"{CPU}/cpufreq/policy0"


@pytest.mark.parametrize(
    ("check", "files", "status", "words", "advice"),
    [
        ("governor", LAPTOP, WARN, "powersave on 4 CPUs", "cpupower frequency-set -g performance"),
        ("governor", SERVER, OK, "performance on 8 CPUs", ""),
        (
            "governor",
            {f"{POLICY}/scaling_governor": "performance", **LAPTOP},
            WARN,
            "powersave on",
            "",
        ),
        ("governor", GUEST, UNKNOWN, "no frequency driver", ""),
        ("energy preference", LAPTOP, WARN, "balance_power", "cpupower set --epp performance"),
        ("turbo", LAPTOP, WARN, "on:", "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo"),
        ("turbo", SERVER, WARN, "on:", "echo 0 > /sys/devices/system/cpu/cpufreq/boost"),
        ("turbo", {f"{CPU}/cpufreq/boost": "0"}, OK, "off", ""),
        ("turbo", {f"{CPU}/intel_pstate/no_turbo": "?"}, UNKNOWN, "does not tell", ""),
        ("frequency limits", LAPTOP, WARN, "held to 3.00 of 4.20 GHz", "-u 4.20GHz"),
        ("frequency limits", SERVER, OK, "may reach 3.74 GHz", ""),
        ("SMT", LAPTOP, WARN, "on: 2 cores, 4 threads", "echo off > "),
        ("SMT", GUEST, OK, "off: 2 cores, 2 threads", ""),
        ("SMT", threads(2, {0: "0-1", 1: "0-1"}), WARN, "on: 1 core, 2 threads", ""),
        ("thermal throttling", LAPTOP, WARN, "65 times since boot", "cool"),
        (
            "thermal throttling",
            {f"{CPU}/cpu0/thermal_throttle/core_throttle_count": "0"},
            OK,
            "never",
            "",
        ),
        ("NUMA", SERVER, WARN, "2 nodes", "numactl --cpunodebind=0"),
        ("NUMA", LAPTOP, OK, "1 node", ""),
        ("CPU isolation", SERVER, OK, "of 0-7; 2-3 isolated", ""),
        ("CPU isolation", LAPTOP, OK, "none isolated", ""),
        (
            "kinds of cores",
            {"sys/devices/cpu_atom/cpus": "8-15"},
            WARN,
            "CPUs 8-15 are slower",
            "taskset",
        ),
        (
            "kinds of cores",
            {
                f"{CPU}/online": "0-2",
                f"{CPU}/cpu0/cpu_capacity": "446",
                f"{CPU}/cpu1/cpu_capacity": "446",
                f"{CPU}/cpu2/cpu_capacity": "1024",
            },
            WARN,
            "CPUs 0-1 are slower",
            "",
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
    found = CHECKS[check](scene_of(tmp_path, files))
    assert found is not None
    assert (found.check, found.status) == (check, status)
    assert words in found.finding
    assert advice in found.advice


@pytest.mark.parametrize("check", ["energy preference", "frequency limits", "kinds of cores"])
def test_what_a_host_has_not_got_needs_no_line(tmp_path: Path, check: str) -> None:
    assert CHECKS[check](scene_of(tmp_path, GUEST)) is None


def test_heat_at_this_very_moment_fails(tmp_path: Path) -> None:
    hotter = LAPTOP | {f"{CPU}/cpu1/thermal_throttle/core_throttle_count": "13"}
    before = glance(scene_of(tmp_path / "before", LAPTOP).host, 0.0)
    after = glance(scene_of(tmp_path / "after", hotter).host, 0.3)
    context = scene_of(tmp_path / "now", hotter, look=Look(before, after))
    found = CHECKS["thermal throttling"](context)
    assert found is not None
    assert (found.status, found.finding) == (Status.FAIL, "3 times in 0.3 s just now")
