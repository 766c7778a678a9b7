"""Provenance: the testbed and the repository."""

# pyright: reportPrivateUsage=false

import json
import os
import platform
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from benchyard import environment as module
from benchyard.environment import case_info, environment, git_state

SAMPLE_LAYOUT = """===> CASE <===
Name: raw_100_2_0
Timestamp: 2024-06-06T13:54:16.920737+00:00
Directory: /cases/raw_100_2_0
Run: 1
Number of steps: 2

===> HARDWARE <===
System
\tHostname: dell-laptop
\tOS name: Fedora Linux
\tOS version: 40 (Workstation Edition)
\tKernel: Linux-6.8.10
\tArchitecture: x86_64
CPU
\tName: Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz
\tCores: 8
\tMinimum frequency: 400 MHz
\tMaximum frequency: 4200 MHz
Memory
\tRAM memory: 16612 MB
\tSWAP memory: 8589 MB
Storage
\tDisk "/": 510.48 GB
Network
\tInterface "lo"
\tInterface "eth0": 1000 mbps

===> DOCKER <===
Version: 26.1.3
Root directory: /var/lib/docker
Drivers:
\tStorage: btrfs
\tCgroupFS: systemd v2
"""


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    module._environment.cache_clear()
    yield
    module._environment.cache_clear()


def refuse(*_: Any, **__: Any) -> Any:
    raise PermissionError


def mounted(monkeypatch: pytest.MonkeyPatch, disks: list[Any]) -> None:
    def listed(**_: object) -> list[Any]:
        return disks

    monkeypatch.setattr(psutil, "disk_partitions", listed)


def test_it_is_plain_json_with_every_fact() -> None:
    found = environment()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert set(found) == {
        "host",
        "kernel",
        "os",
        "architecture",
        "cpu",
        "memory_bytes",
        "swap_bytes",
        "disks",
        "network",
        "python",
        "benchyard",
    }
    assert found["host"] == platform.node()
    assert found["memory_bytes"] == psutil.virtual_memory().total


def test_it_is_looked_up_once_and_cannot_be_spoilt(monkeypatch: pytest.MonkeyPatch) -> None:
    first = environment()
    host = first["host"]
    first["host"] = "changed"
    monkeypatch.setattr(platform, "node", refuse)
    assert environment()["host"] == host


def test_defect_26_unknown_frequencies_are_null(monkeypatch: pytest.MonkeyPatch) -> None:
    for answer in (None, SimpleNamespace(current=2000.0, min=0.0, max=0.0)):
        module._environment.cache_clear()
        monkeypatch.setattr(psutil, "cpu_freq", lambda a=answer: a)
        cpu = environment()["cpu"]
        assert isinstance(cpu, dict)
        assert cpu["frequency_min_hz"] is None
        assert cpu["frequency_max_hz"] is None
        assert "frequency: UNKNOWN" in case_info("c", Path("/c"), 1, 1, environment(), "t")


def test_defect_26_nothing_that_is_missing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "cpu_count",
        "cpu_freq",
        "virtual_memory",
        "swap_memory",
        "disk_partitions",
        "net_if_stats",
    ):
        monkeypatch.setattr(psutil, name, refuse)
    for name in ("node", "platform", "machine", "freedesktop_os_release"):
        monkeypatch.setattr(platform, name, refuse)
    for name in ("read_text", "glob", "exists"):
        monkeypatch.setattr(Path, name, refuse)
    found = environment()
    assert found["memory_bytes"] is None
    assert found["disks"] is None
    assert isinstance(found["cpu"], dict)
    assert set(found["cpu"].values()) == {None}
    text = case_info("c", Path("/c"), 1, 1, found, "t")
    assert "RAM memory: UNKNOWN" in text
    assert "None" not in text


def test_defect_19_frequencies_are_truly_megahertz(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = SimpleNamespace(current=2000.0, min=400.0, max=4200.5)
    monkeypatch.setattr(psutil, "cpu_freq", lambda: fake)
    found = environment()
    assert isinstance(found["cpu"], dict)
    assert found["cpu"]["frequency_min_hz"] == 400_000_000
    assert found["cpu"]["frequency_max_hz"] == 4_200_500_000
    text = case_info("c", Path("/c"), 1, 1, found, "t")
    assert "\tMinimum frequency: 400 MHz\n" in text
    assert "\tMaximum frequency: 4200 MHz\n" in text


def test_defect_25_a_diskless_host_has_no_disks(monkeypatch: pytest.MonkeyPatch) -> None:
    mounted(monkeypatch, [])
    assert environment()["disks"] == []
    assert "Storage\nNetwork\n" in case_info("c", Path("/c"), 1, 1, environment(), "t")


def test_only_real_disks_are_asked_for_their_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bound_file = tmp_path / "resolv.conf"
    bound_file.touch()
    mounts = [
        ("/dev/sda1", "ext4", tmp_path),
        ("/dev/loop3", "squashfs", tmp_path / "snap"),
        ("server:/home", "nfs4", tmp_path / "dead"),
        ("overlay", "overlay", tmp_path / "layer"),
        ("tmpfs", "tmpfs", tmp_path / "memory"),
        ("/dev/sda1", "ext4", bound_file),
    ]
    listed = [SimpleNamespace(device=d, fstype=f, mountpoint=str(m)) for d, f, m in mounts]
    mounted(monkeypatch, listed)
    asked: list[str] = []

    def usage(path: str) -> Any:
        asked.append(path)
        return SimpleNamespace(total=5)

    monkeypatch.setattr(psutil, "disk_usage", usage)
    assert environment()["disks"] == [
        {"mountpoint": str(tmp_path), "device": "/dev/sda1", "fstype": "ext4", "total_bytes": 5}
    ]
    assert asked == [str(tmp_path)]


def test_governor_and_turbo_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CPU", tmp_path)
    for policy, governor in (("policy0", "performance"), ("policy1", "powersave")):
        (tmp_path / "cpufreq" / policy).mkdir(parents=True)
        (tmp_path / "cpufreq" / policy / "scaling_governor").write_text(governor + "\n")
    (tmp_path / "cpufreq" / "boost").write_text("0\n")
    cpu = environment()["cpu"]
    assert isinstance(cpu, dict)
    assert cpu["governor"] == "performance, powersave"
    assert cpu["turbo"] is False
    (tmp_path / "intel_pstate").mkdir()
    (tmp_path / "intel_pstate" / "no_turbo").write_text("0\n")
    assert module._turbo() is True


def test_case_info_has_krowns_layout() -> None:
    facts: dict[str, Any] = {
        "host": "dell-laptop",
        "kernel": "Linux-6.8.10",
        "os": {"name": "Fedora Linux", "version": "40 (Workstation Edition)"},
        "architecture": "x86_64",
        "cpu": {
            "model": "Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz",
            "logical_cores": 8,
            "frequency_min_hz": 400_000_000,
            "frequency_max_hz": 4_200_000_000,
        },
        "memory_bytes": 16_612_999_999,
        "swap_bytes": 8_589_000_000,
        "disks": [{"mountpoint": "/", "total_bytes": 510_480_000_000}],
        "network": [
            {"name": "lo", "speed_bits_per_s": None},
            {"name": "eth0", "speed_bits_per_s": 1_000_000_000},
        ],
        "docker": {
            "version": "26.1.3",
            "root": "/var/lib/docker",
            "storage": "btrfs",
            "cgroup": "systemd v2",
        },
    }
    started = "2024-06-06T13:54:16.920737+00:00"
    text = case_info("raw_100_2_0", Path("/cases/raw_100_2_0"), 1, 2, facts, started)
    assert text == SAMPLE_LAYOUT


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    clean = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    answer = subprocess.run(
        ["git", *identity, "-C", str(folder), *arguments],  # noqa: S607 - as in the code
        check=True,
        capture_output=True,
        env=clean | {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"},
    )
    return answer.stdout.decode().strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    (tmp_path / "case").mkdir()
    (tmp_path / "case" / "metadata.json").write_text("{}")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "one")
    return tmp_path


def test_a_clean_repository_is_told(repository: Path) -> None:
    (repository / "case" / "results").mkdir()
    (repository / "case" / "results" / "run.json").touch()
    commit = git(repository, "rev-parse", "HEAD")
    assert git_state(repository / "case") == {"commit": commit, "dirty": False}


def test_a_dirty_repository_is_told(repository: Path) -> None:
    (repository / "case" / "metadata.json").write_text("{} ")
    assert git_state(repository / "case")["dirty"] is True


def test_another_repository_in_the_environment_does_not_mislead(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = git(repository, "rev-parse", "HEAD")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert git_state(repository)["commit"] == commit


def test_without_commit_repository_or_git_it_is_null(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unknown = {"commit": None, "dirty": None}
    assert git_state(tmp_path) == unknown
    assert git_state(tmp_path / "none") == unknown
    git(tmp_path, "init", "-q")
    assert git_state(tmp_path) == unknown
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_state(tmp_path) == unknown


def test_a_git_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "git"
    slow.write_text("#!/bin/sh\nexec sleep 600\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(module, "GIT_TIMEOUT", 0.2)
    began = time.monotonic()
    assert git_state(tmp_path) == {"commit": None, "dirty": None}
    assert time.monotonic() - began < 60
