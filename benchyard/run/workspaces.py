"""What becomes of the files that steps make: declared outputs go to the results, the rest away."""

import os
import shutil
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from benchyard.core.files import files_below, sha256
from benchyard.core.model import Json, folder_of


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
    declared: Iterable[Declared],
    shared: Path,
    folder: Path,
    inputs: Collection[str] = (),
    redact: Callable[[str], str] = str,
) -> None:
    """Move declared outputs into ``<folder>/<resource>/``; inputs stay where they are.

    Args:
        inputs: Names of the copies of inputs in ``shared``.
        redact: Takes secrets out of the names of files that programs made in a folder.
    """
    for output in declared:
        source = shared / output.name
        if os.path.normpath(output.name) in inputs:
            continue
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
