"""Provenance: what is known of the testbed."""

import json
import os
import platform
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import psutil
import pytest

from benchyard.host import facts as module
from benchyard.host.facts import environment, environment_of
from benchyard.host.facts.hardware import network
from benchyard.host.facts.reading import Host
from tests.benchyard.host.checks.hosts import (
    CONTAINER,
    CPU,
    GUEST,
    HOSTS,
    LAPTOP,
    SERVER,
    write_host,
)
from tests.conftest import eventually

FACTS = {
    *("host", "kernel", "kernel_parameters", "os", "architecture", "boot", "cpu", "memory_bytes"),
    *("swap_bytes", "swap", "huge_pages", "address_randomization", "disks", "network", "cgroup"),
    *("virtualization", "clocksource", "timezone", "power", "docker", "packages", "python"),
    "benchyard",
}


def refuse(*_: Any, **__: Any) -> Any:
    raise PermissionError


def told(folder: Path, files: Mapping[str, str | None]) -> Any:
    return environment_of(write_host(folder, files))


# -- this host


def test_it_is_plain_json_with_every_fact_looked_up_once_and_cannot_be_spoilt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module._environment.cache_clear()  # pyright: ignore[reportPrivateUsage]
    found = environment()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert set(found) == FACTS
    assert found["host"] == platform.node()
    first, found["host"] = found["host"], "changed"
    monkeypatch.setattr(platform, "node", refuse)
    assert environment()["host"] == first


def test_it_agrees_with_what_others_read() -> None:
    found: dict[str, Any] = environment()
    assert found["memory_bytes"] == psutil.virtual_memory().total
    assert found["cpu"]["logical_cores"] == psutil.cpu_count()
    assert found["cpu"]["physical_cores"] in (psutil.cpu_count(logical=False), None)
    assert eventually(interfaces_agree, 60)
    assert datetime.fromisoformat(found["boot"]["at"]).timestamp() == psutil.boot_time()
    assert found["boot"]["id"] == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert found["python"].endswith(platform.python_version())


def interfaces_agree() -> bool:
    """Tell whether nobody's container came or went meanwhile; if so, they must be the same."""
    before = set(psutil.net_if_stats())
    each: Any = network(Host())
    if before != set(psutil.net_if_stats()):
        return False
    assert {one["name"] for one in each} == before
    return True


def test_defect_26_nothing_that_is_missing_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("node", "platform", "machine", "freedesktop_os_release"):
        monkeypatch.setattr(platform, name, refuse)
    monkeypatch.setattr(os, "sched_getaffinity", refuse)
    found: dict[str, Any] = environment_of(Host(tmp_path))
    assert set(found) == FACTS
    assert (found["memory_bytes"], found["os"], found["disks"]) == (None, None, [])
    assert {name for name, value in found["cpu"].items() if value is not None} == {"logical_cores"}
    refused = told(tmp_path / "refused", dict.fromkeys(LAPTOP))
    assert (refused["memory_bytes"], refused["cpu"]["model"]) == (None, None)


# -- recorded hosts


@pytest.mark.parametrize("name", HOSTS)
def test_every_host_gives_every_fact_as_json(tmp_path: Path, name: str) -> None:
    found = told(tmp_path, HOSTS[name])
    assert set(found) == FACTS
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_a_laptop(tmp_path: Path) -> None:
    own = {f"{CPU}/cpufreq/policy2/scaling_governor": "performance\n"}
    own |= {f"{CPU}/vulnerabilities/mds": "Not affected\n"}
    found = told(tmp_path, LAPTOP | own)
    assert {
        "model": "Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz",
        "logical_cores": 4,
        "physical_cores": 2,
        "threads_per_core": 2,
        "sockets": 1,
        "numa_nodes": 1,
        "smt": True,
        "turbo": True,
        "isolated": "none",
        "microcode": "0xf4",
        "governor": "performance, powersave",
        "frequency_driver": "intel_pstate",
        "energy_preference": "balance_power",
        # Defect 19: frequencies are truly hertz.
        "frequency_min_hz": 400_000_000,
        "frequency_max_hz": 4_200_000_000,
        "frequency_limit_hz": 3_000_000_000,
        "vulnerabilities": {"mds": "Not affected"},
    }.items() <= found["cpu"].items()
    assert found["memory_bytes"] == 16223612 * 1024
    assert found["swap_bytes"] == 8388604 * 1024
    zram = {"name": "/dev/zram0", "kind": "partition", "priority": 100}
    sizes = {"size_bytes": 8388604 * 1024, "used_bytes": 388604 * 1024}
    assert found["swap"] == {"swappiness": 60, "devices": [zram | sizes]}
    assert found["power"] == {"supply": "battery", "charge_percent": 57}
    assert found["huge_pages"] == {"enabled": "madvise", "defrag": "madvise"}
    assert found["address_randomization"] == 2
    assert found["clocksource"] == {"current": "tsc", "available": ["tsc", "hpet", "acpi_pm"]}
    assert found["virtualization"]["product"] == "Dell Inc. Latitude 7490"
    assert found["network"] == [
        {"name": "enp0s31f6", "speed_bits_per_s": 1_000_000_000},
        {"name": "lo", "speed_bits_per_s": None},
        {"name": "wlp2s0", "speed_bits_per_s": None},
    ]


BOTH = {"proc/self/mountinfo": GUEST["proc/self/mountinfo"] + LAPTOP["proc/self/mountinfo"]}


def test_limits_and_versions_of_cgroups(tmp_path: Path) -> None:
    limits = {
        "container": (CONTAINER, ["2", 2.0, 512 << 20]),
        "guest": (GUEST, ["1", 1.5, 256 << 20]),
        "both": (GUEST | BOTH, ["hybrid", 1.5, 256 << 20]),
        "server": (SERVER, ["2", None, None]),
        "none": (dict[str, str](), [None, None, None]),
    }
    for name, (files, wanted) in limits.items():
        assert list(told(tmp_path / name, files)["cgroup"].values()) == wanted


FIRST = {"pid": 4026531836, "uts": 4026531838, "ipc": 4026531839}


def test_machines_and_containers_are_told_apart(tmp_path: Path) -> None:
    namespaces = {f"proc/self/ns/{kind}": f"-> {kind}:[{at}]" for kind, at in FIRST.items()}
    hosts: list[tuple[dict[str, str], bool | None, str | None]] = [
        (GUEST, True, None),
        (SERVER, False, None),
        (CONTAINER, False, "docker"),
        ({}, None, None),
        ({"run/.containerenv": 'engine="podman-4.9"'}, None, "podman"),
        ({"proc/1/environ": "PATH=/bin\0container=lxc\0"}, None, "lxc"),
        ({"run/systemd/container": "nspawn"}, None, "nspawn"),
        # A machine made from an image has all of its files.
        ({"run/.containerenv": "", **namespaces}, None, None),
    ]
    for at, (files, *kinds) in enumerate(hosts):
        found = told(tmp_path / str(at), files)["virtualization"]
        assert [found["hypervisor"], found["container"]] == kinds


def test_the_time_zone_and_only_telling_words_of_the_command_line_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TZ", raising=False)
    line = "root=/dev/sda1 quiet isolcpus=2-3 password=x mitigations=off nosmt\n"
    files = {"proc/cmdline": line, "etc/timezone": "Europe/Brussels\n"}
    found = told(tmp_path, files)
    assert found["kernel_parameters"] == ["isolcpus=2-3", "mitigations=off", "nosmt"]
    assert found["timezone"]["name"] == "Europe/Brussels"
    link = {"etc/localtime": "-> ../usr/share/zoneinfo/Asia/Tokyo"}
    assert told(tmp_path / "b", link)["timezone"]["name"] == "Asia/Tokyo"
    monkeypatch.setenv("TZ", "UTC")
    assert told(tmp_path / "c", link)["timezone"]["name"] == "UTC"
