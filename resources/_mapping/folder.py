"""Engines in containers, and what they see beside the run's shared folder."""

import os
import shutil
import uuid
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

from benchyard.case.resource import CommandResult
from benchyard.core.errors import CommandFailedError
from benchyard.core.files import files_below
from resources._containers.base import SHARED, ContainerResource, ContainerSettingsT
from resources._containers.kinds import ProgramContainer
from resources._containers.settings import ContainerSettings
from resources._containers.specification import Mount
from resources._mapping.configuration import load, write_private

#: Bytes that are copied at a time.
_CHUNK = 1 << 20


def join(parts: Sequence[Path], target: Path) -> None:
    """Make one file of several, in their order, and remove them; lines stay whole.

    One part alone is only renamed.

    Raises:
        OSError: If the disk is full or not writable.
    """
    if len(parts) == 1:
        parts[0].replace(target)
        return
    with target.open("wb") as whole:
        for part in parts:
            with part.open("rb") as stream:
                shutil.copyfileobj(stream, whole, _CHUNK)
                if _ends_within_a_line(stream):
                    whole.write(b"\n")
            part.unlink()


def _ends_within_a_line(stream: IO[bytes]) -> bool:
    if not stream.tell():
        return False
    stream.seek(-1, os.SEEK_END)
    return stream.read(1) != b"\n"


#: Where a container sees what it may only read; KROWN's engines look there.
DATA = "/data"
#: Where those engines write that want a folder, or choose the names of their files.
OUTPUT = f"{DATA}/output"


def shared(name: str) -> str:
    """Return where a container sees a file of the run's shared folder."""
    return f"{SHARED}/{name}"


class WithFolder(ContainerResource[ContainerSettingsT]):
    """A resource whose containers see files at ``/data``, such as ones with passwords.

    They lie in the resource's scratch folder: in the shared one they would be results.
    """

    def initialize(self) -> None:
        """Fetch the image, and load what converts mappings."""
        super().initialize()
        load()

    def _prepare(self) -> None:
        # Below a folder that is mounted read-only, the engine cannot make these.
        for inner in (SHARED, OUTPUT):
            (self.workspace.own / Path(inner).relative_to(DATA)).mkdir(parents=True, exist_ok=True)
        super()._prepare()

    def _mounts(self) -> list[Mount]:
        return [Mount(self.workspace.own, DATA, read_only=True), *super()._mounts()]

    def _hand_over(self, name: str, text: str) -> str:
        """Write a file for the containers; return where they see it."""
        write_private(self.workspace.own / name, text)
        return f"{DATA}/{name}"


class ConfiguredEngine(WithFolder[ContainerSettings], ProgramContainer[ContainerSettings]):
    """An engine that runs once for each command and reads its configuration from a file."""

    def _map_into_folder(
        self, arguments: Sequence[str], output_file: str, *, least: int = 1
    ) -> CommandResult:
        """Run an engine that writes files to ``OUTPUT``, and join them in the order of their names.

        Args:
            output_file: What becomes of them.
            least: So many there must be.

        Raises:
            CommandFailedError: If the engine fails or writes fewer files.
        """
        target = self.workspace.new_file(output_file)
        target.unlink(missing_ok=True)
        # In the shared folder, what a container wrote as another user becomes the lab's again.
        folder = self.workspace.shared / f".output-{uuid.uuid4().hex}"
        folder.mkdir()
        spec = self._specification()
        mounts = (*spec.mounts, Mount(folder, OUTPUT))
        result = self._run(replace(spec, command=tuple(arguments), mounts=mounts))
        parts = list(files_below(folder))
        if len(parts) < least:
            raise CommandFailedError(
                f"'{self._image_name}' ended well and wrote no file for its output '{output_file}'"
            )
        join(parts, target)
        shutil.rmtree(folder, ignore_errors=True)
        return CommandResult({**result.values, "files": len(parts)}, target)
