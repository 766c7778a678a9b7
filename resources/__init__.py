"""The resource classes that come with Benchyard, and their finder."""

import sys
from collections.abc import Iterable
from pathlib import Path

from benchyard.case import registry


def find(extra: Iterable[Path] = ()) -> registry.Registry:
    """Return the shipped classes, those of entry points, and those in ``extra`` folders.

    Raises:
        InputError: If a folder is not there or two classes have one name.
    """
    return registry.find(sys.modules[__name__], extra)
