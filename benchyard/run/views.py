"""The run's own view of a case's inputs, and whether a run left them as they were.

``data/shared`` is never written to. A run sees it through a folder of its own with the same
sub-folders: small inputs as copies that cannot be written to, and a link for each other one. What
is written through a link changes the user's own file, so every input is looked at afterwards.
"""

import fcntl
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from benchyard.case.subject.contents import Stamp, digests, stamp, stamps
from benchyard.core.files import sha256, sync_file

#: Inputs are copied, small ones first, as long as all of them have no more bytes, and are no more.
COPIED_BYTES, COPIED_FILES = 64 << 20, 1_000
#: ioctl(2) FICLONE: let a file share another one's blocks. Source: linux/fs.h.
_FICLONE = 0x40049409


class View:
    """A run's view of the inputs of its case.

    Args:
        inputs: The case's ``data/shared``.
        shared: The folder that steps work in; made here.

    Attributes:
        copies: Names of the inputs that the run has a copy of, with the copies' stamps.
    """

    def __init__(self, inputs: Path, shared: Path) -> None:
        self._inputs = inputs
        self.shared = shared
        self._before = stamps(inputs)
        self.copies = mirror(inputs, shared)
        # Of what the run's subject was made: nothing is read again.
        self._digests = digests(inputs, self._before)

    def changed(self) -> tuple[str, ...]:
        """Return the inputs that the run altered, removed or added, sorted."""
        after = stamps(self._inputs)
        touched = (name for name, now in after.items() if self._before.get(name) != now)
        altered = [name for name in touched if self._differs(self._inputs / name, name)]
        return tuple(sorted({*altered, *(self._before.keys() - after.keys())}))

    def changed_copies(self) -> tuple[str, ...]:
        """Return the inputs whose copy was written to, sorted.

        One that the run replaced by a file of its own is none: that is the run's business.
        """
        return tuple(
            sorted(name for name, before in self.copies.items() if self._hit(name, before))
        )

    def _hit(self, name: str, before: Stamp) -> bool:
        try:
            now = stamp(self.shared / name)
        except OSError:
            return False
        written = now[-1] == before[-1] and now != before
        return written and self._differs(self.shared / name, name)

    def _differs(self, file: Path, name: str) -> bool:
        """Tell whether a file that was touched has another content than the input had."""
        known = self._digests.get(name)
        try:
            return known is None or sha256(file) != known
        except OSError:
            return True


def mirror(inputs: Path, shared: Path) -> dict[str, Stamp]:
    """Make ``shared`` look like ``inputs``: real folders, copies of small files, links to others.

    Returns:
        The names of the copies, and their stamps.
    """
    shared.mkdir(parents=True, exist_ok=True)
    if not inputs.is_dir():
        return {}
    found = dict(_laid_out(inputs, shared))
    copied = [name for name in _small(found) if _copied(found[name], shared / name)]
    for name in found.keys() - set(copied):
        (shared / name).symlink_to(found[name])
    # On disk before anything is measured: what is written meanwhile would be the step's.
    for name in copied:
        sync_file(shared / name)
    return {name: stamp(shared / name) for name in copied}


def _laid_out(inputs: Path, shared: Path) -> Iterator[tuple[str, Path]]:
    """Make the folders, and yield each file by its name, with where it lies.

    A link to a folder becomes a folder: what is made in it must not land where it leads to. One to
    a folder that is in the view already leads there.
    """
    base = Path(os.path.realpath(inputs))
    views: dict[Path, Path] = {}
    for parent, folders, files in os.walk(inputs, followlinks=True):
        below = Path(parent).relative_to(inputs)
        for name in sorted(folders):
            place, real = below / name, Path(os.path.realpath(Path(parent, name)))
            known = _known(real, base, views) if real != base / place else None
            if known is None:
                views[real] = place
                (shared / place).mkdir(exist_ok=True)
            else:
                # Not absolute: containers see the view elsewhere.
                (shared / place).symlink_to(os.path.relpath(known, place.parent))
                folders.remove(name)
        yield from ((str(below / name), Path(parent, name)) for name in files)


def _known(real: Path, base: Path, views: Mapping[Path, Path]) -> Path | None:
    """Return where in the view a folder is, or will be."""
    return real.relative_to(base) if real.is_relative_to(base) else views.get(real)


def _small(found: Mapping[str, Path]) -> Iterator[str]:
    """Yield the names of the files that are copied."""
    sizes: dict[str, int] = {}
    for name, file in found.items():
        with suppress(OSError):  # a link may lead nowhere
            status = file.stat()
            if stat.S_ISREG(status.st_mode):
                sizes[name] = status.st_size
    total = 0
    for name in sorted(sizes, key=lambda name: (sizes[name], name))[:COPIED_FILES]:
        total += sizes[name]
        if total > COPIED_BYTES:
            return
        yield name


def _copied(source: Path, target: Path) -> bool:
    """Make a copy that cannot be written to, with the times of what it is a copy of."""
    try:
        with source.open("rb") as old, target.open("xb") as new:
            try:
                fcntl.ioctl(new, _FICLONE, old.fileno())
            except OSError:
                shutil.copyfileobj(old, new, 1 << 20)
            new.flush()
            status = os.fstat(old.fileno())
            os.fchmod(new.fileno(), status.st_mode & 0o555)
            os.utime(new.fileno(), ns=(status.st_atime_ns, status.st_mtime_ns))
    except PermissionError:
        target.unlink(missing_ok=True)
        return False  # nobody reads it here: a program that does will be told so
    return True
