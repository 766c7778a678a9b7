"""Which files of a run last: what its steps declare as outputs, and nothing else."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from benchyard.case.resource import Resource
from benchyard.core.model import Case, Step
from benchyard.results.layout import remove_work
from benchyard.run.attempts import declared_outputs
from benchyard.run.views import View
from benchyard.run.workspaces import Declared, keep, kept_folder


class Keeper:
    """Keeps the outputs of one run.

    Args:
        classes: Name of a resource to its class.
        view: Of the inputs of the case.
        shared: The folder of the view, where steps write.
        folder: The run's folder.
        redact: Takes secrets out of the names of what lasts.
    """

    def __init__(
        self,
        case: Case,
        classes: Mapping[str, type[Resource[Any]]],
        view: View,
        shared: Path,
        folder: Path,
        redact: Callable[[str], str] = str,
    ) -> None:
        self._case = case
        self._classes = classes
        self._shared = shared
        self._folder = folder
        self._view = view
        self._redact = redact
        # Name of an output to its maker: the step that declared it last.
        self._makers: dict[str, Declared] = {}

    def announce(self, step: Step) -> None:
        """Note that a step is about to make its outputs; earlier ones of their names are kept."""
        for name in declared_outputs(step, self._classes[step.resource]):
            earlier = self._makers.get(name)
            if earlier is not None:
                self._keep([earlier])
            self._makers[name] = Declared(name, step.resource, step.label)

    def keep(self) -> None:
        """Move what the steps made, remove what else they left; empty folders do not stay."""
        self._keep(self._makers.values())
        remove_work(self._folder)
        for resource in {step.resource for step in self._case.steps}:
            kept = kept_folder(self._folder, resource)
            if kept.is_dir() and not any(kept.iterdir()):
                kept.rmdir()

    def _keep(self, declared: Iterable[Declared]) -> None:
        keep(declared, self._shared, self._folder, self._view.copies, self._redact)
