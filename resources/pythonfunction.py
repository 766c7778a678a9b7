"""A function of Python, called until its time is known."""

import json
import os
import re
import subprocess
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from statistics import fmean, median
from typing import Any, ClassVar

from benchyard.case.resource import CommandResult, OutputFile, Workspace, command, current_step
from benchyard.case.subject.environments import imported
from benchyard.core.errors import (
    CommandFailedError,
    ProgramFailedError,
    ResourceError,
    SettingsError,
)
from benchyard.core.model import Json, JsonObject
from benchyard.core.wording import quote
from benchyard.host.facts import ask_git
from resources._workers import interpreter
from resources.process import ProgramResource

WORKER = Path(__file__).parent / "_python_function" / "function_worker.py"
_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
_ASK_VERSION = "import platform as p; print(p.python_implementation(), p.python_version())"
_VERSION_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class PythonFunctionSettings:
    """What a case may set.

    Args:
        python: Interpreter, or folder of a virtual environment, as an absolute path or one that
            begins with ``~``; or the name of an interpreter on ``PATH``. By default the one that
            Benchyard itself runs on.
        environment: Variables added to the lab's own, such as ``PYTHONHASHSEED``.
        repository: Folder of a git repository whose modules are measured, as an absolute path or
            one that begins with ``~``; its folder ``src``, if there is one, and its top are
            searched for modules.
        commit: Which commit of it, by digest, tag or branch. Its files are taken from git: what
            is checked out in the repository, and edited there, plays no part.
    """

    python: str = ""
    environment: dict[str, str] = field(default_factory=dict[str, str])
    repository: str = ""
    commit: str = ""

    def __post_init__(self) -> None:
        wrong: list[tuple[str, str]] = []
        for name in ("python", "repository"):
            text = getattr(self, name)
            if text and text[0] not in "/~$" and ("/" in text or name == "repository"):
                told = f"{name} is '{text}'; write an absolute path, or one that begins with ~"
                wrong.append((name, told))
        if bool(self.repository) != bool(self.commit):
            wrong.append(("commit", "repository and commit go together: give both, or neither"))
        elif self.commit.startswith("-"):
            wrong.append(("commit", f"'{self.commit}' is no name of a commit"))
        if wrong:
            raise SettingsError(wrong)


class PythonFunction(ProgramResource[PythonFunctionSettings]):
    """A function of Python, timed in a process of its own."""

    Settings: ClassVar[type[PythonFunctionSettings]] = PythonFunctionSettings

    def __init__(self, settings: PythonFunctionSettings, workspace: Workspace) -> None:
        super().__init__(settings, workspace)
        self._python = ""
        self._commit = ""
        self._modules: set[str] = set()
        self._search_path: list[str] | None = None

    def initialize(self) -> None:
        """Take the files of the commit from the repository, if the case names one."""
        if self.settings.repository:
            self._commit = commit_of(self.settings.repository, self.settings.commit)
            check_out(self.settings.repository, self._commit, self._source)

    @property
    def _source(self) -> Path:
        return self.workspace.own / "source"

    def version(self) -> str:
        """Return implementation and version of the Python, and the commit of the repository."""
        self._python = self._python or _version_of(self.settings.python)
        return _with_commit(self._python, self._commit)

    def imported(self) -> JsonObject | None:
        """Return the distributions of the modules that were imported when functions ended."""
        if self._search_path is None:
            return None
        results = (self.workspace.kept.parents[1], self.workspace.inputs.parents[1] / "results")
        own = tuple(f"{folder}/" for folder in self._folders())
        modules = (module for module in self._modules if not module.startswith(own))
        return {**imported(modules, self._search_path, results)}

    @classmethod
    def installed(cls, settings: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the version that the interpreter has now, and the digest of the commit."""
        python = _version_of(str(settings.get("python") or ""))
        repository, commit = (str(settings.get(name) or "") for name in ("repository", "commit"))
        found = commit_of(repository, commit) if repository and commit else ""
        return {"version": _with_commit(python, found)}

    @classmethod
    def program_lines(
        cls, settings: Mapping[str, Json], command: str, parameters: Mapping[str, Json]
    ) -> Iterator[Sequence[str]]:
        """Yield the interpreter, with the module of the function: by it its package is found."""
        try:
            python = interpreter(str(settings.get("python") or "") or None)
        except ResourceError:
            return
        yield [python, "-m", str(parameters.get("function", "")).partition(":")[0] or "sys"]

    @classmethod
    def refusals(
        cls, settings: Mapping[str, Json], command: str, parameters: Mapping[str, Json]
    ) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Refuse what names no function, and measurements that cannot be."""
        for name in ("function", "setup"):
            text = parameters.get(name)
            if isinstance(text, str) and "${" not in text and not _NAME.fullmatch(text):
                yield ("parameters", name), f"is '{text}'; write it like module:function"
        for name, least in (("values", 1), ("warmups", 0), ("loops", 1)):
            number = parameters.get(name)
            if isinstance(number, int) and number < least:
                yield ("parameters", name), f"is {number}; it must be {least} or more"
        seconds = parameters.get("min_seconds")
        if isinstance(seconds, int | float) and not 0 < seconds < float("inf"):
            yield ("parameters", "min_seconds"), f"is {seconds}; it must be above 0"

    @command
    def call(  # noqa: PLR0913, PLR0917 - each is a parameter that a step may give by name
        self,
        function: str,
        arguments: list[Any] | None = None,
        keywords: dict[str, Any] | None = None,
        setup: str | None = None,
        min_seconds: float = 0.1,
        loops: int | None = None,
        warmups: int = 1,
        values: int = 5,
        garbage_collector: bool = True,  # noqa: FBT001, FBT002 - as above
        result_file: OutputFile | None = None,
    ) -> CommandResult:
        """Call a function as often as it takes to know how long a call takes.

        Calls are timed many at a time: their number is doubled until they take ``min_seconds``.
        That, the import and the set-up are part of the step's time, and not of ``call_s``.

        Args:
            function: As ``module:function``; modules are looked for in ``data/shared`` first.
            arguments: What it is called with.
            keywords: The same, by name.
            setup: Called once before, with these; what it returns, if anything, is all that the
                function is called with.
            min_seconds: So long a measurement takes at least.
            loops: Calls in one measurement, instead of finding out.
            warmups: Measurements that do not count.
            values: Measurements that do.
            garbage_collector: Whether Python's garbage collector works meanwhile; it is asked to
                collect before each measurement in any case.
            result_file: Where the result of one further call goes, as JSON, for ``check``.
        """
        request: dict[str, Json] = {
            "folders": list[Json](self._folders()),
            "function": function,
            "arguments": arguments or [],
            "keywords": keywords or {},
            "setup": setup,
            "min_seconds": min_seconds,
            "loops": loops,
            "warmups": warmups,
            "values": values,
            "garbage_collector": garbage_collector,
        }
        result = self.workspace.new_file(result_file) if result_file else None
        answer = self._answer({**request, "result": None if result is None else str(result)})
        python, times = answer["python"], answer["times"]
        self._python = f"{python['implementation']} {python['version']}"
        self._modules |= set(answer["modules"])
        self._search_path = answer["folders"]
        return CommandResult(_told(times), result)

    def _folders(self) -> list[str]:
        """Return where modules are looked for before the interpreter's own places."""
        source = [self._source / "src", self._source] if self._commit else []
        return [str(place) for place in (self.workspace.shared, *source) if place.is_dir()]

    def _answer(self, request: Mapping[str, Json]) -> dict[str, Any]:
        """Let the worker time the function.

        Raises:
            CommandFailedError: If there is no function, or it was killed.
            ProgramFailedError: If the function raised.
        """
        # Arguments anybody may list; the files are the lab's own.
        asked, told = (self.workspace.own / f"{current_step()}.{end}" for end in ("asked", "told"))
        asked.write_text(json.dumps(request), encoding="utf-8")
        told.unlink(missing_ok=True)
        words = [interpreter(self.settings.python or None), str(WORKER), str(asked), str(told)]
        call = self._kept_call(words, self.workspace.shared, self.settings.environment)
        try:
            self._run(call)
        except CommandFailedError as error:
            if error.exit_status not in (1, 2) or not told.exists():
                raise
            said = json.loads(told.read_text(encoding="utf-8"))["error"]
            kind = ProgramFailedError if error.exit_status == 1 else CommandFailedError
            raise kind(said, error.exit_status) from None
        return json.loads(told.read_text(encoding="utf-8"))


def _with_commit(python: str, commit: str) -> str:
    return f"{python}, commit {commit[:12]}" if commit else python


def _told(times: Mapping[str, Any]) -> dict[str, Json]:
    """Return what a call took: figures, and all values (s) in their order."""
    values: list[float] = times["values"]
    return {
        "call_s": median(values),
        "call_min_s": min(values),
        "call_mean_s": fmean(values),
        "loop_count": times["loops"],
        "values_s": list[Json](values),
        "warmup_values_s": times["warmups"],
        "garbage_collector": times["garbage_collector"],
    }


@cache
def _version_of(python: str) -> str:
    """Ask an interpreter for its version, once: a matrix has many points.

    Raises:
        ResourceError: If it does not tell.
    """
    try:
        said = subprocess.run(
            [interpreter(python or None), "-I", "-S", "-c", _ASK_VERSION],
            capture_output=True,
            check=True,
            timeout=_VERSION_SECONDS,
            encoding="utf-8",
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ResourceError(f"'{python}' does not tell its version of Python: {error}") from error
    return said.stdout.strip()


#: Seconds for one question to git; an archive of a large repository takes some.
_SECONDS = 120.0


def commit_of(repository: str, name: str) -> str:
    """Return the digest of a commit.

    Args:
        repository: Folder of the repository, or one inside it.
        name: Of a commit, as git knows it: a digest, a tag, ``main~3``.

    Raises:
        ResourceError: If there is no such repository or commit, or no git.
    """
    return _git(repository, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", of=name)


def check_out(repository: str, commit: str, folder: Path) -> None:
    """Write the files of a commit into a folder; the repository's working tree stays as it is.

    Args:
        commit: Its digest.
        folder: Made by this function.

    Raises:
        ResourceError: If git fails, or a file of the commit would lead out of the folder.
    """
    folder.mkdir(parents=True)
    archive = folder.with_suffix(".tar")
    _git(repository, "archive", "--format=tar", f"--output={archive}", commit, of=commit)
    try:
        with tarfile.open(archive) as files:
            files.extraction_filter = getattr(tarfile, "data_filter", None)
            files.extractall(folder)  # noqa: S202 - Python before 3.11.4 has no filter
    except tarfile.TarError as error:
        raise ResourceError(f"commit {commit[:12]} of {quote(repository)}: {error}") from error
    finally:
        archive.unlink()


def _git(repository: str, *arguments: str, of: str) -> str:
    place = Path(os.path.expanduser(repository))  # noqa: PTH111 - Path's own raises for a user who is none
    if not place.is_dir():
        raise ResourceError(f"the repository {quote(repository)}: there is no such folder")
    try:
        return ask_git(place, *arguments, seconds=_SECONDS)
    except subprocess.CalledProcessError as error:
        said = quote(error.stderr.decode(errors="replace").strip() or "it is not there")
        raise ResourceError(f"no commit '{quote(of)}' in {quote(repository)}: {said}") from error
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise ResourceError(f"the repository {quote(repository)}: {error}") from error
