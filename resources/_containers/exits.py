"""How containers and programs end: as the engine tells it, and in the words of records."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from benchyard.core.errors import SIGNALLED, CommandFailedError, program_failed
from benchyard.core.model import Json
from resources._containers.streams import Follower


@dataclass(frozen=True, slots=True)
class Exit:
    """How a container ended, as the engine tells it.

    Args:
        code: Exit code; 128 + number for a signal.
        out_of_memory: Whether the kernel killed a process of it at its memory limit.
        run_s: Seconds from its start to its end by the engine's clock; None if it does not tell.
        error: What the engine could not do, such as executing the program.
    """

    code: int
    out_of_memory: bool
    run_s: float | None
    error: str = ""

    def describe(self) -> str:
        """Say in words how it ended."""
        if self.error:
            return self.error
        if self.out_of_memory:
            return f"out of memory: the kernel killed it at its limit (exit code {self.code})"
        return describe_code(self.code)


def describe_code(code: int) -> str:
    """Say in words what an exit code means."""
    if SIGNALLED < code <= SIGNALLED + 64:
        return f"exit code {code} (signal {code - SIGNALLED})"
    return f"exit code {code}"


def exit_of(state: Any) -> Exit:
    """Read how a container ended from what the engine says of its state."""
    return Exit(
        code=state["ExitCode"],
        out_of_memory=bool(state.get("OOMKilled")),
        run_s=_between(state.get("StartedAt", ""), state.get("FinishedAt", "")),
        error=state.get("Error") or "",
    )


def _between(start: str, end: str) -> float | None:
    """Return the seconds between two of the engine's instants, which have nanoseconds."""
    try:
        began, ended = datetime.fromisoformat(start), datetime.fromisoformat(end)
    except ValueError:
        return None
    # The year 1 is how the engine says never.
    return (ended - began).total_seconds() if began.year > 1 and ended >= began else None


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """How a program ended that was executed in a container.

    Args:
        code: Exit code; 128 + number for a signal.
        run_s: Seconds from its begin to its end; None if that was not watched, or not seen.
        out_of_memory: Whether the kernel killed a process meanwhile, at the container's limit.
        has_begun: False if the engine could not execute it.
    """

    code: int
    run_s: float | None
    out_of_memory: bool
    has_begun: bool


def values(ended: Exit) -> dict[str, Json]:
    """Return what the record tells of a container that ran to its end."""
    return {"exit_code": ended.code, "run_s": ended.run_s, "out_of_memory": ended.out_of_memory}


def run_failed(image: str, ended: Exit, exit_code: int, said: str) -> CommandFailedError:
    """Return the error for a container that did not end as it must.

    Args:
        exit_code: The one that it must end with.
        said: The end of what it said.
    """
    how = f"'{image}' failed: {ended.describe()}{_wanted(exit_code)}; it said: {said}"
    if ended.error or ended.out_of_memory:
        return CommandFailedError(how, ended.code)
    return program_failed(how, ended.code)


def execution_failed(
    program: str, image: str, ended: ProgramRun, exit_code: int, said: str
) -> CommandFailedError:
    """Return the error for a program in a container that did not end as it must.

    Args:
        exit_code: As for ``run_failed``.
        said: As for ``run_failed``.
    """
    where = f"in the container of '{image}'"
    if not ended.has_begun:
        # Then its output is the engine's.
        return CommandFailedError(f"cannot execute '{program}' {where}: {said}", ended.code)
    how = describe_code(ended.code)
    if ended.out_of_memory:
        how = "out of memory: the kernel killed it at the container's limit"
    message = f"'{program}' failed {where}: {how}{_wanted(exit_code)}; it said: {said}"
    if ended.out_of_memory:
        return CommandFailedError(message, ended.code)
    return program_failed(message, ended.code)


def _wanted(exit_code: int) -> str:
    """Return the part of an error that tells which exit code was expected, if not 0."""
    return f", and {exit_code} was expected" if exit_code else ""


def output(follower: Follower) -> Path | None:
    """Return the file with what came over standard output, if anything did."""
    return follower.stdout if follower.stdout.exists() else None


def remove_if_empty(follower: Follower, kept: Path) -> None:
    """Remove the files in ``kept`` of streams that nothing came over.

    A file elsewhere is one that the step asked for by name.
    """
    for file in {follower.stdout, follower.stderr}:
        with suppress(FileNotFoundError):
            if file.parent == kept and not file.stat().st_size:
                file.unlink()
