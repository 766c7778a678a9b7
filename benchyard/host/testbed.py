"""One run at a time: of a host, whoever measures on it, and of a results folder, from wherever."""

import contextlib
import os
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Unpack

from benchyard.core.files import shown
from benchyard.process.locks import Lock, LockWait, hold
from benchyard.results.folders import RESULTS_LOCK

LOCK_VARIABLE = "BENCHYARD_LOCK"


def lock_file() -> Path:
    """Return the file that all labs of this host lock; ``BENCHYARD_LOCK`` names another."""
    given = os.environ.get(LOCK_VARIABLE)
    if given:
        return Path(given)
    best, other = (Path(folder, "benchyard-testbed.lock") for folder in ("/run/lock", "/tmp"))  # noqa: S108
    # One that is there already is the one that others lock; TMPDIR may differ between users.
    usable = best.exists() or os.access(best.parent, os.W_OK | os.X_OK)
    return best if usable and not (other.exists() and not best.exists()) else other


@contextlib.contextmanager
def hold_testbed(purpose: str, **manner: Unpack[LockWait]) -> Generator[None]:
    """Hold the host's lock.

    Raises:
        InputError: If its file is none of ours, or cannot be made or opened.
        TestbedBusyError: If another holds it and waiting is not wanted.
        RunInterruptedError: If waiting was given up.
    """
    everybodys = not os.environ.get(LOCK_VARIABLE)
    lock = Lock(lock_file(), "this host is measuring", everybodys=everybodys)
    with hold(lock, purpose, **manner):
        yield


@contextlib.contextmanager
def hold_results(results: Path, purpose: str, **manner: Unpack[LockWait]) -> Generator[None]:
    """Hold a folder with the runs of a case against labs that do not share a testbed's lock.

    Ask for it when the testbed is held, so that labs wait in one order. The folder is made.

    Raises:
        InputError: If it cannot be written.
        TestbedBusyError: If another holds it and waiting is not wanted.
        RunInterruptedError: If waiting was given up.
    """
    lock = Lock(results / RESULTS_LOCK, f"{shown(results)} is in use", with_folder=True)
    with hold(lock, purpose, **manner):
        yield


@contextlib.contextmanager
def hold_both(
    results: Path,
    purpose: str,
    *,
    wait: bool,
    tell: Callable[[str], None],
    give_up: Callable[[], bool],
) -> Generator[None]:
    """Hold the testbed, and then a results folder.

    Args:
        tell: Called with a sentence when another holds one of them.

    Raises:
        InputError: As the two others.
        TestbedBusyError: As the two others.
        RunInterruptedError: As the two others.
    """

    def waiting(what: str) -> Callable[[str], None]:
        return lambda holder: tell(f"waiting for {what}, held by {holder}")

    place = shown(results)
    with (
        hold_testbed(purpose, wait=wait, waiting=waiting("the testbed"), give_up=give_up),
        hold_results(results, purpose, wait=wait, waiting=waiting(place), give_up=give_up),
    ):
        yield
