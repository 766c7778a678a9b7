"""The folders of a run, as a resource gets them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchyard.core.errors import CommandFailedError
from benchyard.core.files import inside, special


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folders of one run, all absolute, and the labels for what a resource creates.

    Args:
        inputs: The case's ``data/shared``; never written to.
        shared: The run's own view of it: a link for each input, and every file that steps make.
        own: Scratch of this resource alone; removed after the run.
        kept: Where this resource's lasting files go; part of the run's results.
        labels: ``benchyard.case``, ``benchyard.run``, ``benchyard.owner``: put them on everything
            that could outlive the lab, so that the next run can clean up.
        ports: Ports of this host at which the case's steps expect a service.
        name: What the case calls the resource; the name of its class if empty.
    """

    inputs: Path
    shared: Path
    own: Path
    kept: Path
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    ports: frozenset[int] = frozenset()
    name: str = ""

    def file(self, name: str) -> Path:
        """Return where an input is to be read.

        Raises:
            CommandFailedError: If it leads out of the case or is not there.
        """
        target = self.shared / name
        resolved = target.resolve()
        allowed = (self.shared.resolve(), self.inputs.resolve())
        if not any(resolved.is_relative_to(base) for base in allowed):
            raise CommandFailedError(f"the file '{name}' lies outside of data/shared")
        if not target.exists():
            raise CommandFailedError(
                f"there is no file '{name}' in data/shared, and no earlier step made one"
            )
        if what := special(target):
            raise CommandFailedError(f"'{name}' is {what}; an input must be a file or a folder")
        return target

    def new_file(self, name: str) -> Path:
        """Return where an output is to be written; its folder is there.

        Raises:
            CommandFailedError: If it leads out of the run's folder.
        """
        if (self.shared / name).is_symlink() or (self.inputs / name).is_file():
            raise CommandFailedError(f"the output '{name}' would overwrite an input of that name")
        target = inside(self.shared, name)
        if target is None:
            raise CommandFailedError(f"the output '{name}' lies outside of data/shared")
        target.parent.mkdir(parents=True, exist_ok=True)
        return target
