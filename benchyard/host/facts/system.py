"""The system: boot, clock, limits of control groups, container, virtual machine, Docker engine."""

import ctypes
import json
import os
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import cast

from benchyard.core.clock import iso
from benchyard.core.model import Json, JsonObject
from benchyard.host.facts.hardware import hypervisor, mounts
from benchyard.host.facts.reading import UNTOLD, Host, integer, or_null, pairs
from benchyard.process.cgroups import own_levels

_CLOCKSOURCE = "sys/devices/system/clocksource/clocksource0"
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
    seconds = integer(dict(pairs(host.text("proc/stat"), " ")).get("btime"))
    return {
        "id": host.text("proc/sys/kernel/random/boot_id"),
        "at": None if seconds is None else or_null(lambda: iso(seconds * 1_000_000_000)),
    }


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
    name = os.environ.get("TZ") or _zone_of(host)
    return {"name": name, "utc_offset_s": time.localtime().tm_gmtoff}


def _zone_of(host: Host) -> str | None:
    place = os.path.realpath(host.at("etc/localtime"))
    _, found, name = place.partition("/zoneinfo/")
    return name if found else host.text("etc/timezone")


#: Bits of adjtimex(2), and what it returns without synchronization. Source: Linux, timex.h.
_UNSYNCHRONIZED, _NANOSECONDS, _ERROR = 0x0040, 0x2000, 5


@dataclass(frozen=True, slots=True)
class ClockState:
    """What adjtimex(2) tells of the wall clock.

    Args:
        synchronized: Whether a daemon keeps it right.
        offset_s: How far it is off and being corrected.
        error_s: How far it may be off at most.
    """

    synchronized: bool
    offset_s: float
    error_s: float


class _Timex(ctypes.Structure):
    """The beginning of struct timex, with room for what follows."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_char * 256),
    )


def read_clock() -> ClockState | None:
    """Ask the kernel of its clock, changing nothing; None if it may not be asked."""
    told = _Timex()
    state = ctypes.CDLL(None).adjtimex(ctypes.byref(told))
    if state < 0:
        return None
    lost = bool(told.status & _UNSYNCHRONIZED) or state == _ERROR
    scale = 1e-9 if told.status & _NANOSECONDS else 1e-6
    return ClockState(not lost, told.offset * scale, told.maxerror * 1e-6)


_MADE_BY = {"/.dockerenv": "docker", "/run/.containerenv": "podman"}
#: The namespaces that a kernel boots with. Source: Linux, include/linux/proc_ns.h (…_INIT_INO).
_FIRST = {"ipc": "ipc:[4026531839]", "uts": "uts:[4026531838]", "pid": "pid:[4026531836]"}


def cgroup(host: Host) -> JsonObject:
    """Return the cgroup version and the limits of this process: cores of CPU time, bytes.

    Source: Linux, Documentation/admin-guide/cgroup-v2.rst; cgroup-v1/memory.rst;
    scheduler/sched-bwc.rst.
    """
    return {
        "version": cgroup_version(host),
        "cpu_limit_cores": cpu_limit(host),
        "memory_limit_bytes": memory_limit(host),
    }


def cgroup_version(host: Host) -> str | None:
    """Return ``1``, ``2`` or ``hybrid`` (both are mounted); None without cgroups."""
    kinds = {mount.fstype for mount in mounts(host)}
    if "cgroup" in kinds:
        return "hybrid" if "cgroup2" in kinds else "1"
    return "2" if "cgroup2" in kinds else None


def own_folders(host: Host, controller: str) -> Sequence[Path]:
    """Return the folders of this process's cgroup and of those above it, its own first."""
    return own_levels(controller, proc=host.at("proc"))


def cpu_limit(host: Host) -> float | None:
    """Return how many cores' time the lab may use; None without a limit."""
    limits: list[float | None] = []
    for folder in own_folders(host, "cpu"):
        old = (host.text(f"{folder}/cpu.cfs_{name}_us") or "" for name in ("quota", "period"))
        limits += [_ratio(*(host.text(f"{folder}/cpu.max") or "").split()), _ratio(*old)]
    return min((limit for limit in limits if limit is not None), default=None)


def _ratio(quota: str = "", period: str = "", *_: str) -> float | None:
    share, whole = integer(quota), integer(period)
    return share / whole if share and share > 0 and whole and whole > 0 else None


def memory_limit(host: Host) -> int | None:
    """Return how many bytes the lab may have; None without a limit."""
    names = ("memory.max", "memory.limit_in_bytes")
    folders = own_folders(host, "memory")
    limits = [host.number(f"{folder}/{name}") for folder in folders for name in names]
    # Version 1 writes no limit as the largest number of whole pages: beyond any memory.
    return min((limit for limit in limits if limit is not None and limit < 2**62), default=None)


def virtualization(host: Host) -> JsonObject:
    """Return whether this is a virtual machine or a container; a null container is none known."""
    named = (host.text(f"sys/class/dmi/id/{name}") for name in ("sys_vendor", "product_name"))
    return {
        "hypervisor": hypervisor(host),
        "product": " ".join(filter(None, named)) or None,
        "container": container(host),
    }


def container(host: Host) -> str | None:
    """Return what made the container that this process is in; None if there is no sign of one.

    Source: systemd.io/CONTAINER_INTERFACE for ``container`` and its file; podman-run(1) for
    ``.containerenv``; ``.dockerenv`` is what Docker leaves.
    """
    # A virtual machine started from a container's image has all of its files.
    if all(_namespace(host, kind) == first for kind, first in _FIRST.items()):
        return None
    made = next((name for file, name in _MADE_BY.items() if host.has(file)), None)
    variables = (line.partition("=") for line in (host.text("proc/1/environ") or "").split("\0"))
    said = {name: value for name, _, value in variables}
    return made or host.text("run/systemd/container") or said.get("container") or None


def _namespace(host: Host, kind: str) -> str | None:
    try:
        return os.readlink(host.at(f"proc/self/ns/{kind}"))  # noqa: PTH115 - not a path
    except OSError:
        return None


#: Seconds for the whole answer: an engine that hangs must not hold a run.
ENGINE_TIMEOUT = 0.5
_MOST_BYTES = 16_000_000
_PLACES = ("run/docker.sock", "var/run/docker.sock")


class Contact(Enum):
    """Whether the Docker engine of this host answers."""

    ABSENT = "there is no socket"
    ELSEWHERE = "it is on another host"
    REFUSED = "this user may not ask"
    SILENT = "it does not answer"
    ANSWERS = "it answers"


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """The Docker engine, as it answered.

    Args:
        place: Its socket, or the other host.
        server: How it names itself, such as ``Docker/26.1.3 (linux)``; "" if it does not.
        body: The document that was asked for; None if it did not answer.
    """

    contact: Contact
    place: str = ""
    server: str = ""
    body: Json = None


def meet_engine(host: Host, what: str, timeout: float = ENGINE_TIMEOUT) -> EngineFacts:
    """Ask the engine for a JSON document; nothing of it is an error.

    ``DOCKER_HOST`` is respected; contexts of Docker's own client are not.

    Args:
        what: Path of the document, such as ``/info``.
        timeout: Seconds for the whole answer.
    """
    given = os.environ.get("DOCKER_HOST", "")
    if given and not given.startswith("unix://"):
        return EngineFacts(Contact.ELSEWHERE, given)
    there = next((host.at(place) for place in _PLACES if host.has(place)), host.at(_PLACES[0]))
    place = given.removeprefix("unix://") or str(there)
    if not os.access(place, os.F_OK):
        return EngineFacts(Contact.ABSENT, place)
    try:
        server, body = ask(place, what, timeout)
    except PermissionError:
        return EngineFacts(Contact.REFUSED, place)
    except UNTOLD:
        return EngineFacts(Contact.SILENT, place)
    return EngineFacts(Contact.ANSWERS, place, server, body)


def ask(place: str | Path, what: str, timeout: float) -> tuple[str, Json]:
    """Return how the engine at a socket names itself, and the document asked for.

    Source: Docker Engine API; with HTTP 1.0 the answer ends with the connection.

    Raises:
        OSError: If nobody answers there, or not in time.
        ValueError: If the answer is no document.
    """
    deadline = time.monotonic() + timeout
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(timeout)
        line.connect(os.fspath(place))
        line.sendall(f"GET {what} HTTP/1.0\r\nHost: docker\r\n\r\n".encode())
        raw = bytearray()
        while len(raw) < _MOST_BYTES:
            line.settimeout(max(deadline - time.monotonic(), 0.001))
            if not (part := line.recv(65_536)):
                break
            raw += part
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *headers = head.decode("latin-1").split("\r\n")
    if first.split()[1:2] != ["200"]:
        raise ValueError(f"the engine at {place} answers '{first}' to {what}")
    named = (header.partition(":") for header in headers)
    server = next((value.strip() for name, _, value in named if name.lower() == "server"), "")
    return server, json.loads(body)


def docker(host: Host) -> JsonObject | None:
    """Return what ``case-info.txt`` tells of the engine; None if none answers."""
    told = meet_engine(host, "/info").body
    if not isinstance(told, dict):
        return None
    driver, version = told.get("CgroupDriver"), told.get("CgroupVersion")
    return {
        "version": told.get("ServerVersion"),
        "root": told.get("DockerRootDir"),
        "storage": told.get("Driver"),
        "cgroup": f"{driver} v{version}" if driver and version else driver,
    }


def running(told: Json) -> list[JsonObject]:
    """Return the containers of an answer to ``/containers/json``."""
    listed = cast("list[Json]", told) if isinstance(told, list) else []
    return [entry for entry in listed if isinstance(entry, dict)]
