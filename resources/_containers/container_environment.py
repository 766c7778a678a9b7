"""What the containers of a resource stand on: network, volumes, accounts, what dead labs left."""

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from benchyard.core.errors import MeasurementError
from benchyard.core.model import JsonObject
from benchyard.host.counters.lives import Sight, cpu_folder
from benchyard.process.cgroups import UNIFIED, Cgroup, cgroup_of, place_of
from benchyard.process.labels import owner_is_alive
from resources._containers.container import LiveContainer
from resources._containers.engine import Client, EngineError, answers, connect, facts, telling
from resources._containers.network import ensure_network, leave_network

#: The engine's ``cgroup_driver`` to the group that it makes for a container, unless it is told of
#: another parent. Source: Docker's documentation, ``--cgroup-parent``.
_NAMES = {"cgroupfs": "/docker/{}", "systemd": "/system.slice/docker-{}.scope"}


def group_of(pid: int) -> Cgroup | None:
    """Return the group of a process, or None if it is gone."""
    try:
        return cgroup_of(pid)
    except MeasurementError:
        return None


def expected_place(container: str, driver: object) -> Path | None:
    """Return where the group of a container will be that is about to start, as far as is known.

    Args:
        container: Its id.
        driver: The engine's ``cgroup_driver``.
    """
    name = _NAMES.get(str(driver))
    return place_of(name.format(container)) if name else None


def oom_kills(group: Cgroup) -> int:
    """Return how many processes of a group the kernel killed for want of memory; 0 if unknown."""
    places = (("memory", "memory.oom_control"), (UNIFIED, "memory.events"))
    for controller, name in places:
        folder = group.folders.get(controller)
        with suppress(OSError, ValueError):
            lines = (folder / name).read_text(encoding="utf-8").splitlines() if folder else []
            counts = dict(line.split() for line in lines)
            if "oom_kill" in counts:
                return int(counts["oom_kill"])
    return 0


#: The label that names the lab; everything that has it is ours.
OWNER_LABEL = "benchyard.owner"


class ContainerEnvironment:
    """Made when a resource starts, and removed when it stops; it begins with nothing.

    Args:
        labels: Of the run; all that is made here carries them.
    """

    def __init__(self, labels: Mapping[str, str]) -> None:
        self._labels = labels
        self._groups: dict[str, Cgroup] = {}
        self.network: str | None = None
        #: Name to where it is mounted.
        self.volumes: dict[str, str] = {}

    @cached_property
    def engine(self) -> Client:
        """The connection to the engine.

        Raises:
            EngineError: If none answers.
        """
        return connect()

    @cached_property
    def engine_facts(self) -> JsonObject:
        """What the engine says of itself."""
        return facts(self.engine)

    def lay(self) -> None:
        """Make the network.

        Raises:
            EngineError: If the engine cannot.
        """
        self.network = ensure_network(self.engine, self._labels)

    def add_volume(self, target: str) -> None:
        """Make an empty volume for a folder of the containers.

        Raises:
            EngineError: If the engine cannot.
        """
        name = f"benchyard-{uuid.uuid4().hex}"
        with telling("cannot make a volume"):
            self.engine.api.create_volume(name, labels=dict(self._labels))
        self.volumes[name] = target

    def remove(self) -> None:
        """Remove all of it; what the engine cannot remove now is removed by the next run.

        Raises:
            EngineError: If the engine does not answer.
        """
        try:
            if self.network is not None or self.volumes:
                self._remove_from_engine()
        finally:
            if "engine" in self.__dict__:
                self.engine.close()

    def _remove_from_engine(self) -> None:
        if not answers(self.engine.api):
            leave_network(self._labels)
            raise EngineError(
                "the Docker engine does not answer; what the run made there is removed at the "
                "start of the next one"
            )
        api: Any = self.engine.api
        for name in self.volumes:
            with suppress(EngineError), telling(f"cannot remove the volume '{name}'"):
                api.remove_volume(name, force=True)
        if self.network is not None:
            leave_network(self._labels, self.engine)

    # -- accounts

    def account_for(self, container: LiveContainer) -> int | None:
        """Find out where the kernel keeps the account of a container that was just started.

        Returns:
            The id of its first process on this host; None if it ended, or is elsewhere.
        """
        pid = container.pid()
        found = group_of(pid) if pid else None
        # An engine elsewhere counts its own processes: here the number means somebody else.
        if found is None or container.id not in found.name:
            return None
        self._groups[container.id] = found
        return pid

    def groups(self, running: Sequence[LiveContainer]) -> Sequence[Cgroup]:
        """Return the group of each container that runs."""
        return [self._groups[one.id] for one in running if one.id in self._groups]

    def sight_of(self, container: LiveContainer) -> Sight:
        """Watch for the begin and the end of a container that is about to start."""
        place = expected_place(container.id, self.engine_facts["cgroup_driver"])
        return Sight(place, is_alone=True)

    def sight_in(self, container: LiveContainer) -> Sight:
        """Watch for a program that is about to be executed in a container which runs."""
        group = self._groups.get(container.id)
        return Sight(cpu_folder(group) if group else None, is_alone=False)

    def oom_kills(self, container: LiveContainer) -> int:
        """Return how many processes of a container were killed for want of memory, if known."""
        group = self._groups.get(container.id)
        return oom_kills(group) if group is not None else 0


def remove_leftovers(client: Client, is_alive: Callable[[str], bool] = owner_is_alive) -> list[str]:
    """Remove containers, volumes and networks whose lab is dead.

    Returns:
        What was removed, in words.
    """
    api: Any = client.api
    ours = {"label": OWNER_LABEL}
    removed: list[str] = []
    with telling("cannot look for what earlier runs left"):
        containers = api.containers(all=True, filters=ours)
    for container in _dead(containers, is_alive):
        with suppress(EngineError), telling(""):
            api.remove_container(container["Id"], v=True, force=True)
            removed.append(f"container {container['Names'][0].removeprefix('/')}")
    with telling("cannot look for what earlier runs left"):
        volumes: list[Mapping[str, Any]] = api.volumes(filters=ours)["Volumes"] or []
        networks = api.networks(filters=ours)
    for volume in _dead(volumes, is_alive):
        with suppress(EngineError), telling(""):
            api.remove_volume(volume["Name"], force=True)
            removed.append(f"volume {volume['Name']}")
    for network in _dead(networks, is_alive):
        with suppress(EngineError), telling(""):
            api.remove_network(network["Id"])
            removed.append(f"network {network['Name']}")
    return removed


def _dead(
    found: list[Mapping[str, Any]], is_alive: Callable[[str], bool]
) -> Iterator[Mapping[str, Any]]:
    """Yield what has an owner that is gone."""
    for one in found:
        labels: Mapping[str, str] = one.get("Labels") or {}
        owner = labels.get(OWNER_LABEL)
        if owner and not is_alive(owner):
            yield one
