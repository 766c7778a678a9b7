"""Containers that do one thing and end: a fresh one for each command."""

from collections.abc import Sequence
from dataclasses import replace

from benchyard.case.resource import CommandResult
from benchyard.core.errors import CommandFailedError
from resources._containers.base import ContainerResource, ContainerSettingsT
from resources._containers.specification import Mount


class ProgramContainer(ContainerResource[ContainerSettingsT]):
    """A resource whose every command is a container of its own, run to its end."""

    def _call(
        self,
        arguments: Sequence[str],
        output_file: str | None = None,
        mounts: Sequence[Mount] = (),
    ) -> CommandResult:
        """Run a container with these arguments.

        Args:
            output_file: What it must have made in the run's shared folder.
            mounts: What it sees beside what all of this resource's containers see.

        Raises:
            CommandFailedError: If it fails, or the file is not there.
        """
        output = self.workspace.new_file(output_file) if output_file else None
        if output is not None:
            # What an earlier repetition made must not pass for the answer of this one.
            output.unlink(missing_ok=True)
        spec = self._specification()
        seen = (*spec.mounts, *mounts)
        result = self._run(replace(spec, command=tuple(arguments), mounts=seen))
        if output is not None and not output.exists():
            raise CommandFailedError(
                f"'{self._image_name}' ended well and did not write its output_file '{output_file}'"
            )
        return CommandResult(result.values, output or result.output)
