"""One run at a time on a host, whoever starts it: a lock that the kernel frees with its holder."""

import contextlib
import fcntl
import getpass
import json
import os
import time
from collections.abc import Callable, Generator
from pathlib import Path

from benchyard.case.problems import printable
from benchyard.clock import now
from benchyard.errors import RunInterruptedError, TestbedBusyError

LOCK_VARIABLE = "BENCHYARD_LOCK"
_POLL_SECONDS = 0.2


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
def hold_testbed(
    purpose: str,
    *,
    wait: bool,
    waiting: Callable[[str], None] = lambda _holder: None,
    give_up: Callable[[], bool] = lambda: False,
) -> Generator[None]:
    """Hold the host's lock.

    Args:
        purpose: What for, told to others who want the lock.
        wait: Whether to wait for another holder.
        waiting: Called once with a description of the holder before waiting.
        give_up: Asked while waiting; true ends it.

    Raises:
        TestbedBusyError: If another holds it and waiting is not wanted.
        RunInterruptedError: If waiting was given up.
    """
    path = lock_file()
    descriptor = _open(path)
    try:
        _acquire(descriptor, path, wait=wait, waiting=waiting, give_up=give_up)
        _write_holder(descriptor, purpose)
        yield
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    """Open the lock; in a sticky folder only its owner may open it with O_CREAT."""
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.open(path, flags)
    except FileNotFoundError:
        descriptor = os.open(path, flags | os.O_CREAT, 0o666)
        with contextlib.suppress(PermissionError):
            os.fchmod(descriptor, 0o666)  # every user of the host measures under one lock
        return descriptor
    except PermissionError as error:
        raise TestbedBusyError(f"cannot open the lock {path}: {error.strerror}") from error


def _acquire(
    descriptor: int,
    path: Path,
    *,
    wait: bool,
    waiting: Callable[[str], None],
    give_up: Callable[[], bool],
) -> None:
    told = False
    while not _try_lock(descriptor):
        holder = _holder(descriptor)
        if not wait:
            raise TestbedBusyError(f"this host is measuring already: {holder} (lock {path})")
        if not told:
            waiting(holder)
            told = True
        if give_up():
            raise RunInterruptedError(f"gave up waiting for {holder} (lock {path})")
        time.sleep(_POLL_SECONDS)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _write_holder(descriptor: int, purpose: str) -> None:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    text = json.dumps({"pid": os.getpid(), "user": user, "purpose": purpose, "since": now()})
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, text.encode(), 0)


def _holder(descriptor: int) -> str:
    try:
        holder = json.loads(os.pread(descriptor, 4096, 0))
        return printable("pid {pid} of {user} since {since}: {purpose}".format(**holder))
    except (ValueError, KeyError, OSError, TypeError, RecursionError):
        return "another lab"
