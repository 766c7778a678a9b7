"""The files of a run: the workspace of each resource, and what becomes of what steps make."""

import os
import re
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchyard.case.parameters import signature_of
from benchyard.case.resource import FileRole, Resource, Workspace, commands_of
from benchyard.core.files import files_below, sha256
from benchyard.core.model import Case, Json, Step, folder_of, texts
from benchyard.process.labels import this_owner
from benchyard.results.layout import remove_work, work_folder
from benchyard.run.views import View

_OUTPUTS = (FileRole.OUTPUT, FileRole.OUTPUT_FOLDER)


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
        declared: The outputs.
        shared: The folder that steps work in.
        folder: The run's.
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


def declared_files(
    step: Step, resource: type[Resource[Any]], roles: Collection[FileRole] = _OUTPUTS
) -> Sequence[str]:
    """Return the names of the files of some roles, outputs by default, that a step declares."""
    method = commands_of(resource)[step.command]
    named = signature_of(method).files(step.parameters)
    return [f.name for f in named if f.role in roles]


def workspace_of(
    resource: str, case: Case, folder: Path, shared: Path, run_label: str
) -> Workspace:
    """Make the places of a resource in a run.

    Args:
        resource: Its name.
        case: The case.
        folder: The run's.
        shared: The run's view of the inputs.
        run_label: On everything of this run that could outlive the lab.
    """
    own = work_folder(folder) / "own" / resource
    kept = kept_folder(folder, resource)
    own.mkdir(parents=True)
    kept.mkdir(parents=True, exist_ok=True)
    labels = {
        "benchyard.case": case.title,
        "benchyard.run": run_label,
        "benchyard.owner": this_owner(),
    }
    ports = local_ports(case.steps)
    return Workspace(case.shared, shared, own, kept, labels, ports, resource)


#: An address on this host with its port, within a longer text such as a URL.
_LOCAL = re.compile(r"(?<![\w.-])(?:localhost|127\.0\.0\.1|\[::1\]):(\d{1,5})(?!\d)")


def local_ports(steps: Iterable[Step]) -> frozenset[int]:
    """Return the ports at which steps expect something on this host.

    So a case that says ``http://localhost:8890/sparql`` gets its container's port 8890 there.
    """
    named = (text for step in steps for _, text in texts(dict(step.parameters)))
    found = (int(port) for text in named for port in _LOCAL.findall(text))
    return frozenset(port for port in found if 0 < port < 65536)


class Keeper:
    """Keeps the outputs of one run.

    Args:
        classes: Name of a resource to its class.
        case: The case.
        view: Of the inputs of the case; steps write in its folder.
        folder: The run's folder.
        redact: Takes secrets out of the names of what lasts.
    """

    def __init__(
        self,
        case: Case,
        classes: Mapping[str, type[Resource[Any]]],
        view: View,
        folder: Path,
        redact: Callable[[str], str],
    ) -> None:
        self._case = case
        self._classes = classes
        self._folder = folder
        self._view = view
        self._redact = redact
        # Name of an output to its maker: the step that declared it last.
        self._makers: dict[str, Declared] = {}

    def announce(self, step: Step) -> None:
        """Note that a step is about to make its outputs; earlier ones of their names are kept."""
        for name in declared_files(step, self._classes[step.resource]):
            earlier = self._makers.get(name)
            if earlier is not None:
                self._keep([earlier])
            self._makers[name] = Declared(name, step.resource, step.label)

    def keep(self) -> None:
        """Move what the steps made, remove what else they left; empty folders do not stay."""
        self._keep(self._makers.values())
        remove_work(self._folder)
        for resource in self._case.resources:
            kept = kept_folder(self._folder, resource)
            if kept.is_dir() and not any(kept.iterdir()):
                kept.rmdir()

    def _keep(self, declared: Iterable[Declared]) -> None:
        keep(declared, self._view.shared, self._folder, self._view.copies, self._redact)
