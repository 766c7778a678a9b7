"""The system as a whole: since when it runs, by which clock, on what power."""

import os
import time

from benchyard.core.clock import iso
from benchyard.core.model import Json, JsonObject
from benchyard.host.facts.reading import Facts, Host, integer, known

_CLOCKSOURCE = "sys/devices/system/clocksource/clocksource0"
_SUPPLIES = "sys/class/power_supply"
#: Words of the kernel's command line that change how fast or how evenly a host computes.
#: Source: Linux, Documentation/admin-guide/kernel-parameters.txt.
_TELLING = """
    amd_pstate cgroup_disable cgroup_no_v1 clocksource cpufreq.default_governor cpuidle.off
    hugepages idle init_on_alloc init_on_free intel_idle.max_cstate intel_pstate isolcpus maxcpus
    mem mitigations nohz nohz_full nokaslr nopti norandmaps nosmt numa_balancing page_poison preempt
    processor.max_cstate psi rcu_nocb_poll rcu_nocbs slub_debug spec_store_bypass_disable spectre_v2
    systemd.unified_cgroup_hierarchy threadirqs transparent_hugepage tsc zswap.enabled
"""


def boot(host: Host) -> JsonObject:
    """Return which boot this is, and when it was by the wall clock."""
    facts: Facts = {
        "id": lambda: host.text("proc/sys/kernel/random/boot_id"),
        "at": lambda: _booted_at(host),
    }
    return known(facts)


def _booted_at(host: Host) -> str | None:
    for line in (host.text("proc/stat") or "").splitlines():
        name, _, value = line.partition(" ")
        seconds = integer(value) if name == "btime" else None
        if seconds is not None:
            return iso(seconds * 1_000_000_000)
    return None


def telling_parameters(host: Host) -> list[Json]:
    """Return the words of the kernel's command line that change its speed, as they stand."""
    words = (host.text("proc/cmdline") or "").split()
    telling = frozenset(_TELLING.split())
    return [word for word in words if word.partition("=")[0] in telling]


def clocksource(host: Host) -> JsonObject:
    """Return what the kernel reads the time from, and what it could.

    Source: Linux, Documentation/timers/timekeeping.rst.
    """
    return {
        "current": host.text(f"{_CLOCKSOURCE}/current_clocksource"),
        "available": [*(host.text(f"{_CLOCKSOURCE}/available_clocksource") or "").split()] or None,
    }


def timezone(host: Host) -> JsonObject:
    """Return the time zone's name, and how far it is from UTC now."""
    facts: Facts = {
        "name": lambda: os.environ.get("TZ") or _zone_of(host),
        "utc_offset_s": lambda: time.localtime().tm_gmtoff,
    }
    return known(facts)


def _zone_of(host: Host) -> str | None:
    place = os.path.realpath(host.at("etc/localtime"))
    _, found, name = place.partition("/zoneinfo/")
    return name if found else host.text("etc/timezone")


def power(host: Host) -> JsonObject:
    """Return whether the host runs on mains, and the charge of its batteries, 0 to 100.

    Source: Linux, Documentation/ABI/testing/sysfs-class-power.
    """
    facts: Facts = {"supply": lambda: supply(host), "charge_percent": lambda: charge(host)}
    return known(facts)


def _supplies(host: Host, kind: str) -> list[str]:
    folders = [f"{_SUPPLIES}/{name}" for name in host.names(_SUPPLIES)]
    # The battery of a mouse feeds the mouse.
    own = [folder for folder in folders if host.text(f"{folder}/scope") != "Device"]
    return [folder for folder in own if host.text(f"{folder}/type") == kind]


def supply(host: Host) -> str | None:
    """Return ``mains`` or ``battery``; None if the kernel knows of neither."""
    online = [host.text(f"{f}/online") for k in ("Mains", "USB") for f in _supplies(host, k)]
    if "1" in online:
        return "mains"
    states = [host.text(f"{folder}/status") for folder in _supplies(host, "Battery")]
    if "Discharging" in states or (states and "0" in online):
        return "battery"
    return "mains" if states and all(states) else None


def charge(host: Host) -> int | None:
    """Return the charge of the emptiest battery in percent."""
    told = [host.number(f"{folder}/capacity") for folder in _supplies(host, "Battery")]
    return min((percent for percent in told if percent is not None), default=None)


def network(host: Host) -> list[Json]:
    """Return the interfaces; the kernel counts speed in Mbit/s, and says -1 for unknown."""
    return [
        {"name": name, "speed_bits_per_s": _speed(host, name)}
        for name in host.names("sys/class/net")
        if host.at(f"sys/class/net/{name}").is_dir()
    ]


def _speed(host: Host, name: str) -> int | None:
    megabits = host.number(f"sys/class/net/{name}/speed")
    return megabits * 1_000_000 if megabits and megabits > 0 else None
