"""Resources in containers; here a container in our words, the engine's and the kernel's.

Source of the engine's words: Docker Engine API 1.41, ``ContainerCreate``.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchyard.core.amounts import parse_size
from benchyard.core.errors import SIGNALLED, CommandFailedError, MeasurementError, program_failed
from benchyard.core.model import Json, JsonObject
from benchyard.process.cgroups import UNIFIED, Cgroup, cgroup_of, place_of
from resources._containers.settings import NANOSECONDS, ContainerSettings
from resources._readiness import LOOPBACK


@dataclass(frozen=True, slots=True)
class Mount:
    """A folder or file of this host that a container sees.

    Args:
        source: Absolute path on the host.
        target: Absolute path in the container.
    """

    source: Path
    target: str
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class Specification:
    """A container to be created; no value here is ever read by a shell.

    Args:
        image: Name with tag or digest.
        settings: Its limits, as the case sets them.
        command: Arguments after the entrypoint; the image's own if empty.
        entrypoint: Program and first arguments; the image's own if None.
        mounts: Folders of this host.
        volumes: Name of a volume to where it is mounted; made if it is not there.
        ports: TCP port of the container to that on loopback, 0 for any that is free.
        network: Name of the network it joins; the engine's default one if None.
        aliases: Host names under which others in the network find it.
        user: Name or id, and group, as ``user:group``.
        working_folder: Absolute, in the container.
        health: Its health check, as the engine takes it.
        labels: By which the lab recognises it.
    """

    image: str
    settings: ContainerSettings
    command: Sequence[str] = ()
    entrypoint: Sequence[str] | None = None
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    mounts: Sequence[Mount] = ()
    volumes: Mapping[str, str] = field(default_factory=dict[str, str])
    ports: Mapping[int, int] = field(default_factory=dict[int, int])
    network: str | None = None
    aliases: Sequence[str] = ()
    user: str | None = None
    working_folder: str | None = None
    health: JsonObject | None = None
    labels: Mapping[str, str] = field(default_factory=dict[str, str])


def engine_config(spec: Specification) -> JsonObject:
    """Return the body of the engine's request that creates the container."""
    config: JsonObject = {
        "Image": spec.image,
        "Cmd": list(spec.command) or None,
        "Entrypoint": None if spec.entrypoint is None else list(spec.entrypoint),
        "Env": [f"{name}={value}" for name, value in spec.environment.items()],
        "User": spec.user,
        "WorkingDir": spec.working_folder,
        "ExposedPorts": {f"{port}/tcp": {} for port in spec.ports},
        "Healthcheck": spec.health,
        "Labels": dict(spec.labels),
        "AttachStdout": True,
        "AttachStderr": True,
        "HostConfig": _host_config(spec),
    }
    if spec.network is not None:
        # The network of none knows no aliases, not even an empty list of them.
        endpoint: JsonObject = {"Aliases": list(spec.aliases)} if spec.aliases else {}
        config["NetworkingConfig"] = {"EndpointsConfig": {spec.network: endpoint}}
        # A container's own name for itself is the one that others know it by.
        config["Hostname"] = spec.aliases[0] if spec.aliases else None
    return {name: value for name, value in config.items() if value is not None}


def _host_config(spec: Specification) -> JsonObject:
    settings = spec.settings
    config: JsonObject = {
        "Mounts": _mounts(spec),
        "PortBindings": {
            f"{port}/tcp": [{"HostIp": LOOPBACK, "HostPort": str(host) if host else ""}]
            for port, host in spec.ports.items()
        },
        "NetworkMode": spec.network,
        "NanoCpus": None if settings.cpus is None else round(settings.cpus * NANOSECONDS),
        "CpusetCpus": settings.cpuset,
        "Memory": settings.memory_bytes,
        # The engine's default would let it swap as much again, at the speed of a disk.
        "MemorySwap": settings.memory_bytes,
        "ShmSize": None if settings.shm_size is None else parse_size(settings.shm_size),
        # Soft and hard limit are alike.
        "Ulimits": [
            {"Name": name, "Soft": limit, "Hard": limit} for name, limit in settings.ulimits.items()
        ],
        "ReadonlyRootfs": settings.read_only,
        "Tmpfs": {where: f"size={parse_size(given)}" for where, given in settings.tmpfs.items()},
        # Its output is attached to and goes to the run's files; written twice, it would cost twice.
        "LogConfig": {"Type": "none", "Config": {}},
    }
    return {name: value for name, value in config.items() if value is not None}


def _mounts(spec: Specification) -> list[Json]:
    options: JsonObject = {"Labels": dict(spec.labels)}
    volumes: list[Json] = [
        {"Type": "volume", "Source": name, "Target": target, "VolumeOptions": options}
        for name, target in spec.volumes.items()
    ]
    folders: list[Json] = [
        {"Type": "bind", "Source": str(one.source), "Target": one.target, "ReadOnly": one.read_only}
        for one in spec.mounts
    ]
    return [*folders, *volumes]


@dataclass(frozen=True, slots=True)
class Exit:
    """How a container, or a program in one, ended, as the engine tells it.

    Args:
        code: Exit code; 128 + number for a signal.
        out_of_memory: Whether the kernel killed a process of it at its memory limit.
        error: What the engine could not do, such as executing the program.
        run_s: Seconds from the program's begin to its end; None if these were not seen.
        has_begun: False if the engine could not execute the program.
    """

    code: int
    out_of_memory: bool
    error: str = ""
    run_s: float | None = None
    has_begun: bool = True

    def describe(self) -> str:
        """Say in words how it ended."""
        if self.error:
            return self.error
        if self.out_of_memory:
            return f"out of memory: the kernel killed it at its limit (exit code {self.code})"
        if SIGNALLED < self.code <= SIGNALLED + 64:
            return f"exit code {self.code} (signal {self.code - SIGNALLED})"
        return f"exit code {self.code}"


def exit_of(state: Any) -> Exit:
    """Read how a container ended from what the engine says of its state."""
    return Exit(
        code=state["ExitCode"],
        out_of_memory=bool(state.get("OOMKilled")),
        error=state.get("Error") or "",
    )


def failed(what: str, ended: Exit, exit_code: int, said: str) -> CommandFailedError:
    """Return the error for a container, or a program in one, that did not end as it must.

    Args:
        what: The begin of the message: what failed, and where.
        exit_code: The one that it must end with.
        said: The end of what it said.
    """
    wanted = f", and {exit_code} was expected" if exit_code else ""
    message = f"{what}: {ended.describe()}{wanted}; it said: {said}"
    if ended.error or ended.out_of_memory:
        return CommandFailedError(message, ended.code)
    return program_failed(message, ended.code)


# -- the kernel's accounts

#: The engine's ``cgroup_driver`` to the group that it makes for a container, unless it is told of
#: another parent. Source: Docker's documentation, ``--cgroup-parent``.
_GROUPS = {"cgroupfs": "/docker/{}", "systemd": "/system.slice/docker-{}.scope"}


def own_group(container: str, pid: int | None) -> Cgroup | None:
    """Return the control group of a container, by its id and its first process.

    An engine elsewhere counts its own processes: the same number is another process here.
    """
    with suppress(MeasurementError):
        group = cgroup_of(pid) if pid else None
        return group if group is not None and container in group.name else None
    return None


def expected_place(container: str, driver: object) -> Path | None:
    """Return where the group of a container will be that is about to start, as far as is known.

    Args:
        container: Its id.
        driver: The engine's ``cgroup_driver``.
    """
    name = _GROUPS.get(str(driver))
    return place_of(name.format(container)) if name else None


def oom_kills(group: Cgroup | None) -> int:
    """Return how many processes of a group the kernel killed for want of memory; 0 if unknown."""
    folders: Mapping[str, Path] = group.folders if group else {}
    for controller, name in (("memory", "memory.oom_control"), (UNIFIED, "memory.events")):
        with suppress(KeyError, OSError, ValueError):
            lines = (folders[controller] / name).read_text(encoding="utf-8").splitlines()
            return int(dict(line.split() for line in lines)["oom_kill"])
    return 0
