"""Any container, and the bases for resources that are containers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from benchyard.case.resource import CommandResult, OutputFile, command
from benchyard.core.errors import InputError
from benchyard.core.model import Json
from resources._containers import Specification
from resources._containers.base import ServerContainer
from resources._containers.container import ProgramCall
from resources._containers.settings import (
    ContainerSettings,
    HealthCheckSettings,
    ReadySettings,
    Wrong,
    health_check,
    readiness,
)
from resources._containers.streams import Follower
from resources._files import emptied, kept_file, named_or_kept, written
from resources._metrics import Metrics, refused_metrics, with_metrics
from resources._readiness import Readiness


@dataclass(frozen=True, slots=True)
class AnyContainerSettings(ContainerSettings):
    """What a case may set on ``Container``.

    Args:
        command: Arguments of the container that runs all the time; the image's own if empty.
        entrypoint: Program instead of the image's own; the image's own if empty.
        working_folder: Absolute, in the container.
        host_name: By which other containers of the run find it; the name that the case gives it
            if empty.
        network: False keeps it away from every network.
        health_check: By what the engine finds it healthy.
        ready: When it is ready; at once if empty.
        runs: False if no container is to run all the time, for cases with ``run_to_end`` alone.
    """

    command: list[str] = field(default_factory=list[str])
    entrypoint: list[str] = field(default_factory=list[str])
    working_folder: str | None = None
    host_name: str = ""
    network: bool = True
    health_check: HealthCheckSettings = field(default_factory=HealthCheckSettings)
    ready: ReadySettings = field(default_factory=ReadySettings)
    runs: bool = True

    def wrong(self) -> Iterator[Wrong]:
        """Yield the name of each setting that cannot be, and why."""
        # A dataclass with slots is a second class: super() without arguments knows the first.
        yield from ContainerSettings.wrong(self)
        if not self.image:
            yield "image", "Container: it has no image; name one under 'image'"
        for name, read in (
            ("ready", lambda: readiness(self.ready)),
            ("health_check", lambda: health_check(self.health_check)),
        ):
            try:
                read()
            except InputError as error:
                yield name, str(error)
        asked = [way for way in ("tcp", "http") if way in self.ready]
        if not self.network and asked:
            ways = " and ".join(f"ready.{way}" for way in asked)
            yield "ready", f"{ways} cannot go with network: false: nothing can be reached there"
        if not self.network and self.ports:
            yield "ports", "ports cannot go with network: false: none can be published"
        if not self.runs and self.ready:
            yield "ready", "ready cannot go with runs: false: no container becomes ready"


class Container(ServerContainer[AnyContainerSettings]):
    """A container of any image."""

    Settings: ClassVar[type[AnyContainerSettings]] = AnyContainerSettings

    def _specification(self) -> Specification:
        settings = self.settings
        spec = super()._specification()
        return replace(
            spec,
            command=tuple(settings.command),
            entrypoint=tuple(settings.entrypoint) or None,
            working_folder=settings.working_folder,
            aliases=(settings.host_name or self._title,) if settings.network else (),
            network=spec.network if settings.network else "none",
            health=health_check(settings.health_check),
        )

    def _readiness(self) -> list[Readiness]:
        return readiness(self.settings.ready)

    def start(self) -> None:
        """Start the container, unless none is to run all the time."""
        if self.settings.runs:
            super().start()
        else:
            self._prepare()

    def wait_until_ready(self) -> None:
        """Wait until it is ready in the ways that the case gives."""
        if self.settings.runs:
            super().wait_until_ready()

    def alive(self) -> bool:
        """Tell whether further commands can be taken."""
        return super().alive() if self.settings.runs else not self._container_set.aborted

    @classmethod
    def refusals(
        cls, settings: Mapping[str, Json], command: str, parameters: Mapping[str, Json]
    ) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Refuse to execute where nothing runs, or nothing at all, and metrics that are none."""
        if command == "execute" and settings.get("runs") is False:
            what = f"{cls.__name__}.execute needs a container that runs, and the case sets 'runs'"
            yield ("command",), f"{what} to false; use run_to_end"
        if command == "execute" and parameters.get("arguments") == []:
            yield ("parameters", "arguments"), "is empty; its first item must be the program"
        yield from refused_metrics(parameters.get("metrics"))

    @command
    def execute(  # noqa: PLR0913, PLR0917 - each is a parameter that a step may give by name
        self,
        arguments: list[str],
        working_folder: str | None = None,
        environment: dict[str, str] | None = None,
        user: str = "",
        stdout_file: OutputFile | None = None,
        output_file: OutputFile | None = None,
        profile_file: str | None = None,
        exit_code: int = 0,
        metrics: Metrics | None = None,
    ) -> CommandResult:
        """Execute a program in the container that runs, and wait for its end.

        The engine's work before and after it is part of what is measured; the value ``run_s`` is
        the time from the program's begin to its end, None if these were not seen.

        Args:
            arguments: Program and arguments; no shell reads them.
            working_folder: Absolute, in the container; by default the container's own.
            environment: Variables added to the container's.
            user: Name or id; by default the container's.
            stdout_file: Where its output goes; by default into the run's results.
            output_file: A file in ``data/shared`` that it writes and that must then be there.
            profile_file: A profile that it may write of itself; kept, and shown in the trace.
            exit_code: The exit code that means success.
            metrics: What it prints and is a metric: name to where that stands.
        """
        with written(self.workspace, output_file, "the program", profile_file) as output:
            result = self._execute(
                self._up(),
                arguments,
                Follower(
                    emptied(named_or_kept(self.workspace, stdout_file, "stdout.txt")),
                    emptied(kept_file(self.workspace, "stderr.txt")),
                ),
                ProgramCall(environment or {}, user, working_folder, is_watched=True),
                exit_code,
            )
        return replace(with_metrics(result, metrics), output=output or result.output)

    @command
    def run_to_end(  # noqa: PLR0913, PLR0917 - as above
        self,
        arguments: list[str],
        entrypoint: list[str] | None = None,
        working_folder: str | None = None,
        environment: dict[str, str] | None = None,
        output_file: OutputFile | None = None,
        profile_file: str | None = None,
        exit_code: int = 0,
        metrics: Metrics | None = None,
    ) -> CommandResult:
        """Run a fresh container of the image to its end.

        Its start is part of what is measured; the value ``run_s`` is the time from the program's
        begin to its end, None if these were not seen.

        Args:
            arguments: What follows the entrypoint; the image's own command if empty.
            entrypoint: Program instead of the image's own.
            working_folder: Absolute, in the container.
            environment: Variables added to the container's.
            output_file: A file in ``data/shared`` that it writes and that must then be there.
            profile_file: A profile that it may write of itself; kept, and shown in the trace.
            exit_code: The exit code that means success.
            metrics: What it prints and is a metric: name to where that stands.
        """
        spec = self._specification()
        fresh = replace(
            spec,
            command=tuple(arguments),
            entrypoint=tuple(entrypoint) if entrypoint else spec.entrypoint,
            environment={**spec.environment, **(environment or {})},
            working_folder=working_folder or spec.working_folder,
            # The name and the ports are those of the container that runs all the time.
            aliases=() if self.settings.runs else spec.aliases,
            ports={} if self.settings.runs else spec.ports,
        )
        with written(self.workspace, output_file, "the program", profile_file) as output:
            result = self._run(fresh, exit_code)
        return replace(with_metrics(result, metrics), output=output or result.output)
