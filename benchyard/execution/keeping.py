"""Which files of a run last: what its steps declare as outputs, and nothing else."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchyard.execution.attempts import declared_outputs
from benchyard.execution.workspaces import Declared, Stamp, changed, keep, kept_folder, stamps
from benchyard.model import Case, Step
from benchyard.resource import Resource


class Keeper:
    """Keeps the outputs of one run, and an eye on its inputs.

    Args:
        classes: Class name to class.
        shared: The run's own view of the inputs, where steps write.
        folder: The run's folder.
    """

    def __init__(
        self, case: Case, classes: Mapping[str, type[Resource[Any]]], shared: Path, folder: Path
    ) -> None:
        self._case = case
        self._classes = classes
        self._shared = shared
        self._folder = folder
        self._before: dict[str, Stamp] = stamps(case.shared)

    def keep(self, tried: Sequence[Step]) -> None:
        """Move what the tried steps made; empty folders do not stay."""
        keep(self._declared(tried), self._shared, self._folder)
        for resource in {step.resource for step in self._case.steps}:
            kept = kept_folder(self._folder, resource)
            if kept.is_dir() and not any(kept.iterdir()):
                kept.rmdir()

    def make_way(self, step: Step, tried: Iterable[Step]) -> None:
        """Put earlier outputs away that this step makes again under the same name."""
        own = set(declared_outputs(step, self._classes[step.resource]))
        if own:
            namesakes = (d for d in self._declared(tried) if d.name in own)
            keep(namesakes, self._shared, self._folder)

    def changed_inputs(self) -> tuple[str, ...]:
        """Return the inputs that the run altered, removed or added."""
        return changed(self._before, stamps(self._case.shared))

    def _declared(self, steps: Iterable[Step]) -> list[Declared]:
        return [
            Declared(name, step.resource, step.label)
            for step in steps
            for name in declared_outputs(step, self._classes[step.resource])
        ]
