"""Which index belongs to which folders, and what to do where it cannot be used."""

import hashlib
import logging
import os
import sqlite3
import weakref
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from benchyard import __version__
from benchyard.catalogue.formats import FORMATS
from benchyard.catalogue.index import Index
from benchyard.core.places import home
from benchyard.process.temporary import temporary_folder

logger = logging.getLogger(__name__)

#: What finds entries: an index is of no use to others.
_READERS = " ".join((__version__, *(one.name for one in FORMATS)))


def without_nested(roots: Sequence[Path]) -> list[Path]:
    """Return folders, sorted, without those that lie in another one."""
    resolved = sorted({root.resolve() for root in roots})
    return [one for one in resolved if not any(other in one.parents for other in resolved)]


def index_of(roots: Sequence[Path]) -> Path:
    """Return the file that remembers what is below folders."""
    digest = hashlib.sha256(b"\0".join(os.fsencode(root) for root in roots)).hexdigest()[:16]
    return home() / "catalogue" / f"{digest}.sqlite"


def opened(path: Path) -> Index:
    """Open an index; one in a temporary folder, and tell so, where that cannot be used."""
    try:
        return Index(path, _READERS)
    except (OSError, sqlite3.OperationalError) as error:
        stack = ExitStack()
        elsewhere = stack.enter_context(temporary_folder()) / path.name
        logger.warning("the index %s cannot be used (%s): %s instead", path, str(error), elsewhere)
        made = Index(elsewhere, _READERS)
        weakref.finalize(made, stack.close)
        return made
