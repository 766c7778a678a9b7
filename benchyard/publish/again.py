"""Rejected files once more: back into the spool, for what refused them may be mended by now."""

import os
from pathlib import Path

from benchyard.core.errors import BenchyardError
from benchyard.publish.claiming import Claim, Missed, claimed
from benchyard.publish.outcome import Left
from benchyard.publish.placing import link_exclusively, rename_exclusively
from benchyard.publish.sinks.contract import Kind
from benchyard.publish.spool import REASON, REJECTED, listing


def offer_again(spool: Path, only: Kind | None = None) -> tuple[Left, ...]:
    """Move what was rejected back to where it waited; its reason goes.

    A file has its name in the spool before it loses the one among the rejected, so a publisher that
    is killed in between loses nothing, and the next one completes it.

    Args:
        only: Leave the other kind alone.

    Returns:
        What stays, because another file of that name waits, or the disk does not let it go.

    Raises:
        OSError: If the folder is there and cannot be read.
    """
    try:
        found = listing(spool / REJECTED, only).waiting
    except FileNotFoundError:
        return ()
    left = (_offered(one.path, spool) for one in found)
    return tuple(one for one in left if one is not None)


def _offered(path: Path, spool: Path) -> Left | None:
    name = f"{REJECTED}/{path.name}"
    try:
        with claimed(path) as held:
            if isinstance(held, Missed) or _moved(held, spool / path.name):
                return None
    except (BenchyardError, OSError) as error:
        return Left(name, getattr(error, "strerror", None) or str(error))
    return Left(name, "another file of that name waits; publish or remove that one first")


def _moved(held: Claim, target: Path) -> bool:
    placed = link_exclusively(held.descriptor, target)
    if placed is None:
        placed = rename_exclusively(held.path, target)
    if not placed and not os.path.samestat(target.lstat(), os.fstat(held.descriptor)):
        return False
    held.path.with_name(held.name + REASON).unlink(missing_ok=True)
    held.take_out()
    return True
