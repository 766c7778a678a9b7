"""The testbed is told as far as it is known; nothing is made up."""

from typing import Any

import pytest

from benchyard.host.facts import environment
from benchyard.publish.testresults.machine import machine_of


def test_a_whole_testbed() -> None:
    told = machine_of(
        {
            "host": "bench-01",
            "kernel": "Linux-6.1.0-18-amd64-x86_64-with-glibc2.36",
            "architecture": "x86_64",
            "cpu": {
                "model": "AMD EPYC 7763",
                "logical_cores": 16,
                "frequency_max_hz": 2_450_000_000,
                "governor": "performance",
                "affinity": "0-3,8",
                "cache_bytes": {"L2": 524288},
            },
            "memory_bytes": 135077429248,
        }
    )
    assert told == {
        "hostname": "bench-01",
        "platformInfo": {"machine": "x86_64", "release": "6.1.0-18-amd64", "system": "Linux"},
        "cpuInfo": {
            "numCores": "16",
            "numCoresAllowed": "5",
            "mhzPerCpu": 2450.0,
            "cpuInfo": "AMD EPYC 7763",
            "cpuGovernor": "performance",
            "cacheSize": {"L2": "524288"},
        },
        "memoryInfo": {"total": "135077429248"},
    }


def test_this_testbed() -> None:
    told: Any = machine_of(environment())
    assert told["hostname"]
    assert told["platformInfo"]["system"] == "Linux"
    assert int(told["cpuInfo"]["numCoresAllowed"]) >= 1
    assert int(told["memoryInfo"]["total"]) > 0


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"host": None, "cpu": None, "memory_bytes": None, "kernel": None, "architecture": None},
        {"host": 1, "cpu": "fast", "memory_bytes": True, "kernel": [], "architecture": {}},
        {"cpu": {"affinity": "all", "governor": None, "cache_bytes": {"L2": None}}},
        {"cpu": {"affinity": "", "logical_cores": "two", "frequency_max_hz": "3 GHz"}},
    ],
)
def test_what_is_not_known_is_absent(environment: Any) -> None:
    assert machine_of(environment) == {}


def test_a_strange_name_of_the_platform_gives_its_system_only() -> None:
    assert machine_of({"kernel": "Darwin", "architecture": "arm64"}) == {
        "platformInfo": {"machine": "arm64", "system": "Darwin"}
    }
