"""The classes of the cases' own, and where their modules lie in a pack."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchyard.case.registry import Registry
from benchyard.case.resource import Resource
from benchyard.case.subject.contents import INSTALLED, OWN_PACKAGES, Code
from benchyard.core.model import Case
from benchyard.publish.packs.manifest import CLASSES


def own_classes(case: Case, registry: Registry) -> dict[str, type[Resource[Any]]]:
    """Return the resources of a case whose classes do not come with Benchyard."""
    names = dict.fromkeys(step.resource for step in case.steps)
    found = {name: registry.classes.get(case.class_of(name)) for name in names}
    return {name: kind for name, kind in found.items() if kind and not _is_shipped(kind)}


def _is_shipped(kind: type[Resource[Any]]) -> bool:
    return kind.__module__.partition(".")[0] in OWN_PACKAGES


class Homes:
    """The folders that ``--resources`` named, and their names in a pack.

    A folder keeps its own name: the digest of a class is made of it too.
    """

    def __init__(self, registry: Registry, folders: Sequence[Path]) -> None:
        resolved = dict.fromkeys(folder.resolve() for folder in folders)
        self._names = {one: f"{CLASSES}/{n}/{one.name}" for n, one in enumerate(resolved, 1)}
        shipped = (name for name, kind in registry.classes.items() if _is_shipped(kind))
        self._shipped = {Path(registry.origins[name]).resolve().parent for name in shipped}

    def to_pack(self, code: Code) -> Iterator[Path]:
        """Yield the modules of a class, without installed ones and those of Benchyard."""
        for file in code.files:
            if not INSTALLED & set(file.parts) and not self._shipped & set(file.parents):
                yield file

    def of(self, file: Path) -> tuple[Path, str] | None:
        """Return the folder that a module lies in, and its name in the pack; None if in none."""
        return next(((f, name) for f, name in self._names.items() if f in file.parents), None)
