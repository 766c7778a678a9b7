"""The content of a case: its ``metadata.json`` and its inputs."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from benchyard.core.files import sha256

#: Size, modification and change time, and inode of a file: what writes to it moves one of them,
#: also where the modification time is set back; what gives it another name or mode does, too.
Stamp = tuple[int, int, int, int]


def stamps(inputs: Path) -> dict[str, Stamp]:
    """Return the stamp of each input by its name below ``inputs``."""
    if not inputs.is_dir():
        return {}
    return {str(f.relative_to(inputs)): stamp(f) for f in inputs_below(inputs)}


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


def stamp(file: Path) -> Stamp:
    """Return by what a change of a file is noticed.

    Raises:
        OSError: If it is not there.
    """
    status = file.stat()
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def content_hash(folder: Path) -> str:
    """Return a digest of a case: metadata.json and every input, names and contents."""
    shared = folder / "data" / "shared"
    metadata = folder / "metadata.json"
    inputs = digests(shared, stamps(shared))
    named = {"metadata.json": _digest(metadata, stamp(metadata))}
    named |= {f"data/shared/{name}": found for name, found in inputs.items()}
    digest = hashlib.sha256()
    for name, found in named.items():
        coded = os.fsencode(name)
        digest.update(len(coded).to_bytes(8, "big") + coded + bytes.fromhex(found))
    return f"sha256:{digest.hexdigest()}"


def digests(inputs: Path, seen: Mapping[str, Stamp]) -> Mapping[str, str]:
    """Return the digest of each input that was seen; each state of the files is read once."""
    return _digests(inputs, tuple(seen.items()))


@lru_cache(maxsize=64)
def _digests(inputs: Path, seen: tuple[tuple[str, Stamp], ...]) -> Mapping[str, str]:
    return {name: sha256(inputs / name) for name, _ in seen}


@lru_cache(maxsize=64)
def _digest(file: Path, _seen: Stamp) -> str:
    return sha256(file)
