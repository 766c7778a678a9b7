"""``case-info.txt``."""

from pathlib import Path
from typing import Any

from benchyard.host.facts import environment_of
from benchyard.host.facts.reading import Host
from benchyard.run.record_facts import case_info

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
            {"name": name, "speed_bits_per_s": speed}
            for name, speed in (("lo", None), ("eth0", 1_000_000_000))
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


def test_defect_26_nothing_told_is_no_error(tmp_path: Path) -> None:
    text = case_info("c", Path("/c"), 1, 1, environment_of(Host(tmp_path)), "t")
    for words in ("RAM memory: UNKNOWN", "Maximum frequency: UNKNOWN", "Storage\nNetwork\n"):
        assert words in text
    assert "None" not in text
