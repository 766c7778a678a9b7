"""Where the lab keeps what belongs to no case: spool, archive, local store, control case."""

import os
from pathlib import Path

from benchyard.core.errors import InputError
from benchyard.core.files import is_address

#: Names another folder for all of it.
HOME = "BENCHYARD_HOME"


def home() -> Path:
    """Return the lab's own folder on this host; it may not be there yet.

    ``BENCHYARD_HOME``, else ``benchyard`` in the user's data folder.

    Raises:
        InputError: If ``BENCHYARD_HOME`` is an address.

    Source: XDG Base Directory Specification 0.8: an empty or relative value does not count.
    """
    own = os.environ.get(HOME)
    if is_address(own or ""):
        raise InputError(f"{HOME} is {own}, an address; name a folder of this host")
    if own:
        return Path(own).absolute()
    data = os.environ.get("XDG_DATA_HOME", "")
    base = Path(data) if data.startswith("/") else Path.home() / ".local" / "share"
    return base / "benchyard"


def spool_of(sink: str) -> Path:
    """Return the folder in which documents wait for a sink."""
    return home() / "spool" / sink


def archive_of(sink: str) -> Path:
    """Return the folder that documents go to after a sink has confirmed them."""
    return home() / "archive" / sink


def control() -> Path:
    """Return the folder of the control case, with the results of each host that has this home."""
    return home() / "control"
