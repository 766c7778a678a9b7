"""The bases of all resources in containers: those that serve, and those that do one thing."""

import logging
import os
import uuid
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from typing import Any, ClassVar, TypeVar

from benchyard.case.resource import CommandResult, Resource, Workspace, name_of
from benchyard.core.errors import CommandFailedError, ResourceError
from benchyard.core.model import Json, JsonObject
from benchyard.process.cgroups import Cgroup
from benchyard.process.labels import CHILD, OWNER
from benchyard.process.usage import Life
from resources._containers import Mount, Specification, failed
from resources._containers.container import PLAIN_CALL, LiveContainer, ProgramCall
from resources._containers.container_set import ContainerSet
from resources._containers.engine import EngineError, connect, ensure_image, image_identity
from resources._containers.network import OWNER_LABEL, remove_leftovers
from resources._containers.settings import SHARED, ContainerSettings
from resources._containers.streams import Follower
from resources._files import emptied, kept_file, written
from resources._readiness import Readiness, is_free, wait_until_ready

logger = logging.getLogger("benchyard.resources")

ContainerSettingsT = TypeVar("ContainerSettingsT", bound=ContainerSettings)


class ContainerResource(Resource[ContainerSettingsT]):
    """A resource whose work is done in containers on the Docker engine of this host.

    A class derived from it names its image and what its containers are made from
    (``_specification``); ``ServerContainer`` and ``ProgramContainer`` give them a life.
    """

    Settings: ClassVar[type[Any]] = ContainerSettings
    #: The image, unless the case names another one.
    _image: ClassVar[str] = ""
    #: The folder of its data, which gets a volume; none if empty.
    _data: ClassVar[str] = ""
    #: Ports at which it serves: on this host each is the kernel's choice, unless a step names it.
    _serves: ClassVar[Sequence[int]] = ()

    def __init__(self, settings: ContainerSettingsT, workspace: Workspace) -> None:
        super().__init__(settings, workspace)
        self._facts: JsonObject = {}
        # By which every process in our containers is known, on this host.
        self._label = uuid.uuid4().hex
        self._container_set = ContainerSet(self._title, self._label, workspace.labels, self.changed)

    # -- what it is

    @property
    def _image_name(self) -> str:
        return self.settings.image or self._image

    def version(self) -> str:
        """Return the image's name and what it really is: its digest, or its id if it has none."""
        identity = image_identity(self._container_set.engine, self._image_name)
        digests: Any = identity["digests"]
        return f"{identity['image']} ({digests[0] if digests else identity['id']})"

    @classmethod
    def installed(cls, settings: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return which image the engine has under its name now; nothing if it has none."""
        name = str(settings.get("image") or cls._image)
        with closing(connect()) as client:
            return image_identity(client, name)

    def facts(self) -> Mapping[str, Json]:
        """Return the image's identity, the engine, and the limits of the containers."""
        return self._facts

    def _specification(self) -> Specification:
        """Return what its containers are made from; classes replace what is special to them."""
        settings, labels = self.settings, self.workspace.labels
        own = {CHILD: self._label, OWNER: labels.get(OWNER_LABEL, "")}
        return Specification(
            image=self._image_name,
            settings=settings,
            environment={**settings.environment, **own},
            mounts=self._mounts(),
            volumes=dict(self._container_set.volumes),
            ports=self._ports(),
            network=self._container_set.network,
            aliases=(self._title,),
            user=settings.user,
            labels=labels,
        )

    def _mounts(self) -> list[Mount]:
        """Return the run's shared folder, and the inputs at the place that its links lead to."""
        inputs = self.workspace.inputs
        shown = [Mount(self.workspace.shared, SHARED)]
        if inputs.is_dir():
            shown.append(Mount(inputs, str(inputs), read_only=True))
        return shown

    def _ports(self) -> dict[int, int]:
        """Return the ports that are published, with those of this host that the case fixes."""
        asked = self.workspace.ports
        own = {port: port if port in asked else 0 for port in self._serves}
        return own | {int(inside): outside for inside, outside in self.settings.ports.items()}

    # -- life

    @classmethod
    def remove_leftovers(cls) -> list[str]:
        """Remove what dead labs left at the engine."""
        return remove_leftovers()

    def initialize(self) -> None:
        """Fetch the image unless it is here, and see that fixed ports are free."""
        pulled = ensure_image(self._container_set.engine, self._image_name, logger.info)
        taken = [str(host) for host in self._ports().values() if host and not is_free(host)]
        if taken:
            raise ResourceError(
                f"{self._title}: port {', '.join(taken)} of this host is taken; stop who "
                "has it, or let the kernel choose one with 0 under 'ports' in the case's resources"
            )
        identity = image_identity(self._container_set.engine, self._image_name)
        self._facts = {
            **identity,
            "limits": {
                "cpus": self.settings.cpus,
                "cpuset": self.settings.cpuset,
                "memory_bytes": self.settings.memory_bytes,
            },
            "engine": self._container_set.engine_facts,
        }
        if pulled is not None:
            self._facts["pulls"] = [{**pulled, "bytes": identity["bytes"]}]

    def start(self) -> None:
        """Make the run's network and volumes, which go away with the run."""
        self._prepare()

    def _prepare(self) -> None:
        own = [] if self._data in {"", *self.settings.tmpfs} else [self._data]
        self._container_set.prepare(dict.fromkeys([*self.settings.volumes, *own]))

    def stop(self) -> None:
        """Stop and remove the containers, then all that was made for them.

        Raises:
            EngineError: If something could not be removed; the next run tries again.
        """
        with ExitStack() as last:
            last.callback(self._container_set.close)
            last.callback(self._give_back)
            self._container_set.stop(self.settings.stop_seconds)

    def _give_back(self) -> None:
        """Give the files that containers made as another user to the lab's user."""
        user, shared = os.geteuid(), self.workspace.shared
        files = (path for path in shared.rglob("*") if not path.is_symlink())
        if not user or all(path.lstat().st_uid == user for path in files):
            return
        spec = replace(
            self._specification(),
            entrypoint=("chown",),
            command=("-R", "-h", f"{user}:{os.getegid()}", SHARED),
            user="0",
            ports={},
            aliases=(),
        )
        try:
            self._container_set.run_apart(spec)
        except EngineError as error:
            logger.warning("%s: files of other users stay in %s: %s", self._title, shared, error)

    def begin(self, step: str) -> None:
        """Remove the containers that ended: nothing is measured now."""
        self._container_set.tidy()

    def abort(self, step: str | None = None) -> None:
        """Kill every process in every container, even if the engine hangs."""
        self._container_set.abort()

    def cgroups(self, step: str | None = None) -> Sequence[Cgroup]:
        """Return the group of each container that runs."""
        return self._container_set.groups()

    def lives(self, step: str | None = None) -> Sequence[Life]:
        """Return the accounts of containers that ran to their end, and of executed programs."""
        return self._container_set.lives

    # -- containers

    @property
    def _title(self) -> str:
        return name_of(self)

    def _created(self, spec: Specification, name: str = "") -> LiveContainer:
        """Create a container; what it says goes into the run's results.

        Args:
            name: Of the files with its output; that of the step if empty.

        Raises:
            CommandFailedError: If it was aborted.
            EngineError: If the engine cannot.
        """
        names = (f"{stream}.txt" for stream in ("stdout", "stderr"))
        files = [emptied(kept_file(self.workspace, file, name)) for file in names]
        return self._container_set.create(spec, *files)

    def _run(self, spec: Specification, exit_code: int = 0, name: str = "") -> CommandResult:
        """Run a fresh container, and see that it ends as it must.

        Args:
            name: Of the files with its output; that of the step if empty.

        Raises:
            CommandFailedError: If it ends in another way, or what it said could not be kept.
        """
        container = self._created(spec, name)
        try:
            ended = self._container_set.run_to_end(container)
        finally:
            container.follower.remove_empty_files(self.workspace.kept)
        if ended.code != exit_code or ended.error or (ended.out_of_memory and not exit_code):
            raise failed(f"'{spec.image}' failed", ended, exit_code, container.follower.said())
        container.follower.refuse_lost()
        told = {"exit_code": ended.code, "run_s": ended.run_s, "out_of_memory": ended.out_of_memory}
        return CommandResult(told, container.follower.output)

    def _execute(
        self,
        container: LiveContainer,
        arguments: Sequence[str],
        follower: Follower,
        call: ProgramCall = PLAIN_CALL,
        exit_code: int = 0,
    ) -> CommandResult:
        """Execute a program in a container that runs, and see that it ends as it must.

        Raises:
            CommandFailedError: If it ends in another way.
        """
        try:
            ended = self._container_set.execute(container, arguments, follower, call)
        finally:
            follower.remove_empty_files(self.workspace.kept)
        program = f"'{arguments[0]}'"
        if not ended.has_begun:
            # Then its output is the engine's.
            why = f"cannot execute {program} in {container.title}: {follower.said()}"
            raise CommandFailedError(why, ended.code)
        if ended.code != exit_code:
            what = f"{program} failed in {container.title}"
            raise failed(what, ended, exit_code, follower.said())
        follower.refuse_lost()
        told: dict[str, Json] = {"exit_code": ended.code}
        if call.is_watched:
            told["run_s"] = ended.run_s
        return CommandResult(told, follower.output)


class ProgramContainer(ContainerResource[ContainerSettingsT]):
    """A resource whose every command is a container of its own, run to its end."""

    def _call(
        self, arguments: Sequence[str], output_file: str | None = None, mounts: Sequence[Mount] = ()
    ) -> CommandResult:
        """Run a container with these arguments.

        Args:
            output_file: What it must have made in the run's shared folder.
            mounts: What it sees beside what all of this resource's containers see.
        """
        program = f"'{self._image_name}'"
        with written(self.workspace, output_file, program, anew=True) as output:
            spec = self._specification()
            seen = (*spec.mounts, *mounts)
            result = self._run(replace(spec, command=tuple(arguments), mounts=seen))
        return CommandResult(result.values, output or result.output)


class ServerContainer(ContainerResource[ContainerSettingsT]):
    """A resource that is one container which serves commands until the run ends."""

    _server: LiveContainer | None = None

    def _readiness(self) -> Sequence[Readiness]:
        """Return the ways in which it must be ready; all must say so."""
        return ()

    def start(self) -> None:
        """Create and start the container."""
        super().start()
        self._serve(self._specification())

    def _serve(self, spec: Specification, name: str = "server") -> LiveContainer:
        """Create and start the container that serves; for classes whose command does that.

        Args:
            name: Begin of the names of the files with its output.
        """
        container = self._created(spec, name)
        self._server = container
        self._container_set.start(container)
        return container

    def wait_until_ready(self) -> None:
        """Wait until commands are accepted.

        Raises:
            NotReadyError: After the deadline, or as soon as the container died.
        """
        wait_until_ready(self._up(), self._readiness(), self.settings.ready_seconds)

    def _up(self) -> LiveContainer:
        """Return the container; a ``ResourceError`` tells that it was never started."""
        if self._server is None:
            raise ResourceError(f"the container of {type(self).__name__} was not started")
        return self._server

    def alive(self) -> bool:
        """Tell whether the container runs."""
        with suppress(EngineError):
            return self._server is not None and self._server.running
        return False
