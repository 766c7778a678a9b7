"""A system of our own: a compressor."""

import zlib
from dataclasses import dataclass
from typing import ClassVar

from benchyard.resource import CommandResult, InputFile, OutputFile, Resource, command


@dataclass(frozen=True, slots=True)
class MySystemSettings:
    """What a case may set.

    Args:
        level: How hard it works, from 1 to 9.
    """

    level: int = 6


class MySystem(Resource[MySystemSettings]):
    """Python's own zlib."""

    Settings: ClassVar[type[MySystemSettings]] = MySystemSettings

    def version(self) -> str:
        """Return the library's version."""
        return zlib.ZLIB_RUNTIME_VERSION

    @command
    def compress(self, input_file: InputFile, output_file: OutputFile) -> CommandResult:
        """Compress a file.

        Args:
            input_file: A file in ``data/shared``.
            output_file: Where the result goes.
        """
        plain = self.workspace.file(input_file).read_bytes()
        packed = zlib.compress(plain, self.settings.level)
        target = self.workspace.new_file(output_file)
        target.write_bytes(packed)
        return CommandResult({"compressed_bytes": len(packed)}, target)
