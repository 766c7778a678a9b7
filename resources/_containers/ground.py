"""What the containers of a resource stand on: a network, a control group, volumes, the engine."""

import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

from benchyard.cgroups import Cgroup
from benchyard.model import JsonObject
from resources._containers.engine import Client, EngineError, answers, connect, facts, telling
from resources._containers.live import LiveContainer
from resources._containers.networks import ensure_network, leave_network
from resources._containers.owngroup import OwnGroup, group_of, oom_kills, own_group

#: The label that names the lab; everything that has it is ours.
OWNER_LABEL = "benchyard.owner"


class Ground:
    """Made when a resource starts, and removed when it stops; it begins with nothing.

    Args:
        labels: Of the run; all that is made here carries them.
        word: Tells the control group of this resource from others of the same lab.
    """

    def __init__(self, labels: Mapping[str, str], word: str) -> None:
        self._labels = labels
        self._word = word
        self._own: OwnGroup | None = None
        self._proved = False
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

    @property
    def cgroup_parent(self) -> str | None:
        """The control group in which those of the containers are to be made, if it is ours."""
        return self._own.parent if self._own else None

    def lay(self) -> None:
        """Make the network and the control group.

        Raises:
            EngineError: If the engine cannot.
        """
        self.network = ensure_network(self.engine, self._labels)
        owner = self._labels.get(OWNER_LABEL, "")
        self._own = own_group(owner, self._word, self.engine_facts["cgroup_driver"])

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
            if self._own is not None:
                self._own.remove()
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

    def account_for(self, container: LiveContainer) -> None:
        """Find out where the kernel keeps the account of a container that was just started."""
        found = _group_of(container)
        if found is not None:
            self._groups[container.id] = found
        if self._own is not None and not self._proved:
            # Of a container that is gone already, only what it used can tell where it was.
            self._proved = self._own.holds(found) if found else self._own.was_used()
            if not self._proved:
                # The engine lives in another world of control groups than we do.
                self._own.remove()
                self._own = None

    def groups(self, running: Sequence[LiveContainer]) -> Sequence[Cgroup]:
        """Return our group around the containers, or the group of each that runs."""
        if self._own is not None:
            return (self._own.cgroup,)
        return [self._groups[one.id] for one in running if one.id in self._groups]

    def oom_kills(self, container: LiveContainer) -> int:
        """Return how many processes of a container were killed for want of memory, if known."""
        group = self._groups.get(container.id)
        return oom_kills(group) if group is not None else 0


def _group_of(container: LiveContainer) -> Cgroup | None:
    pid = container.pid()
    found = group_of(pid) if pid else None
    # An engine elsewhere counts its own processes: here the number means somebody else.
    return found if found is not None and container.id in found.name else None
