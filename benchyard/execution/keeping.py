"""Which files of a run last: what its steps declare as outputs, and nothing else."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchyard.execution.attempts import declared_outputs
from benchyard.execution.layout import remove_work
from benchyard.execution.workspaces import Declared, changed, keep, kept_folder
from benchyard.model import Case, Step
from benchyard.resource import Resource
from benchyard.subject.content import Stamp, stamps


class Keeper:
    """Keeps the outputs of one run, and an eye on its inputs.

    Args:
        classes: Name of a resource to its class.
        shared: The run's own view of the inputs, where steps write.
        folder: The run's folder.
        redact: Takes secrets out of the names of what lasts.
    """

    def __init__(
        self,
        case: Case,
        classes: Mapping[str, type[Resource[Any]]],
        shared: Path,
        folder: Path,
        redact: Callable[[str], str] = str,
    ) -> None:
        self._case = case
        self._classes = classes
        self._shared = shared
        self._folder = folder
        self._redact = redact
        self._before: dict[str, Stamp] = stamps(case.shared)
        # Name of an output to its maker: the step that declared it last.
        self._makers: dict[str, Declared] = {}

    def announce(self, step: Step) -> None:
        """Note that a step is about to make its outputs; earlier ones of their names are kept."""
        for name in declared_outputs(step, self._classes[step.resource]):
            earlier = self._makers.get(name)
            if earlier is not None:
                keep([earlier], self._shared, self._folder, self._redact)
            self._makers[name] = Declared(name, step.resource, step.label)

    def keep(self) -> None:
        """Move what the steps made, remove what else they left; empty folders do not stay."""
        keep(self._makers.values(), self._shared, self._folder, self._redact)
        remove_work(self._folder)
        for resource in {step.resource for step in self._case.steps}:
            kept = kept_folder(self._folder, resource)
            if kept.is_dir() and not any(kept.iterdir()):
                kept.rmdir()

    def changed_inputs(self) -> tuple[str, ...]:
        """Return the inputs that the run altered, removed or added."""
        return changed(self._before, stamps(self._case.shared))
