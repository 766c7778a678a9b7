"""From the files whose names an engine chose to the one that the step named."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import IO

#: Bytes that are copied at a time.
_CHUNK = 1 << 20


def join(parts: Sequence[Path], target: Path) -> None:
    """Make one file of several, in their order, and remove them; lines stay whole.

    One part alone is only renamed.

    Raises:
        OSError: If the disk is full or not writable.
    """
    if len(parts) == 1:
        parts[0].replace(target)
        return
    with target.open("wb") as whole:
        for part in parts:
            with part.open("rb") as stream:
                shutil.copyfileobj(stream, whole, _CHUNK)
                if _ends_within_a_line(stream):
                    whole.write(b"\n")
            part.unlink()


def _ends_within_a_line(stream: IO[bytes]) -> bool:
    if not stream.tell():
        return False
    stream.seek(-1, os.SEEK_END)
    return stream.read(1) != b"\n"
