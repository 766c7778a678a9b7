"""A client program that stays open inside a container: scripts go in, answers come out.

The client ends by itself at the first error, as the clients of databases do for scripts. So what
it said is whole when its streams end, and what follows an error is never executed.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from benchyard.core.errors import ResourceError
from benchyard.core.redaction import longest_known, redacted_end
from resources._containers.container import LiveContainer, ProgramCall
from resources._containers.engine import EngineError, telling

#: Exit codes for a program that cannot be executed, or is not there. Source: POSIX, "exec".
NOT_EXECUTABLE = (126, 127)
#: So much of what a client complains about is kept (bytes).
_COMPLAINTS = 65_536

Take = Callable[[bytes], None]


class DialogEndedError(ResourceError):
    """The client ended before it answered.

    Args:
        exit_code: Its exit code; None if it was killed with its container.
        complaints: What it wrote to its standard error.
    """

    def __init__(self, exit_code: int | None, complaints: str) -> None:
        super().__init__(exit_code, complaints)
        self.exit_code = exit_code
        self.complaints = complaints

    def __str__(self) -> str:
        how = "was killed" if self.exit_code is None else f"ended with exit code {self.exit_code}"
        return f"its client {how}; it said: {self.complaints.strip() or 'nothing'}"


@dataclass(frozen=True, slots=True)
class DialogClient:
    """How a client is executed.

    Args:
        arguments: Program and arguments; no password.
        environment: Variables, the password among them.
        end: From a mark that occurs nowhere else, makes what the client is told at the end of
            each script, and what it answers to that.
    """

    arguments: Sequence[str]
    environment: Mapping[str, str]
    end: Callable[[str], tuple[str, bytes]]


class Dialog:
    """One client that runs in a container; for one thread.

    Raises:
        EngineError: If the engine cannot execute it.
    """

    def __init__(self, container: LiveContainer, client: DialogClient) -> None:
        self._container = container
        self._client = client
        self._life = ExitStack()
        # Whoever the server runs as, the case's files are read and the answers written.
        call = ProgramCall(client.environment, user="0", stdin=True)
        self._program = self._life.enter_context(container.program(client.arguments, call))
        self._pieces = self._program.pieces()
        self._complaints = b""
        self.open = True

    def ask(self, script: str, take: Take | None = None) -> bytes:
        """Let the client execute a script.

        Args:
            script: In its own language; ends with a line break.
            take: Gets what it answers piece by piece; the whole is returned if it is None.

        Raises:
            DialogEndedError: If it ended before the end of the script.
            CommandFailedError: If what it answers cannot be written.
            EngineError: If the engine went away.
        """
        self._complaints = b""
        return self._execute(script, take)

    def _execute(self, script: str, take: Take | None = None) -> bytes:
        answer = bytearray()
        told, mark = self._client.end(f"end-{uuid.uuid4().hex}")
        try:
            with telling("the client in the container went away"):
                # A client that takes no input has ended; its output says why.
                with suppress(BrokenPipeError, ConnectionResetError):
                    self._program.send((script + told).encode())
                self._until(mark, take or answer.extend)
        except BaseException:
            # Nobody knows how much of the answer is still to come.
            self.close()
            raise
        return bytes(answer)

    def _until(self, mark: bytes, take: Take) -> None:
        """Hand over what comes before the mark, which may come in parts itself."""
        held = b""
        for said, complained in self._pieces:
            more = longest_known()  # the begin may be the rest of a secret
            self._complaints = (self._complaints + (complained or b""))[-_COMPLAINTS - more :]
            held += said or b""
            if held.endswith(mark):
                take(held[: -len(mark)])
                return
            if len(held) > len(mark):
                take(held[: -len(mark)])
                held = held[-len(mark) :]
        unsure = longest_known() if len(self._complaints) > _COMPLAINTS else 0
        complaints = redacted_end(self._complaints, unsure)
        raise DialogEndedError(self._exit_code(), complaints.decode(errors="replace"))

    def give_up(self, farewell: str) -> DialogEndedError:
        """Let the client end, and return the error with all that it complained about.

        Args:
            farewell: What it ends at.
        """
        try:
            self._execute(farewell)
        except DialogEndedError as error:
            return error
        except EngineError:
            pass
        return DialogEndedError(None, "")

    def _exit_code(self) -> int | None:
        try:
            return self._program.exit_code(lambda: self._container.running)
        except ResourceError:
            return None

    def close(self) -> None:
        """Let the client go: its input is over."""
        self.open = False
        self._life.close()
