"""Containers that serve: up before the first command, and until the last one."""

from collections.abc import Sequence
from contextlib import suppress

from benchyard.core.errors import ResourceError
from resources._containers.base import ContainerResource, ContainerSettingsT
from resources._containers.engine import EngineError
from resources._containers.live import LiveContainer
from resources._containers.readiness import Readiness, wait_until_ready
from resources._containers.specification import Specification

#: Begin of the names of the files with a server's own output.
SERVER = "server"


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

    def _serve(self, spec: Specification, name: str = SERVER) -> LiveContainer:
        """Create and start the container that serves; for classes whose command does that.

        Args:
            name: Begin of the names of the files with its output.
        """
        container = self._created(spec, name)
        self._server = container
        for way in self._readiness():
            way.prepare(container)
        self._crew.start(container)
        return container

    def wait_until_ready(self) -> None:
        """Wait until commands are accepted.

        Raises:
            NotReadyError: After the deadline, or as soon as the container died.
        """
        wait_until_ready(self._up(), self._readiness(), self.settings.ready_seconds)

    def _up(self) -> LiveContainer:
        """Return the container.

        Raises:
            ResourceError: If it was never started.
        """
        if self._server is None:
            raise ResourceError(f"the container of {type(self).__name__} was not started")
        return self._server

    def alive(self) -> bool:
        """Tell whether the container runs."""
        with suppress(EngineError):
            return self._server is not None and self._server.running
        return False
