"""A container in our words and in the engine's: what it is made from, and how it ended.

Source of the engine's words: Docker Engine API 1.41, ``ContainerCreate``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchyard.core.errors import SIGNALLED, CommandFailedError, program_failed
from benchyard.core.model import Json, JsonObject
from resources._ports import LOOPBACK

_NANOSECONDS = 1_000_000_000


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
class HealthCheck:
    """A command by which the engine asks a container whether it is well.

    Args:
        command: Program and arguments, executed in the container.
        interval: Seconds between two of them, and before the first.
        timeout: Seconds that one may take.
        retries: So many failures in a row make it unhealthy.
    """

    command: Sequence[str]
    interval: float = 0.5
    timeout: float = 10.0
    retries: int = 120


@dataclass(frozen=True, slots=True)
class Specification:
    """A container to be created; no value here is ever read by a shell.

    Args:
        image: Name with tag or digest.
        command: Arguments after the entrypoint; the image's own if empty.
        entrypoint: Program and first arguments; the image's own if None.
        mounts: Folders of this host.
        volumes: Name of a volume to where it is mounted; made if it is not there.
        ports: TCP port of the container to that on loopback, 0 for any that is free.
        network: Name of the network it joins; the engine's default one if None.
        aliases: Host names under which others in the network find it.
        cpus: CPUs' worth of time; no limit if None.
        cpuset: CPUs that it may run on, such as ``0-2,5``.
        memory: Bytes; it gets no swap beyond them.
        shm_size: Bytes of ``/dev/shm``.
        ulimits: Name, such as ``nofile``, to soft and hard limit.
        user: Name or id, and group, as ``user:group``.
        working_folder: Absolute, in the container.
        tmpfs: Where to options, such as ``size=64m``.
        labels: By which the lab recognises it.
    """

    image: str
    command: Sequence[str] = ()
    entrypoint: Sequence[str] | None = None
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    mounts: Sequence[Mount] = ()
    volumes: Mapping[str, str] = field(default_factory=dict[str, str])
    ports: Mapping[int, int] = field(default_factory=dict[int, int])
    network: str | None = None
    aliases: Sequence[str] = ()
    cpus: float | None = None
    cpuset: str | None = None
    memory: int | None = None
    shm_size: int | None = None
    ulimits: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    user: str | None = None
    working_folder: str | None = None
    read_only: bool = False
    tmpfs: Mapping[str, str] = field(default_factory=dict[str, str])
    health: HealthCheck | None = None
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
        "Healthcheck": None if spec.health is None else _health(spec.health),
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
    config: JsonObject = {
        "Mounts": [*map(_bind, spec.mounts), *_volumes(spec)],
        "PortBindings": {
            f"{port}/tcp": [{"HostIp": LOOPBACK, "HostPort": str(host) if host else ""}]
            for port, host in spec.ports.items()
        },
        "NetworkMode": spec.network,
        "NanoCpus": None if spec.cpus is None else round(spec.cpus * _NANOSECONDS),
        "CpusetCpus": spec.cpuset,
        "Memory": spec.memory,
        # The engine's default would let it swap as much again, at the speed of a disk.
        "MemorySwap": spec.memory,
        "ShmSize": spec.shm_size,
        "Ulimits": [
            {"Name": name, "Soft": soft, "Hard": hard}
            for name, (soft, hard) in spec.ulimits.items()
        ],
        "ReadonlyRootfs": spec.read_only,
        "Tmpfs": dict(spec.tmpfs),
        # Its output is attached to and goes to the run's files; written twice, it would cost twice.
        "LogConfig": {"Type": "none", "Config": {}},
    }
    return {name: value for name, value in config.items() if value is not None}


def _bind(mount: Mount) -> Json:
    return {
        "Type": "bind",
        "Source": str(mount.source),
        "Target": mount.target,
        "ReadOnly": mount.read_only,
    }


def _volumes(spec: Specification) -> list[Json]:
    return [
        {
            "Type": "volume",
            "Source": name,
            "Target": target,
            "VolumeOptions": {"Labels": dict(spec.labels)},
        }
        for name, target in spec.volumes.items()
    ]


def _health(check: HealthCheck) -> JsonObject:
    return {
        "Test": ["CMD", *check.command],
        "Interval": round(check.interval * _NANOSECONDS),
        "Timeout": round(check.timeout * _NANOSECONDS),
        "Retries": check.retries,
    }


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
        return describe_code(self.code)


def describe_code(code: int) -> str:
    """Say in words what an exit code means."""
    if SIGNALLED < code <= SIGNALLED + 64:
        return f"exit code {code} (signal {code - SIGNALLED})"
    return f"exit code {code}"


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
