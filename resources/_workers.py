"""Resources in a child process that takes one request at a time, and its interpreter."""

import json
import os
import shutil
import subprocess
import sys
from abc import ABC
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from benchyard.case.resource import Resource, SettingsT, Workspace
from benchyard.core.clock import Deadline
from benchyard.core.errors import CommandFailedError, InputError, NotReadyError, ProgramFailedError
from benchyard.core.model import JsonObject
from benchyard.process.children import Child, pipe, spawn, tail
from benchyard.process.files import kept_output
from benchyard.process.usage import Ended
from resources.process import run_label


class DiedError(CommandFailedError):
    """The worker's end, seen from this side of the pipe."""


class WorkerResource(Resource[SettingsT], ABC):
    """A resource that lives in a child process of its own.

    So its CPU time and memory are not the lab's, and a command can be stopped by a kill. Requests
    and answers are lines of JSON. It says one line by itself when it is ready: the first answer.
    """

    #: What errors call the process, and whose it is where they do not name it.
    _what: ClassVar[str]
    _whose: ClassVar[str] = "its"
    #: Seconds that it may take to end by itself; 0 kills it.
    _close_seconds: ClassVar[float] = 0.0

    def __init__(self, settings: SettingsT, workspace: Workspace) -> None:
        super().__init__(settings, workspace)
        self._child: Child | None = None
        self._is_up = False
        self._files = ExitStack()
        self._owes_an_answer = False

    def _launch(
        self, program: Path, options: JsonObject | None = None, python: str = sys.executable
    ) -> None:
        """Start the process; it works in the scratch folder.

        Args:
            program: Path of its Python program; its folder is on its path, and ours is not.
            options: Its first line of input. Arguments, which anybody may list, it has none.
            python: Path of the interpreter.
        """
        self.workspace.own.mkdir(parents=True, exist_ok=True)
        with ExitStack() as files:
            self._child = spawn(
                [python, str(program)],
                folder=self.workspace.own,
                environment={"PYTHONSAFEPATH": ""},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=files.enter_context(kept_output(self._stderr)),
                labels=run_label(self.workspace),
            )
            self._files = files.pop_all()
        self._is_up = self._owes_an_answer = True
        if options is not None:
            with suppress(OSError):  # it is dead already, and the first answer tells why
                _say(self._child, options)
        self.changed()

    @property
    def _stderr(self) -> Path:
        return self.workspace.own / "worker.stderr.txt"

    def _first(self, seconds: float) -> JsonObject:
        """Return what the process says when it is ready.

        Raises:
            NotReadyError: If it ends before, or takes longer than that.
        """
        child = self._living()
        try:
            with Deadline(seconds, child.kill).armed():
                return self._answer(child)
        except DiedError as error:
            raise NotReadyError(f"{self._what} did not start: {error}") from error

    def stop(self) -> None:
        """Let the process end; kill it if it is still at work, or takes too long."""
        child = self._child
        if child is None or not self._is_up:
            return
        self._is_up = False
        if self._owes_an_answer:
            child.kill()
        late = Deadline(self._close_seconds, child.kill)
        with self._files, pipe(child.stdout), late.armed():
            with suppress(OSError):  # unsent bytes for a child that is gone
                pipe(child.stdin).close()
            child.wait()
        self.changed()

    def abort(self, step: str | None = None) -> None:
        """Kill the process; the command in progress fails at once."""
        if self._child is not None and self._is_up:
            self._child.kill()

    def alive(self) -> bool:
        """Tell whether the process still runs."""
        return self._child is not None and self._is_up and self._child.running

    def pids(self, step: str | None = None) -> list[int]:
        """Return the process."""
        return [] if self._child is None or self._child.ended else [self._child.pid]

    def ended(self, step: str | None = None) -> list[Ended]:
        """Return what the kernel accounted for the process, once it ended."""
        return [] if self._child is None or self._child.ended is None else [self._child.ended]

    def _ask(self, request: JsonObject) -> dict[str, Any]:
        """Return the values that the process answers with.

        Raises:
            ProgramFailedError: If what it works on refuses the request.
            CommandFailedError: If it fails otherwise; a ``DiedError`` if it ends.
        """
        child = self._living()
        self._owes_an_answer = True
        try:
            _say(child, request)
        except OSError as error:
            raise self._death(child) from error
        answer = self._answer(child)
        if "error" in answer:
            kind = ProgramFailedError if answer["refused"] else CommandFailedError
            raise kind(answer["error"])
        return answer["values"]

    def _answer(self, child: Child) -> dict[str, Any]:
        line = pipe(child.stdout).readline()
        if not line.endswith(b"\n"):
            raise self._death(child)
        self._owes_an_answer = False
        return json.loads(line)

    def _death(self, child: Child) -> DiedError:
        ended = child.wait()
        self._files.close()
        said = tail(self._stderr) or "nothing"
        return DiedError(
            f"{self._whose} process died ({ended.describe()}); on stderr: {said}", ended.exit_status
        )

    def _living(self) -> Child:
        if self._child is None or not self._is_up:
            raise NotReadyError(f"{self._what} was not started")
        return self._child


def _say(child: Child, what: JsonObject) -> None:
    stream = pipe(child.stdin)
    stream.write(json.dumps(what).encode() + b"\n")
    stream.flush()


#: Seconds that an interpreter may take to say which version of a library it loads.
_SECONDS = 60.0
#: Letters of an interpreter's messages that an error tells.
_TOLD = 500


def refuse_relative(what: str, python: str | None) -> None:
    """Refuse what names no interpreter wherever the lab is started.

    Args:
        what: The resource, for the message.
        python: As the case has it: a path from / or ~ on, or a program on the PATH.

    Raises:
        InputError: If it is empty, or a path from the current folder on.
    """
    if python is not None and (not python or ("/" in python and python[0] not in "/~")):
        raise InputError(
            f"{what}: python is '{python}'; it must be a path from / on, of an interpreter or a "
            "virtual environment, or a program on the PATH"
        )


def interpreter(python: str | None) -> str:
    """Return the path of an interpreter; the lab's own where the case names none.

    Raises:
        NotReadyError: If there is none.
    """
    if python is None:
        return sys.executable
    place = Path(os.path.expanduser(python))  # noqa: PTH111 - Path's own raises for a user who is none
    found = shutil.which(place / "bin" / "python" if place.is_dir() else place)
    if found is None:
        where = f"in the folder '{place}'" if place.is_dir() else f"'{place}'"
        raise NotReadyError(
            f"there is no Python interpreter {where}; 'python' of the resource must name one, or "
            f"a virtual environment: {sys.executable} -m venv FOLDER"
        )
    return os.fspath(found)


@cache
def version_in(python: str, worker: Path, engine: str) -> str:
    """Return the version of an engine's library as an interpreter loads it.

    Asked once: an answer takes the tenth of a second in which Python and the library start.

    Args:
        python: Path of the interpreter.
        worker: The program that holds databases.
        engine: As the worker calls it.

    Raises:
        NotReadyError: If it cannot load the library; the text says why and what to do.
    """
    try:
        said = subprocess.run(
            [python, worker],
            input=json.dumps({"engine": engine, "database": None}).encode(),
            cwd="/",
            env={**os.environ, "PYTHONSAFEPATH": ""},
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
        answer = dict(json.loads(said.stdout or b"{}"))
    except (OSError, TypeError, ValueError, subprocess.SubprocessError) as error:
        raise NotReadyError(f"{python} cannot be asked for {engine}: {error}") from error
    if "values" in answer:
        return str(answer["values"]["version"])
    said_last = said.stderr.decode(errors="replace").strip()[-_TOLD:]
    why = answer.get("error") or said_last or f"it ended with {said.returncode}"
    lacks = answer.get("lacks")
    how = f"; install it there: {python} -m pip install {lacks}" if lacks else ""
    raise NotReadyError(f"{python} cannot load {engine}: {why}{how}")
