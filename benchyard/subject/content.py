"""The content of a case: its ``metadata.json`` and its inputs."""

import hashlib
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from benchyard.files import sha256

#: Size, modification time and inode of a file: enough to notice that a run wrote to it.
Stamp = tuple[int, int, int]


def stamps(inputs: Path) -> dict[str, Stamp]:
    """Return the stamp of each input by its name below ``inputs``."""
    if not inputs.is_dir():
        return {}
    return {str(f.relative_to(inputs)): _stamp(f) for f in inputs_below(inputs)}


def inputs_below(inputs: Path) -> Iterator[Path]:
    """Yield every input in sorted order, none if there is no folder.

    Links are followed, those to folders once and only to places outside: a run sees them too.
    """
    inside, seen = os.path.realpath(inputs), set[str]()
    for parent, folders, files in os.walk(inputs, followlinks=True):
        yield from (Path(parent, name) for name in sorted(files) if Path(parent, name).is_file())
        folders[:] = [name for name in sorted(folders) if _leads_on(parent, name, inside, seen)]


def _leads_on(parent: str, name: str, inside: str, seen: set[str]) -> bool:
    path = Path(parent, name)
    if not path.is_symlink():
        return True
    target = os.path.realpath(path)
    new = target not in seen and not f"{target}/".startswith(f"{inside}/")
    seen.add(target)
    return new


def _stamp(file: Path) -> Stamp:
    status = file.stat()
    return status.st_size, status.st_mtime_ns, status.st_ino


def content_hash(folder: Path) -> str:
    """Return a digest of a case: metadata.json and every input, names and contents."""
    shared = folder / "data" / "shared"
    seen = (_stamp(folder / "metadata.json"), tuple(stamps(shared).items()))
    return _content_hash(folder, seen)


@lru_cache(maxsize=64)
def _content_hash(folder: Path, _seen: object) -> str:
    """Read everything, once for each state of the files."""
    digest = hashlib.sha256()
    shared = folder / "data" / "shared"
    files = [folder / "metadata.json", *inputs_below(shared)]
    for file in files:
        name = os.fsencode(file.relative_to(folder))
        digest.update(len(name).to_bytes(8, "big") + name + bytes.fromhex(sha256(file)))
    return f"sha256:{digest.hexdigest()}"
