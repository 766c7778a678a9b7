"""``case-info.txt``: the case and its host, for people, in KROWN's layout."""

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from benchyard.core.model import Json, JsonObject

UNKNOWN = "UNKNOWN"


def case_info(
    case_title: str,
    folder: Path,
    run: int,
    steps: int,
    environment: Mapping[str, Json],
    started_at: str,
) -> str:
    """Write ``case-info.txt`` in KROWN's layout.

    Args:
        folder: The case's folder.
        steps: How many steps the case has.
        environment: What ``environment`` returned; under ``docker`` it may have ``version``,
            ``root``, ``storage`` and ``cgroup``.
        started_at: ISO 8601.
    """
    lines = [
        "===> CASE <===",
        f"Name: {case_title}",
        f"Timestamp: {started_at}",
        f"Directory: {folder}",
        f"Run: {run}",
        f"Number of steps: {steps}",
        "",
        "===> HARDWARE <===",
        *_hardware(environment),
        "",
        "===> DOCKER <===",
        *_docker(_part(environment, "docker")),
    ]
    return "\n".join(lines) + "\n"


def _hardware(environment: Mapping[str, Json]) -> list[str]:
    system, cpu = _part(environment, "os"), _part(environment, "cpu")
    return [
        "System",
        f"\tHostname: {_text(environment.get('host'))}",
        f"\tOS name: {_text(system.get('name'))}",
        f"\tOS version: {_text(system.get('version'))}",
        f"\tKernel: {_text(environment.get('kernel'))}",
        f"\tArchitecture: {_text(environment.get('architecture'))}",
        "CPU",
        f"\tName: {_text(cpu.get('model'))}",
        f"\tCores: {_text(cpu.get('logical_cores'))}",
        f"\tMinimum frequency: {_scaled(cpu.get('frequency_min_hz'), 10**6, 'MHz')}",
        f"\tMaximum frequency: {_scaled(cpu.get('frequency_max_hz'), 10**6, 'MHz')}",
        "Memory",
        f"\tRAM memory: {_scaled(environment.get('memory_bytes'), 10**6, 'MB')}",
        f"\tSWAP memory: {_scaled(environment.get('swap_bytes'), 10**6, 'MB')}",
        "Storage",
        *(
            f'\tDisk "{disk.get("mountpoint")}": {_scaled(disk.get("total_bytes"), 10**9, "GB", 2)}'
            for disk in _parts(environment, "disks")
        ),
        "Network",
        *(_interface(interface) for interface in _parts(environment, "network")),
    ]


def _interface(interface: JsonObject) -> str:
    line = f'\tInterface "{interface.get("name")}"'
    speed = interface.get("speed_bits_per_s")
    return line if speed is None else f"{line}: {_scaled(speed, 10**6, 'mbps')}"


def _docker(docker: JsonObject) -> list[str]:
    return [
        f"Version: {_text(docker.get('version'))}",
        f"Root directory: {_text(docker.get('root'))}",
        "Drivers:",
        f"\tStorage: {_text(docker.get('storage'))}",
        f"\tCgroupFS: {_text(docker.get('cgroup'))}",
    ]


def _text(value: Json) -> str:
    return UNKNOWN if value is None else str(value)


def _scaled(value: Json, unit: int, name: str, digits: int = 0) -> str:
    """Write a number in a larger unit, cut off like KROWN does without digits."""
    if not isinstance(value, int | float):
        return UNKNOWN
    return f"{round(value / unit, digits) if digits else int(value / unit)} {name}"


def _part(facts: Mapping[str, Json], name: str) -> JsonObject:
    value = facts.get(name)
    return value if isinstance(value, dict) else {}


def _parts(facts: Mapping[str, Json], name: str) -> list[JsonObject]:
    value = facts.get(name)
    return cast("list[JsonObject]", value) if isinstance(value, list) else []
