"""The surroundings of a resource's containers: network, volumes, accounts, leftovers.

Each run has a network of its own, made by the first resource that needs it and removed by the last;
its containers find each other there by name.
"""

import hashlib
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchyard.core.errors import MeasurementError
from benchyard.core.model import JsonObject
from benchyard.host.counters.lives import Sight, cpu_folder
from benchyard.process.cgroups import UNIFIED, Cgroup, cgroup_of, place_of
from benchyard.process.labels import owner_is_alive
from resources._containers.container import LiveContainer
from resources._containers.engine import Client, EngineError, answers, connect, facts, telling

# The engine does not know who is about to join a network; it must not be removed before that.
_lock = threading.Lock()
_users: Counter[str] = Counter()


def network_name(labels: Mapping[str, str]) -> str:
    """Return the name of the network of the run that ``labels`` are of."""
    whole = "\n".join(f"{name}={labels[name]}" for name in sorted(labels))
    return f"benchyard-{hashlib.sha256(whole.encode()).hexdigest()[:20]}"


def ensure_network(client: Client, labels: Mapping[str, str]) -> str:
    """Make the run's network unless it is there; return its name.

    It stays until ``leave_network`` was called as often.

    Raises:
        EngineError: If the engine cannot, for instance because no addresses are left.
    """
    api: Any = client.api
    name = network_name(labels)
    with _lock, telling("cannot make a network for the run"):
        if not _named(api, name):
            api.create_network(name, driver="bridge", labels=dict(labels), check_duplicate=True)
        _users[name] += 1
    return name


def leave_network(labels: Mapping[str, str], client: Client | None = None) -> None:
    """Give up the run's network; the last resource to do so removes it.

    Args:
        client: None if the engine is gone, and cannot remove it.
    """
    name = network_name(labels)
    with _lock:
        _users[name] -= 1
        if _users[name] > 0:
            return
        del _users[name]
        if client is not None:
            _remove(client.api, name)


def _remove(api: Any, name: str) -> None:
    with suppress(EngineError), telling("cannot remove the run's network"):
        for identity in _named(api, name):
            api.remove_network(identity)


def _named(api: Any, name: str) -> list[str]:
    """Return the networks of exactly this name; the engine's filter finds parts of names, too."""
    return [found["Id"] for found in api.networks(names=[name]) if found["Name"] == name]


def addresses(labels: Mapping[str, str]) -> dict[str, str]:
    """Return the IP address of each container of a run, by its host names in lower case.

    Empty where there is no engine, or no network of the run.

    Args:
        labels: Those of the run.
    """
    network = network_name(labels)
    with suppress(EngineError), closing(connect()) as client:
        return _in_network(client.api, network)
    return {}


def _in_network(api: Any, network: str) -> dict[str, str]:
    found: dict[str, str] = {}
    with telling("cannot look into the run's network"):
        for listed in api.containers(filters={"network": network}):
            settings = api.inspect_container(listed["Id"])["NetworkSettings"]["Networks"][network]
            names: list[str] = settings.get("Aliases") or []
            found |= {name.lower(): settings["IPAddress"] for name in names}
    return found


def address_of(url: str, known: Mapping[str, str]) -> str | None:
    """Return where the host of a URL is to be found, or None if its name says it.

    Args:
        known: As ``addresses`` returns it.
    """
    return known.get(urlsplit(url).hostname or "")


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
    """Network, volumes and accounts of one resource; made when it starts, removed when it stops.

    Args:
        labels: Of the run; all that is made here carries them.
    """

    def __init__(self, labels: Mapping[str, str]) -> None:
        self._labels = labels
        self._groups: dict[str, Cgroup] = {}
        self._is_engine_gone = False
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

    def engine_answers(self) -> bool:
        """Tell whether the engine answers; one that did not is not waited for again."""
        self._is_engine_gone = self._is_engine_gone or not answers(self.engine.api)
        return not self._is_engine_gone

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
        if not self.engine_answers():
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
        """Find the control group of a container that was just started.

        Returns:
            The id of its first process on this host; None if it ended, or is elsewhere.
        """
        pid = container.pid()
        found = group_of(pid) if pid else None
        # An engine elsewhere counts its own processes: the same number is another process here.
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
