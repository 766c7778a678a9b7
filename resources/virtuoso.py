"""OpenLink Virtuoso, a SPARQL server with a parallel bulk loader."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from benchyard.case.resource import CommandResult, InputFolder, command, current_step
from benchyard.core.errors import CommandFailedError
from resources._containers.kinds import ServerContainer
from resources._containers.readiness import LogPattern, Readiness, TcpPort
from resources._containers.settings import ContainerSettings
from resources._containers.specification import Mount, Specification
from resources._containers.streams import Follower
from resources._memory import usable_memory
from resources._sparql.isql import (
    FINISH,
    LOADER,
    isql,
    refuse_errors,
    refuse_unloaded,
    register,
)

#: Where Virtuoso sees the run's ``data/shared``: it reads files from there and nowhere else.
SHARED = "/usr/share/proj"
DATABASE = "/database"
PASSWORD = "DBA_PASSWORD"  # noqa: S105 - the name of a variable

_BUFFERS_PER_GB = 85_000
_DIRTY_BUFFERS_PER_GB = 65_000


class Virtuoso(ServerContainer[ContainerSettings]):
    """Virtuoso: ``http://Virtuoso:8890/sparql`` answers queries."""

    _image: ClassVar[str] = "kgconstruct/virtuoso:v7.2.7"
    _serves: ClassVar[Sequence[int]] = (8890, 1111)

    def _specification(self) -> Specification:
        spec = super()._specification()
        memory = usable_memory(self.settings.memory_bytes) / 10**9
        return replace(
            spec,
            environment={
                PASSWORD: "root",
                "VIRT_SPARQL_ResultSetMaxRows": "10000000",
                "VIRT_SPARQL_MaxQueryExecutionTime": "0",
                "VIRT_SPARQL_ExecutionTimeout": "0",
                "VIRT_SPARQL_MaxQueryCostEstimationTime": "0",
                "VIRT_Parameters_MaxVectorSize": "3000000",
                "VIRT_Parameters_NumberOfBuffers": str(int(memory * _BUFFERS_PER_GB)),
                "VIRT_Parameters_MaxDirtyBuffers": str(int(memory * _DIRTY_BUFFERS_PER_GB)),
                **spec.environment,
            },
        )

    def _mounts(self) -> list[Mount]:
        shared, *inputs = super()._mounts()
        return [replace(shared, target=SHARED), *inputs]

    def _prepare(self) -> None:
        super()._prepare()
        self._add_volume(DATABASE)

    def _readiness(self) -> Sequence[Readiness]:
        return LogPattern("Server online at"), TcpPort(1111), TcpPort(8890)

    @command
    def load(self, rdf_file: str, rdf_dir: InputFolder = "") -> CommandResult:
        """Load files with one loader.

        Args:
            rdf_file: Name of the file; ``*`` in it stands for any text.
            rdf_dir: Folder inside ``data/shared`` that it is in; by default ``data/shared``.
        """
        return self.load_parallel(rdf_file, 1, rdf_dir)

    @command
    def load_parallel(self, rdf_file: str, cores: int, rdf_dir: InputFolder = "") -> CommandResult:
        """Load files with several loaders side by side; each takes one file at a time.

        Args:
            rdf_file: As for ``load``.
            cores: How many loaders.
            rdf_dir: As for ``load``.
        """
        if cores < 1:
            raise CommandFailedError(f"cores is {cores}; it must be 1 or more")
        folder = "/".join(part for part in (SHARED, rdf_dir.strip("/")) if part)
        expected = len(self._files(rdf_file, rdf_dir))
        self._sql("register", register(folder, rdf_file))
        self._load(cores)
        refuse_unloaded(self._sql("finish", FINISH), expected)
        return CommandResult({"files": expected})

    def _files(self, name: str, folder: str) -> list[Path]:
        if "*" not in name:
            return [self.workspace.file(f"{folder}/{name}" if folder else name)]
        found = sorted(self.workspace.file(folder or ".").glob(name))
        if not found:
            raise CommandFailedError(f"no file in data/shared/{folder} is named like '{name}'")
        return found

    def _load(self, cores: int) -> None:
        """Run the loaders; all of them end before the failure of one is told."""
        names = [f"loader-{number}" for number in range(1, cores + 1)]
        step = current_step()
        with ThreadPoolExecutor(cores, "Virtuoso's loader") as pool:
            loaders = [pool.submit(self._sql, name, LOADER, step) for name in names]
        for loader in loaders:
            loader.result()

    def _sql(self, name: str, statements: str, step: str = "") -> str:
        """Execute statements; return what isql said.

        Args:
            name: Of the files in the run's results that it is kept in.
            step: Label of the step, for threads, which do not know it.

        Raises:
            CommandFailedError: If one fails.
        """
        self.workspace.kept.mkdir(parents=True, exist_ok=True)
        begin = self.workspace.kept / f"{step or current_step()}.{name}"
        streams = [begin.with_name(f"{begin.name}.{which}.txt") for which in ("stdout", "stderr")]
        for file in streams:
            file.write_bytes(b"")
        self._execute(self._up(), isql(self._password, statements), Follower(*streams))
        said = [
            file.read_text(errors="replace", encoding="utf-8") if file.exists() else ""
            for file in streams
        ]
        refuse_errors(said)
        return said[0]

    @property
    def _password(self) -> str:
        return self._specification().environment[PASSWORD]
