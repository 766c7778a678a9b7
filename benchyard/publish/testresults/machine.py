"""The testbed of a run, as TestResults' MachineConfiguration has it; what is not known is absent.

Source of the fields: tensorflow/core/util/test_log.proto (now tsl/protobuf/test_log.proto).
"""

from collections.abc import Mapping

from benchyard.core.model import Json, JsonObject

Facts = Mapping[str, Json]


def machine_of(environment: Facts) -> JsonObject:
    """Return the MachineConfiguration of a record's ``environment``."""
    machine: JsonObject = {
        "hostname": _text(environment.get("host")),
        "platformInfo": _platform(environment),
        "cpuInfo": _processor(inside(environment, "cpu")),
        "memoryInfo": known({"total": _integer(environment.get("memory_bytes"))}),
    }
    return known(machine)


def inside(facts: Facts, name: str) -> Facts:
    """Return a part of what is known; an empty one if it is not."""
    part = facts.get(name)
    return part if isinstance(part, dict) else {}


def known(fields: JsonObject) -> JsonObject:
    """Leave out what is null or empty; 0 and false are known."""
    return {name: value for name, value in fields.items() if value not in (None, "", {}, [])}


def _platform(environment: Facts) -> JsonObject:
    """Take Python's name of the platform apart: ``Linux-6.1.0-18-amd64-x86_64-with-glibc2.36``."""
    machine = _text(environment.get("architecture")) or ""
    system, _, rest = (_text(environment.get("kernel")) or "").partition("-")
    release = rest.partition(f"-{machine}-with-")[0] if machine else None
    return known({"machine": machine, "release": release, "system": system})


def _processor(cpu: Facts) -> JsonObject:
    hertz = cpu.get("frequency_max_hz")
    return known(
        {
            "numCores": _integer(cpu.get("logical_cores")),
            "numCoresAllowed": _integer(_length(_text(cpu.get("affinity")) or "")),
            "mhzPerCpu": hertz / 1e6 if isinstance(hertz, int | float) else None,
            "cpuInfo": _text(cpu.get("model")),
            "cpuGovernor": _text(cpu.get("governor")),
            "cacheSize": known({k: _integer(v) for k, v in inside(cpu, "cache_bytes").items()}),
        }
    )


def _length(cpus: str) -> int | None:
    """Count the CPUs of a list like ``0-3,8``; None if it is none."""
    ranges = [part.partition("-") for part in cpus.split(",")]
    try:
        return sum(int(last or first) - int(first) + 1 for first, _, last in ranges)
    except ValueError:
        return None


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def _integer(value: Json) -> str | None:
    """Write an int64 as proto3's JSON does: as a text."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return str(value)
