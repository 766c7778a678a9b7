"""The lab's folder on this host: its logs, its password, and the claim that only one is up.

Standard library only: every ``benchyard run`` asks whether a lab is up here.
"""

import json
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import cast

from benchyard.core import places
from benchyard.core.errors import InputError
from benchyard.core.files import write_atomically
from benchyard.core.locks import try_lock
from benchyard.core.model import JsonObject
from benchyard.process.labels import owner_is_alive, this_owner
from tasks.names import SHOWN_PASSWORD

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


class LabClaim:
    """The right to be the only one of a name; told to others who want it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def tell(self, **facts: str) -> None:
        """Let others read who holds it and what for."""
        text = json.dumps({"owner": this_owner(), "pid": os.getpid(), **facts})
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, text.encode(), 0)


@contextmanager
def claim(name: str, refusal: str) -> Generator[LabClaim]:
    """Hold the claim ``name``; the kernel frees it with its holder.

    Args:
        refusal: The sentence for those who come second; it is formatted with what the holder told.

    Raises:
        InputError: If another process holds it.
    """
    path = folder() / f"{name.replace('/', '-')}.lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not try_lock(descriptor):
            told = {"pid": "?", "url": "still starting", **_read(path)}
            raise InputError(refusal.format_map(told))
        held = LabClaim(descriptor)
        held.tell()
        yield held
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
