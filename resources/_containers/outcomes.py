"""How a program in a container ended, in the words of records and errors."""

from contextlib import suppress
from pathlib import Path

from benchyard.model import Json
from resources._containers.exits import Exit
from resources._containers.following import Follower


def values(ended: Exit) -> dict[str, Json]:
    """Return what the record tells of a container that ran to its end."""
    return {"exit_code": ended.code, "run_s": ended.run_s, "out_of_memory": ended.out_of_memory}


def wanted(exit_code: int) -> str:
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
