"""A child process that takes one request at a time."""

import json
import subprocess
import sys
import threading
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO

from benchyard.case.resource import Workspace
from benchyard.core.errors import CommandFailedError
from benchyard.core.model import JsonObject
from benchyard.process.children import pipe, spawn, tail
from benchyard.process.kept_output import kept_output
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
    """

    def __init__(
        self,
        program: Path,
        workspace: Workspace,
        options: JsonObject | None = None,
        name: str = "",
    ) -> None:
        workspace.own.mkdir(parents=True, exist_ok=True)
        self._stderr = workspace.own / f"{name or 'worker'}.stderr.txt"
        self._whose = f"the {name}'s" if name else "its"
        self._files = ExitStack()
        try:
            stderr = self._files.enter_context(kept_output(self._stderr))
            self._child = spawn(
                [sys.executable, str(program)],
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
        self._requests = pipe(self._child.stdin)
        self._answers = pipe(self._child.stdout)
        self._owes_an_answer = True
        if options is not None:
            with suppress(OSError):  # it is dead already, and the first answer tells why
                self._say(options)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._child.pid

    @property
    def running(self) -> bool:
        """Whether it takes requests."""
        return self._child.running

    @property
    def ended(self) -> Ended | None:
        """How it ended, once it did."""
        return self._child.ended

    def first(self, seconds: float) -> JsonObject:
        """Wait for the line that says that it is ready; kill it if that takes too long.

        Raises:
            DiedError: If it ended before.
        """
        killer = threading.Timer(seconds, self.kill)
        killer.start()
        try:
            return self._answer()
        finally:
            killer.cancel()

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
        ended = self._child.wait()
        self._files.close()
        said = tail(self._stderr) or "nothing"
        return DiedError(
            f"{self._whose} process died ({ended.describe()}); on stderr: {said}",
            ended.exit_status,
        )

    def kill(self) -> None:
        """Kill it; the request under way fails at once."""
        self._child.kill()

    def close(self, seconds: float = 0.0) -> None:
        """Let it end by itself; kill it if it is still at work or takes longer than that."""
        if self._owes_an_answer or not seconds:
            self._child.kill()
        killer = threading.Timer(seconds, self._child.kill)
        if seconds:
            killer.start()
        try:
            _close(self._requests)
            self._child.wait()
        finally:
            killer.cancel()
            _close(self._answers)
            self._files.close()


def _close(stream: IO[bytes]) -> None:
    try:
        stream.close()
    except OSError:
        return  # unsent bytes for a child that is gone
