"""OpenLink Virtuoso, a SPARQL server with a parallel bulk loader.

Source of what is said here of its client isql and of the loader: the files binsrc/tests/isql.c and
libsrc/Wi/rdf_loader.sql of openlink/virtuoso-opensource.
"""

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from benchyard.case.resource import CommandResult, InputFolder, command
from benchyard.core.errors import CommandFailedError, ProgramFailedError
from benchyard.core.redaction import redacted
from resources._containers import Mount, Specification
from resources._containers.base import ServerContainer
from resources._containers.settings import ContainerSettings, usable_memory
from resources._containers.streams import Follower
from resources._files import emptied, kept_file
from resources._readiness import Readiness, log_pattern, tcp_port

#: The graph that files are loaded into, as in KROWN.
GRAPH = "http://example.com/graph"

LOADER = "rdf_loader_run();"

_LOADED = "benchyard loaded"
_FAILED = "benchyard failed"
_LIST = "DB.DBA.load_list"
#: Virtuoso 7.2.5 does not know it: its loader leaves the scheduler alone.
_SCHEDULER = (
    "select case when coalesce(__proc_exists('scheduler_interval', 2), "
    "__proc_exists('DB.DBA.scheduler_interval')) is null then 0 "
    "else exec('scheduler_interval(10)') end; "
)
#: What must follow loaders, which switch off checkpoints and the scheduler; then their account.
FINISH = (
    f"checkpoint; checkpoint_interval(60); {_SCHEDULER}"  # noqa: S608 - all of it ours
    f"select concat('{_LOADED} ', cast(count(*) as varchar)) "
    f"from {_LIST} where ll_state = 2 and ll_error is null; "
    f"select concat('{_FAILED} ', ll_file, ': ', coalesce(ll_error, 'it was not loaded')) "
    f"from {_LIST} where ll_state <> 2 or ll_error is not null;"
)

#: isql replaces ``$``, ends statements at ``;``, and SQL's texts end at quotes.
_WRONG = re.compile(r"""['"`$;\\%\x00-\x1f]""")


def isql(password: str, statements: str) -> list[str]:
    """Return the arguments that let isql execute statements.

    The password stands among them: isql takes it in no other way that works without a terminal.
    """
    return ["isql", "-U", "dba", "-P", password, f"exec={statements}"]


def register(folder: str, mask: str) -> str:
    """Return the statements that tell the loader its files, and nothing of earlier ones.

    Args:
        folder: Absolute, in the container.
        mask: Name of a file in it, in which ``*`` stands for any text.

    Raises:
        CommandFailedError: If a name has a character that isql would misread.
    """
    for name in (folder, mask):
        if found := _WRONG.search(name):
            raise CommandFailedError(
                f"Virtuoso's client cannot be told the name '{name}', which has a {found[0]!r}; "
                "rename it"
            )
    return f"delete from {_LIST}; ld_dir('{folder}', '{mask}', '{GRAPH}');"  # noqa: S608 - names were looked at


def refuse_errors(said: Sequence[str]) -> None:
    """See that isql had no error: its exit code is 0 even then.

    Args:
        said: What it wrote to either stream.

    Raises:
        CommandFailedError: If it had one.
    """
    for text in said:
        at = text.find("*** Error")
        if at >= 0:
            raise ProgramFailedError(f"Virtuoso: {' '.join(redacted(text[at:]).split())[:2000]}")


def refuse_unloaded(said: str, expected: int) -> None:
    """Read the account of ``FINISH``.

    Args:
        said: What isql wrote.
        expected: How many files must have been loaded.

    Raises:
        CommandFailedError: If others were.
    """
    # An isql that repeats the statement does not mean it.
    failed = re.search(rf"{_FAILED} (?!')(.+)", said, re.DOTALL)
    if failed:
        raise ProgramFailedError(
            f"Virtuoso could not load {' '.join(redacted(failed[1]).split())[:2000]}"
        )
    loaded = re.search(rf"{_LOADED} (\d+)", said)
    number = int(loaded[1]) if loaded else 0
    if number != expected:
        raise CommandFailedError(
            f"Virtuoso loaded {number} of {expected} files; its loader knows them by the suffixes "
            ".nt, .nq, .ttl, .rdf, .owl, .xml, .trig and these with .gz"
        )


#: Where Virtuoso sees the run's ``data/shared``: it reads files from there and nowhere else.
SHARED = "/usr/share/proj"
PASSWORD = "DBA_PASSWORD"  # noqa: S105 - the name of a variable

_BUFFERS_PER_GB = 85_000
_DIRTY_BUFFERS_PER_GB = 65_000


class Virtuoso(ServerContainer[ContainerSettings]):
    """Virtuoso: ``http://Virtuoso:8890/sparql`` answers queries."""

    _image: ClassVar[str] = "kgconstruct/virtuoso:v7.2.7"
    _serves: ClassVar[Sequence[int]] = (8890, 1111)
    _data: ClassVar[str] = "/database"

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

    def _readiness(self) -> Sequence[Readiness]:
        return log_pattern("Server online at"), tcp_port(1111), tcp_port(8890)

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
        with ThreadPoolExecutor(cores, "Virtuoso's loader") as pool:
            loaders = [pool.submit(copy_context().run, self._sql, name, LOADER) for name in names]
        for loader in loaders:
            loader.result()

    def _sql(self, name: str, statements: str) -> str:
        """Execute statements; return what isql said, which is kept in files of this name.

        Raises:
            CommandFailedError: If one fails.
        """
        kept = [kept_file(self.workspace, f"{name}.{which}.txt") for which in ("stdout", "stderr")]
        streams = [emptied(file) for file in kept]
        password = self._specification().environment[PASSWORD]
        self._execute(self._up(), isql(password, statements), Follower(*streams))
        said = [
            file.read_text(errors="replace", encoding="utf-8") if file.exists() else ""
            for file in streams
        ]
        refuse_errors(said)
        return said[0]
