"""One run at a time: of a host, whoever measures on it, and of a results folder, from wherever.

The kernel frees these locks with their holder: flock on a file that says who holds it. Where a file
system hands such locks on (NFS does since Linux 2.6.12), they hold between its hosts too, and
between containers. The file stays when its lock is free. What lies at its place and is none of ours
is left as it is.
"""

import contextlib
import errno
import getpass
import json
import os
import pwd
import stat
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Required, TypedDict, Unpack

from benchyard.core.clock import now
from benchyard.core.errors import InputError, RunInterruptedError, TestbedBusyError
from benchyard.core.files import shown
from benchyard.core.locks import OPENING, is_at, open_for_lock, try_lock
from benchyard.core.wording import printable
from benchyard.results.folders import RESULTS_LOCK

_POLL_SECONDS = 0.2
_WRONG_PLACE = (
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.EEXIST, errno.ENOTDIR),
    *(errno.EISDIR, errno.ELOOP, errno.ENXIO, errno.ENAMETOOLONG),
)
#: What the text of a holder begins with, and how long it is at most.
_OURS = b'{"pid": '
_LONGEST = 4096


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock that labs hold one after another.

    Args:
        path: Its file, which is made where there is none.
        taken: What is said of it to those who do not wait, such as "this host is measuring".
        everybodys: Whether every user of the host may lock it, whatever the umask says.
        with_folder: Whether the folder that it lies in is made where there is none.
    """

    path: Path
    taken: str
    everybodys: bool = False
    with_folder: bool = False


class LockWait(TypedDict, total=False):
    """What to do while another holds a lock.

    Args:
        wait: Whether to wait for another holder.
        waiting: Called once with a description of the holder before waiting.
        give_up: Asked while waiting; true ends it.
    """

    wait: Required[bool]
    waiting: Callable[[str], None]
    give_up: Callable[[], bool]


@contextlib.contextmanager
def hold(lock: Lock, purpose: str, **manner: Unpack[LockWait]) -> Generator[None]:
    """Hold a lock while the block runs.

    Args:
        lock: The lock.
        purpose: What for, told to others who want the lock.
        manner: What to do while another holds it.

    Raises:
        InputError: If its file is none of ours, or cannot be made or opened.
        TestbedBusyError: If another holds it and waiting is not wanted.
        RunInterruptedError: If waiting was given up.
    """
    descriptor = _acquired(lock, **manner)
    try:
        _write_holder(descriptor, purpose)
        yield
    finally:
        os.close(descriptor)


def _acquired(lock: Lock, **manner: Unpack[LockWait]) -> int:
    is_announced = False
    while True:
        descriptor = _open(lock)
        try:
            while not try_lock(descriptor):
                _wait(lock, _holder(descriptor), is_announced=is_announced, **manner)
                is_announced = True
            if is_at(lock.path, descriptor):
                _refuse_foreign(lock.path, descriptor)
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        # Its last holder removed the file, with the folder that it lay in.
        os.close(descriptor)


def _wait(lock: Lock, holder: str, *, is_announced: bool, **manner: Unpack[LockWait]) -> None:
    """Wait for a moment, if that is wanted; the holder is announced once."""
    if not manner["wait"]:
        raise TestbedBusyError(f"{lock.taken} already: {holder} (lock {lock.path})")
    if "waiting" in manner and not is_announced:
        manner["waiting"](holder)
    if "give_up" in manner and manner["give_up"]():
        raise RunInterruptedError(f"gave up waiting for {holder} (lock {lock.path})")
    time.sleep(_POLL_SECONDS)


def _open(lock: Lock) -> int:
    try:
        if lock.with_folder:
            lock.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = _opened(lock)
    except OSError as error:
        if error.errno not in _WRONG_PLACE:
            raise
        text = "it is a link" if lock.path.is_symlink() else error.strerror
        raise InputError(f"cannot open the lock {lock.path}: {text}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _foreign(lock.path)
    return descriptor


def _opened(lock: Lock) -> int:
    if lock.path.is_fifo() or lock.path.is_block_device() or lock.path.is_char_device():
        raise _foreign(lock.path)  # opening one may already do something
    try:
        return open_for_lock(lock.path)
    except FileNotFoundError:
        # In a sticky folder only its owner may open what is there with O_CREAT.
        descriptor = os.open(lock.path, os.O_RDWR | os.O_CREAT | OPENING, 0o660)
        if lock.everybodys:
            # Reading is enough to lock a file, and only one user is to write to it.
            with contextlib.suppress(PermissionError):
                os.fchmod(descriptor, 0o644)
        return descriptor


def _refuse_foreign(path: Path, descriptor: int) -> None:
    """Refuse a file that no lab wrote; a power cut may have left ours empty, or full of zeros."""
    found = os.pread(descriptor, len(_OURS), 0)
    if found.strip(b"\0") and not _OURS.startswith(found):
        raise _foreign(path)


def _foreign(path: Path) -> InputError:
    return InputError(f"{path} is no lock of Benchyard's, and is left as it is; name another file")


def _write_holder(descriptor: int, purpose: str) -> None:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    text = json.dumps({"pid": os.getpid(), "user": user, "purpose": purpose, "since": now()})
    with contextlib.suppress(OSError):  # it is another user's, and open for reading
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, text.encode(), 0)


def _holder(descriptor: int) -> str:
    """Say who holds a lock: whoever the kernel names, and what he wrote himself."""
    pid = _holding(os.fstat(descriptor).st_ino)
    try:
        told: Any = json.loads(os.pread(descriptor, _LONGEST, 0))
        if pid is None or int(told["pid"]) in _names_of(pid):
            return printable("pid {pid} of {user} since {since}: {purpose}".format(**told))
    except (ValueError, KeyError, OSError, TypeError, RecursionError):
        pass
    return "another lab" if pid is None else f"pid {pid} of {_user_of(pid)}"


def _holding(inode: int) -> int | None:
    """Return the process that holds a file, as the kernel tells; None if it does not.

    Source: proc_locks(5). A line that has an arrow is of one that waits.
    """
    try:
        lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    rows = [line.split() for line in lines]
    own = f":{inode}"
    found = [int(row[4]) for row in rows if row[1] == "FLOCK" and row[5].endswith(own)]
    return found[0] if len(found) == 1 and found[0] > 0 else None


def _names_of(pid: int) -> tuple[int, ...]:
    """Return the pids of a process, including its pid inside its container."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return (pid,)
    told = next((line for line in lines if line.startswith("NSpid:")), "NSpid:")
    return (pid, *map(int, told.split()[1:]))


def _user_of(pid: int) -> str:
    try:
        return pwd.getpwuid(Path(f"/proc/{pid}").stat().st_uid).pw_name
    except (OSError, KeyError):
        return "another user"


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


def hold_testbed(
    purpose: str, **manner: Unpack[LockWait]
) -> contextlib.AbstractContextManager[None]:
    """Hold the host's lock.

    Raises:
        InputError: If its file is none of ours, or cannot be made or opened.
        TestbedBusyError: If another holds it and waiting is not wanted.
        RunInterruptedError: If waiting was given up.
    """
    everybodys = not os.environ.get(LOCK_VARIABLE)
    lock = Lock(lock_file(), "this host is measuring", everybodys=everybodys)
    return hold(lock, purpose, **manner)


def hold_results(
    results: Path, purpose: str, **manner: Unpack[LockWait]
) -> contextlib.AbstractContextManager[None]:
    """Hold a folder with the runs of a case against labs that do not share a testbed's lock.

    Ask for it when the testbed is held, so that labs wait in one order. The folder is made.

    Raises:
        InputError: If it cannot be written.
        TestbedBusyError: If another holds it and waiting is not wanted.
        RunInterruptedError: If waiting was given up.
    """
    lock = Lock(results / RESULTS_LOCK, f"{shown(results)} is in use", with_folder=True)
    return hold(lock, purpose, **manner)


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
