"""Engines in containers, and the files that they are handed beside the run's shared folder.

Those are configurations with passwords and converted mappings.
"""

import os
import re
import shutil
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import ClassVar

from benchyard.case.resource import CommandResult
from benchyard.core.errors import CommandFailedError
from benchyard.core.files import files_below
from resources._containers import Mount
from resources._containers.base import (
    SHARED,
    ContainerResource,
    ContainerSettingsT,
    ProgramContainer,
)
from resources._containers.settings import ContainerSettings, heap_arguments
from resources._mapping import ArgumentEngine, Database

#: Who may read and write what holds a password.
PRIVATE = 0o600


def write_private(path: Path, text: str) -> None:
    """Write a file that no other user can read at any moment.

    Raises:
        OSError: If the disk is full or not writable.
    """
    content = text.encode()
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(content)


def ini(sections: Mapping[str, Mapping[str, str]], delimiter: str = " = ") -> str:
    """Return a file of sections for Python's ``configparser`` with its extended interpolation.

    Raises:
        CommandFailedError: If a value cannot stand in such a file.
    """
    blocks = [
        "".join([f"[{section}]\n", *(_ini_line(n, v, delimiter) for n, v in values.items())])
        for section, values in sections.items()
    ]
    return "\n".join(blocks)


def _ini_line(name: str, value: str, delimiter: str) -> str:
    if value != value.strip() or len(value.splitlines()) > 1:
        raise CommandFailedError(
            f"the value of '{name}' has line breaks, or spaces at an end, which the program's "
            "configuration file cannot hold; change it"
        )
    return f"{name}{delimiter}{value.replace('$', '$$')}\n"


#: What Java would misread: a backslash, spaces at the begin, all beyond printable ASCII.
#: Source: java.util.Properties.load.
_MISREAD = re.compile(r"\A +|\\|[^ -~]")


def properties(values: Mapping[str, str]) -> str:
    """Return a file for Java's ``Properties``, in ASCII."""
    return "".join(f"{name}={_MISREAD.sub(_escaped, text)}\n" for name, text in values.items())


def _escaped(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


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
                stream.seek(max(0, stream.tell() - 1))
                if stream.read() not in {b"", b"\n"}:
                    whole.write(b"\n")
            part.unlink()


#: Where a container sees what it may only read; KROWN's engines look there.
DATA = "/data"
#: Where those engines write that want a folder, or choose the names of their files.
OUTPUT = f"{DATA}/output"


def shared(name: str) -> str:
    """Return where a container sees a file of the run's shared folder."""
    return f"{SHARED}/{name}"


def load_conversions() -> None:
    """Import what converts mappings, where nothing is measured: RDF takes 11 MB, for few cases."""
    import_module("resources._mapping.mappings")


class WithFolder(ContainerResource[ContainerSettingsT]):
    """A resource whose containers see files at ``/data``, such as ones with passwords.

    They lie in the resource's scratch folder: in the shared one they would be results.
    """

    def _prepare(self) -> None:
        # Below a folder that is mounted read-only, the engine cannot make these.
        for inner in (SHARED, OUTPUT):
            (self.workspace.own / Path(inner).relative_to(DATA)).mkdir(parents=True, exist_ok=True)
        super()._prepare()

    def begin(self, step: str) -> None:
        """See ``load_conversions``."""
        super().begin(step)
        load_conversions()

    def _mounts(self) -> list[Mount]:
        return [Mount(self.workspace.own, DATA, read_only=True), *super()._mounts()]

    def _hand_over(self, name: str, text: str) -> str:
        """Write a file for the containers; return where they see it."""
        write_private(self.workspace.own / name, text)
        return f"{DATA}/{name}"


class ContainerEngine(ArgumentEngine, ProgramContainer[ContainerSettings]):
    """An engine that runs in a container of its own for each command."""

    #: Program and first arguments; Java gets its heap besides.
    _program: ClassVar[Sequence[str]]
    #: What follows if a step gives no arguments: KROWN's file, an earlier command's.
    _by_default: ClassVar[Sequence[str]] = ()

    def _engine_call(self, arguments: Sequence[str] = ()) -> list[str]:
        """Return program and arguments."""
        program, *first = self._program
        heap = heap_arguments(self.settings.memory_bytes) if program == "java" else ()
        return [program, *heap, *first, *(arguments or self._by_default)]

    def _run_engine(self, arguments: list[str], output_file: str | None) -> CommandResult:
        return self._call(self._engine_call(arguments), output_file)


class ConfiguredEngine(WithFolder[ContainerSettings], ContainerEngine):
    """An engine that reads its configuration from a file."""

    def _rml(self, file: str, database: Database | None, *, formulations: bool = False) -> str:
        """Return where the container sees a mapping.

        That of a database is a copy in RML, which names it; see ``in_rml``.
        """
        if database is None:
            return shared(file)
        from resources._mapping.mappings import in_rml  # noqa: PLC0415 - see load_conversions

        text = in_rml(self.workspace.file(file), file, database, formulations=formulations)
        return self._hand_over("mapping_converted.rml.ttl", text)

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
