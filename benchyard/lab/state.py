"""The lab's folder on this host: its logs, its password, and the claim that only one is up.

Standard library only: every ``benchyard run`` asks whether a lab is up here.

After it, the processes of a lab on this host: its flow runs, its parts, and the pipe that binds
these. The lab holds the writing end and never writes; each part has the reading end as its input.
So one mechanism serves an orderly stop and a lab that was killed: no part ever outlives its lab for
longer than the flow runs under way.
"""

import json
import os
import secrets
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from benchyard.core import places
from benchyard.core.errors import InputError
from benchyard.core.files import write_atomically
from benchyard.core.locks import try_lock
from benchyard.core.model import JsonObject
from benchyard.process.labels import labelled, owner_is_alive, start_time, this_owner
from tasks.names import FLOW_NAME, FLOW_RUN, LAB, PART, SERVER_PART, SHOWN_PASSWORD

#: A log that has grown beyond is put aside when its part starts next.
_LOG_BYTES = 10 * 1024 * 1024


def folder() -> Path:
    """Return the lab's folder, and make it: only its user may look into it."""
    made = places.home() / "lab"
    made.mkdir(parents=True, exist_ok=True, mode=0o700)
    if made.stat().st_mode & 0o077:
        made.chmod(0o700)
    return made


def database() -> Path:
    """Return the file of the server's database, where no other one is configured."""
    return folder() / "prefect.db"


def log_of(part: str) -> Path:
    """Return the log of a part, ready to be added to."""
    logs = folder() / "logs"
    logs.mkdir(exist_ok=True)
    log = logs / f"{part.replace(' ', '-').replace('/', '-')}.log"
    with suppress(FileNotFoundError):
        if log.stat().st_size > _LOG_BYTES:
            log.replace(log.with_suffix(".log.1"))
    return log


@contextmanager
def claim(name: str, refusal: str) -> Generator[Callable[..., None]]:
    """Hold the claim ``name``; the kernel frees it with its holder.

    Args:
        refusal: The sentence for those who come second; it is formatted with what the holder told.

    Yields:
        A function that lets others read facts, given by name, beside who holds the claim.

    Raises:
        InputError: If another process holds it.
    """
    path = folder() / f"{name.replace('/', '-')}.lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def tell(**facts: str) -> None:
        text = json.dumps({"owner": this_owner(), "pid": os.getpid(), **facts})
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, text.encode(), 0)

    try:
        if not try_lock(descriptor):
            told = {"pid": "?", "url": "still starting", **_read(path)}
            raise InputError(refusal.format_map(told))
        tell()
        yield tell
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def running_lab() -> str | None:
    """Return the URL of the API of the lab that is up on this host; None if there is none."""
    told = _read(places.home() / "lab" / "up.lock")
    url, owner = told.get("api"), told.get("owner")
    if not (isinstance(url, str) and isinstance(owner, str)):
        return None
    return url if owner_is_alive(owner) else None


def show_password(url: str) -> None:
    """Let Prefect's clients of this process show the password of the lab that is up on this host.

    Args:
        url: Of the API that they speak to; nothing is shown to another one.
    """
    told = _read(places.home() / "lab" / "up.lock").get("password")
    if told and isinstance(told, str) and url == running_lab():
        os.environ.setdefault(SHOWN_PASSWORD, told)


def password_file() -> Path:
    """Return the file that keeps the password of this user's labs."""
    return folder() / "password"


def password(configured: str | None) -> str:
    """Return the password of the lab that comes up, and keep it: browsers do, too.

    Args:
        configured: By the user; None for the one of last time, or else a new one.
    """
    file = password_file()
    wanted = configured
    with suppress(FileNotFoundError):
        wanted = wanted or file.read_text(encoding="utf-8").strip()
    wanted = wanted or f"benchyard:{secrets.token_urlsafe(24)}"
    write_atomically(file, f"{wanted}\n")
    file.chmod(0o600)
    return wanted


def _read(path: Path) -> JsonObject:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return cast("JsonObject", found) if isinstance(found, dict) else {}


#: Between two looks at who is still there: each reads the environment of every process.
LOOK_SECONDS = 2.0
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class FlowProcess:
    """A flow run under way on this host.

    Args:
        id: Of the flow run.
        pid: Its process, which leads a group of its own.
        flow: Name of the flow, as far as it is known.
    """

    id: str
    pid: int
    flow: str = ""

    def seconds(self) -> float:
        """Return for how long it has been going."""
        started = start_time(self.pid)
        return (
            0.0 if started is None else time.clock_gettime(time.CLOCK_BOOTTIME) - started / _TICKS
        )

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the group of its process."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def flow_runs_labelled(label: str, value: str) -> list[FlowProcess]:
    """Return the flow runs that have begun and not ended, of processes with a label.

    Each is its oldest process: the others are its children and their guard.

    Args:
        label: ``LAB`` for those that the workers of one lab have begun, ``TESTBED`` for those of a
            testbed, whichever lab began them.
    """
    ours = {pid for pid, found in labelled(label) if found == value}
    oldest: dict[str, tuple[int, int]] = {}
    for pid, flow_run in labelled(FLOW_RUN):
        if pid in ours and (born := start_time(pid)):
            oldest[flow_run] = min(oldest.get(flow_run, (born, pid)), (born, pid))
    names = dict(labelled(FLOW_NAME)) if oldest else {}
    return [FlowProcess(one, pid, names.get(pid, "")) for one, (_, pid) in oldest.items()]


def flow_runs_here() -> set[str]:
    """Return the ids of all flow runs that any process here belongs to."""
    return {flow_run for _, flow_run in labelled(FLOW_RUN)}


# -- parts


def when_cut(action: Callable[[], object]) -> None:
    """Call ``action`` in a thread of its own when the pipe ends."""
    threading.Thread(target=_listen, args=(action,), name="lifeline", daemon=True).start()


def _listen(action: Callable[[], object]) -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    action()


def wait_for_others(owner: str) -> None:
    """Return once the server is the only part of a lab that is left.

    Workers, flow runs and their children need it.
    """
    while True:
        servers = {pid for pid, part in labelled(PART) if part == SERVER_PART}
        if all(pid in servers for pid, lab in labelled(LAB) if lab == owner):
            return
        time.sleep(LOOK_SECONDS)
