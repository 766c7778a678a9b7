"""The answers of steps that later steps of the same run must equal."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from benchyard.core.errors import CheckFailedError
from benchyard.core.model import Step


class KeptAnswers:
    """Keeps answers while the run goes on: a step of the same output's name moves them away.

    Args:
        steps: All steps of the case.
        work: Where the run works.
        lasting: Folder for the answers of all steps with a check, which then outlast the run.
    """

    def __init__(self, steps: Iterable[Step], work: Path, lasting: Path | None = None) -> None:
        checked = [step for step in steps if step.check]
        self._wanted = {step.check.equal_to for step in checked if step.check}
        if lasting is not None:
            self._wanted |= {step.id for step in checked}
        self._folder = lasting or work / "answers"
        self._kept: dict[str, Path] = {}

    def wants(self, step: Step) -> bool:
        """Tell whether the answer of a step is kept."""
        return step.id in self._wanted

    def keep(self, step: Step, output: Path) -> None:
        """Keep the answer of a step, in place of an earlier one; nothing if it made none."""
        # The suffix stays: tables are compared otherwise than texts.
        kept = answer_folder(self._folder, step) / f"answer{output.suffix}"
        kept.unlink(missing_ok=True)
        self._kept.pop(step.id, None)
        if output.is_file():
            kept.parent.mkdir(parents=True, exist_ok=True)
            _link_or_copy(output, kept)
            self._kept[step.id] = kept

    def of(self, step_id: str) -> Path:
        """Return the file with the answer of a step.

        Raises:
            CheckFailedError: If it gave none.
        """
        if step_id not in self._kept:
            raise CheckFailedError(f"the step '{step_id}' gave no answer to compare with")
        return self._kept[step_id]


def answer_folder(folder: Path, step: Step) -> Path:
    """Return the folder, among those of all steps, that holds the answer of one."""
    return folder / str(step.index)


def _link_or_copy(output: Path, kept: Path) -> None:
    """Link the file, which takes no time; copy what is not ours to link."""
    try:
        os.link(output.resolve(strict=True), kept)
    except OSError:
        shutil.copyfile(output, kept)
