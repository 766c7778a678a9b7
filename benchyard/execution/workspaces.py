"""The run's own view of a case's inputs, and what becomes of the files that steps make.

``data/shared`` is never written to. A run sees it through a folder of its own with the same
sub-folders and a link for each file; what steps make lies there beside the links, and goes to the
run's results afterwards if it was declared as an output, else away.
"""

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from benchyard.files import files_below, sha256
from benchyard.model import Json, folder_of

#: Size, modification time and inode of a file: enough to notice that a run wrote to it.
Stamp = tuple[int, int, int]


def mirror(inputs: Path, shared: Path) -> None:
    """Make ``shared`` look like ``inputs``: real folders, links to the files."""
    shared.mkdir(parents=True, exist_ok=True)
    if not inputs.is_dir():
        return
    for parent, folders, files in os.walk(inputs):
        here = shared / Path(parent).relative_to(inputs)
        for name in folders:
            source = Path(parent, name)
            if source.is_symlink():
                (here / name).symlink_to(source)
            else:
                (here / name).mkdir(exist_ok=True)
        for name in files:
            (here / name).symlink_to(Path(parent, name))


def stamps(inputs: Path) -> dict[str, Stamp]:
    """Return the stamp of each input by its name below ``inputs``."""
    if not inputs.is_dir():
        return {}
    return {str(f.relative_to(inputs)): _stamp(f) for f in inputs_below(inputs)}


def inputs_below(inputs: Path) -> Iterator[Path]:
    """Yield every input in sorted order, links to files included; none if there is no folder."""
    for parent, folders, files in os.walk(inputs):
        folders.sort()
        yield from (Path(parent, name) for name in sorted(files) if Path(parent, name).is_file())


def _stamp(file: Path) -> Stamp:
    status = file.stat()
    return status.st_size, status.st_mtime_ns, status.st_ino


def changed(before: Mapping[str, Stamp], after: Mapping[str, Stamp]) -> tuple[str, ...]:
    """Return the inputs that a run altered, removed or added, sorted."""
    names = before.keys() | after.keys()
    return tuple(sorted(name for name in names if before.get(name) != after.get(name)))


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


@dataclass(frozen=True, slots=True)
class Declared:
    """An output that a step declares.

    Args:
        name: As the step names it, below the run's shared folder.
        resource: Name of the resource that makes it.
        step: Label of the step, for telling two outputs of one name apart.
    """

    name: str
    resource: str
    step: str


def keep(declared: Iterable[Declared], shared: Path, folder: Path) -> None:
    """Move declared outputs into ``<folder>/<resource>/``; links to inputs stay where they are."""
    for output in declared:
        source = shared / output.name
        if not source.exists() or not source.resolve().is_relative_to(shared.resolve()):
            continue  # not made, or a link to an input
        target = kept_folder(folder, output.resource) / output.name
        if target.exists():
            target = kept_folder(folder, output.resource) / output.step / output.name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink() and source.is_file():
            shutil.copyfile(source, target)
        else:
            shutil.move(source, target)


def kept_folder(folder: Path, resource: str) -> Path:
    """Return where a resource's outputs are kept."""
    return folder / folder_of(resource)


def account(folder: Path, resources: Iterable[str]) -> tuple[dict[str, Json], ...]:
    """Return path, size (bytes) and digest of each kept file of the given resources."""
    folders = sorted({kept_folder(folder, resource) for resource in resources})
    files = (file for kept in folders if kept.is_dir() for file in files_below(kept))
    return tuple(
        {
            "path": str(file.relative_to(folder)),
            "bytes": file.stat().st_size,
            "sha256": sha256(file),
        }
        for file in files
    )
