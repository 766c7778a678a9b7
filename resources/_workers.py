"""Child processes that take one request at a time, resources in one, and their interpreters."""

import json
import os
import shutil
import subprocess
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from benchyard.case.resource import Resource, SettingsT, Workspace
from benchyard.core.errors import CommandFailedError, InputError, NotReadyError, ProgramFailedError
from benchyard.core.model import JsonObject
from benchyard.process.children import Child, pipe, spawn, tail
from benchyard.process.files import kept_output
from benchyard.process.usage import Ended
from resources.process import run_label


class DiedError(CommandFailedError):
    """The worker's end, seen from this side of the pipe."""


class Worker:
    """A child process with requests and answers as lines of JSON; starts when it is made.

    It says one line by itself when it is ready: the first answer.

    Args:
        program: Path of its Python program; its folder is on its path, and ours is not.
        workspace: Of the resource; it works in the scratch folder.
        options: Its first line of input. Arguments, which anybody may list, it has none.
        name: What errors call it, and its file with messages.
        python: Path of the interpreter; the lab's own if empty.
    """

    def __init__(
        self,
        program: Path,
        workspace: Workspace,
        options: JsonObject | None = None,
        name: str = "",
        python: str = "",
    ) -> None:
        workspace.own.mkdir(parents=True, exist_ok=True)
        self._stderr = workspace.own / f"{name or 'worker'}.stderr.txt"
        self._whose = f"the {name}'s" if name else "its"
        self._files = ExitStack()
        try:
            stderr = self._files.enter_context(kept_output(self._stderr))
            self.child = spawn(
                [python or sys.executable, str(program)],
                folder=workspace.own,
                environment={"PYTHONSAFEPATH": ""},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                labels=run_label(workspace),
            )
        except BaseException:
            self._files.close()
            raise
        self._requests = pipe(self.child.stdin)
        self._answers = pipe(self.child.stdout)
        self._owes_an_answer = True
        if options is not None:
            with suppress(OSError):  # it is dead already, and the first answer tells why
                self._say(options)

    def first(self, seconds: float) -> JsonObject:
        """Wait for the line that says that it is ready; kill it if that takes too long.

        Raises:
            DiedError: If it ended before.
        """
        with _killed_after(seconds, self.child):
            return self._answer()

    def ask(self, request: JsonObject) -> JsonObject:
        """Send a request and wait for the answer.

        Raises:
            DiedError: If it ends before it answers.
        """
        self._owes_an_answer = True
        try:
            self._say(request)
        except OSError as error:
            raise self._death() from error
        return self._answer()

    def _say(self, what: JsonObject) -> None:
        self._requests.write(json.dumps(what).encode() + b"\n")
        self._requests.flush()

    def _answer(self) -> JsonObject:
        line = self._answers.readline()
        if not line.endswith(b"\n"):
            raise self._death()
        self._owes_an_answer = False
        return json.loads(line)

    def _death(self) -> DiedError:
        ended = self.child.wait()
        self._files.close()
        said = tail(self._stderr) or "nothing"
        return DiedError(
            f"{self._whose} process died ({ended.describe()}); on stderr: {said}", ended.exit_status
        )

    def close(self, seconds: float = 0.0) -> None:
        """Let it end by itself; kill it if it is still at work or takes longer than that."""
        if self._owes_an_answer:
            self.child.kill()
        with self._files, self._answers, _killed_after(seconds, self.child):
            with suppress(OSError):  # unsent bytes for a child that is gone
                self._requests.close()
            self.child.wait()


@contextmanager
def _killed_after(seconds: float, child: Child) -> Generator[None]:
    killer = threading.Timer(seconds, child.kill)
    killer.start()
    try:
        yield
    finally:
        killer.cancel()


class WorkerResource(Resource[SettingsT], ABC):
    """A resource that lives in a child process of its own.

    So its CPU time and memory are not the lab's, and a command can be stopped by a kill.
    """

    #: What errors call the process.
    _what: ClassVar[str]
    #: Seconds that it may take to end by itself; 0 kills it.
    _close_seconds: ClassVar[float] = 0.0

    def __init__(self, settings: SettingsT, workspace: Workspace) -> None:
        super().__init__(settings, workspace)
        self._worker: Worker | None = None
        self._latest: Worker | None = None

    @abstractmethod
    def _launched(self) -> Worker:
        """Start the process."""

    def start(self) -> None:
        """Start the process."""
        self._worker = self._latest = self._launched()
        self.changed()

    def _first(self, seconds: float) -> JsonObject:
        """Return what the process says when it is ready.

        Raises:
            NotReadyError: If it ends before, or takes longer than that.
        """
        try:
            return self._living().first(seconds)
        except DiedError as error:
            raise NotReadyError(f"{self._what} did not start: {error}") from error

    def stop(self) -> None:
        """Let the process end; kill it if it does not."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close(self._close_seconds)
            self.changed()

    def abort(self, step: str | None = None) -> None:
        """Kill the process; the command in progress fails at once."""
        del step  # one command at a time: it is the one
        worker = self._worker
        if worker is not None:
            worker.child.kill()

    def alive(self) -> bool:
        """Tell whether the process still runs."""
        worker = self._worker
        return worker is not None and worker.child.running

    def pids(self, step: str | None = None) -> list[int]:
        """Return the process."""
        del step  # as in ``abort``
        worker = self._latest
        return [] if worker is None or worker.child.ended else [worker.child.pid]

    def ended(self, step: str | None = None) -> list[Ended]:
        """Return what the kernel accounted for the process, once it ended."""
        del step
        worker = self._latest
        return [] if worker is None or worker.child.ended is None else [worker.child.ended]

    def _ask(self, request: JsonObject) -> dict[str, Any]:
        """Return the values that the process answers with.

        Raises:
            ProgramFailedError: If what it works on refuses the request.
            CommandFailedError: If it fails otherwise; a ``DiedError`` if it ends.
        """
        answer: dict[str, Any] = self._living().ask(request)
        if "error" in answer:
            kind = ProgramFailedError if answer["refused"] else CommandFailedError
            raise kind(answer["error"])
        return answer["values"]

    def _living(self) -> Worker:
        if self._worker is None:
            raise NotReadyError(f"{self._what} was not started")
        return self._worker


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
