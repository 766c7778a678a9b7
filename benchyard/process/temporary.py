"""Temporary folders that do not outlive their process for long: the next one removes them."""

import os
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from benchyard.core.files import remove_tree
from benchyard.process.labels import owner_is_alive, this_owner

_START = ".benchyard-temporary_"


@contextmanager
def temporary_folder(beside: Path | None = None) -> Generator[Path]:
    """Make a folder that is removed after the block, unless it was renamed.

    Its name tells the owner, as labels of processes do. Folders of killed processes are removed
    first, here and in the system's folder for temporary files.

    Args:
        beside: The folder that it is made in; the system's for temporary files if left out.

    Raises:
        OSError: If it cannot be made.
    """
    system = Path(tempfile.gettempdir())
    for folder in (*_abandoned(system), *_abandoned(beside or system)):
        with suppress(OSError):
            remove_tree(folder)
    owner = this_owner().replace(":", "_")
    folder = Path(tempfile.mkdtemp(prefix=f"{_START}{owner}_", dir=beside or system))
    try:
        yield folder
    finally:
        remove_tree(folder)


def _abandoned(place: Path) -> Iterator[Path]:
    """Yield this user's temporary folders whose process has ended."""
    for folder in place.glob(f"{_START}*"):
        owner = ":".join(folder.name.removeprefix(_START).split("_")[:3])
        with suppress(OSError):
            if folder.lstat().st_uid == os.geteuid() and not owner_is_alive(owner):
                yield folder
