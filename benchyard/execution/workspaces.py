"""The run's own view of a case's inputs, and what becomes of the files that steps make.

``data/shared`` is never written to. A run sees it through a folder of its own with the same
sub-folders and a link for each file; what steps make lies there beside the links, and goes to the
run's results afterwards if it was declared as an output, else away.
"""

import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchyard.files import files_below, sha256
from benchyard.model import Json, folder_of
from benchyard.subject.content import Stamp


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


def changed(before: Mapping[str, Stamp], after: Mapping[str, Stamp]) -> tuple[str, ...]:
    """Return the inputs that a run altered, removed or added, sorted."""
    names = before.keys() | after.keys()
    return tuple(sorted(name for name in names if before.get(name) != after.get(name)))


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


def keep(
    declared: Iterable[Declared], shared: Path, folder: Path, redact: Callable[[str], str] = str
) -> None:
    """Move declared outputs into ``<folder>/<resource>/``; links to inputs stay where they are.

    Args:
        redact: Takes secrets out of the names of files that programs made in a folder.
    """
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
            _rename_below(target, redact)


def _rename_below(folder: Path, redact: Callable[[str], str]) -> None:
    for parent, folders, files in os.walk(folder, topdown=False):
        for name in (*folders, *files):
            free = wanted = Path(parent, redact(name))
            number = 1
            while wanted.name != name and os.path.lexists(free):
                number += 1
                free = wanted.with_name(f"{wanted.name}-{number}")
            if wanted.name != name:
                Path(parent, name).rename(free)


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
