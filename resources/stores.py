"""SPARQL servers that are loaded over HTTP: Fuseki and Oxigraph."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from resources._containers import Mount, Specification
from resources._containers.settings import heap_arguments
from resources._http_store import HttpStore
from resources._readiness import Readiness, http_url, log_pattern, tcp_port

#: Where the database is; the image has no such folder, and Fuseki makes none.
DATABASE = "/fuseki/databases/DB"


class Fuseki(HttpStore):
    """Fuseki with TDB2: ``http://Fuseki:3030/ds`` answers queries."""

    _image: ClassVar[str] = "kgconstruct/fuseki:v4.6.1"
    _serves: ClassVar[Sequence[int]] = (3030,)
    _port: ClassVar[int] = 3030
    _load_path: ClassVar[str] = "/ds"

    def _specification(self) -> Specification:
        spec = super()._specification()
        heap = " ".join(heap_arguments(self.settings.memory_bytes))
        return replace(
            spec,
            command=("--tdb2", "--update", "--loc", DATABASE, "/ds"),
            environment={"JAVA_OPTIONS": heap, **spec.environment},
        )

    def _mounts(self) -> list[Mount]:
        return [*super()._mounts(), Mount(self.workspace.own / "database", DATABASE)]

    def start(self) -> None:
        """Start the server on an empty database."""
        # A volume would be root's, and Fuseki is not root: any user may write here.
        database = self.workspace.own / "database"
        database.mkdir(parents=True, exist_ok=True)
        database.chmod(0o777)
        super().start()

    def _readiness(self) -> Sequence[Readiness]:
        # It says so when it begins to start; only then does it listen.
        return log_pattern(":: Start Fuseki "), tcp_port(self._port)


class Oxigraph(HttpStore):
    """Oxigraph with its database on disk: ``http://Oxigraph:7878/query`` answers queries."""

    _image: ClassVar[str] = "oxigraph/oxigraph:0.5.13"
    _serves: ClassVar[Sequence[int]] = (7878,)
    _data: ClassVar[str] = "/data"
    _port: ClassVar[int] = 7878
    _load_path: ClassVar[str] = "/store?default"

    def _specification(self) -> Specification:
        spec = super()._specification()
        bind = f"0.0.0.0:{self._port}"
        return replace(spec, command=("serve", "--location", self._data, "--bind", bind))

    def _readiness(self) -> Sequence[Readiness]:
        return (http_url(self._port, "/query?query=ASK%7B%7D"),)
