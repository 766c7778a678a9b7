"""How a program in a container ended, in the words of records and errors."""

from contextlib import suppress
from pathlib import Path

from benchyard.core.errors import CommandFailedError, program_failed
from benchyard.core.model import Json
from resources._containers.crew import Executed
from resources._containers.exits import Exit, describe_code
from resources._containers.following import Follower


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
    program: str, image: str, ended: Executed, exit_code: int, said: str
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
