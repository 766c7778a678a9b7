"""The data of TPC-H, made by the program of the PyPI package ``tpchgen-cli``."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from benchyard.case.resource import CommandResult, NoSettings, ScratchFolder, command
from benchyard.core.errors import CommandFailedError
from benchyard.core.model import Json
from resources.process import ProgramResource

PROGRAM = "tpchgen-cli"
#: Seconds that it may take to tell its version.
_ANSWER_SECONDS = 20.0

Table: TypeAlias = Literal[
    "customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier"
]


class TPCH(ProgramResource[NoSettings]):
    """The generator of TPC-H's tables."""

    @classmethod
    def installed(cls, settings: Mapping[str, Json]) -> Mapping[str, Json]:
        """Ask the program, as ``version`` does."""
        asked = [str(find_program()), "--version"]
        said = subprocess.run(asked, stdout=subprocess.PIPE, check=False, timeout=_ANSWER_SECONDS)
        if said.returncode:
            raise CommandFailedError(f"'{' '.join(asked)}' failed; install {PROGRAM} anew")
        return {"version": said.stdout.decode(errors="replace").strip()}

    def version(self) -> str:
        """Ask the program."""
        return str(self.installed({})["version"])

    @command
    def generate(
        self, scale_factor: float, folder: ScratchFolder = "tpch", tables: list[Table] | None = None
    ) -> CommandResult:
        """Write tables as ``<folder>/<table>.tbl``.

        Args:
            scale_factor: 1 makes about 1 GB.
            folder: Folder inside ``data/shared``; it goes away with the run.
            tables: Which tables; all eight by default.
        """
        if not scale_factor > 0:
            raise CommandFailedError(f"scale_factor is {scale_factor}; it must be above 0")
        target = self.workspace.new_file(folder)
        target.mkdir(exist_ok=True)
        wanted: tuple[Table, ...] = tuple(tables) if tables else get_args(Table)
        files = [target / f"{table}.tbl" for table in wanted]
        for file in files:
            file.unlink(missing_ok=True)  # the program keeps a file that is already there
        arguments = [
            str(find_program()),
            f"--scale-factor={scale_factor}",
            f"--output-dir={target}",
            f"--tables={','.join(wanted)}",
        ]
        self._run(self._kept_call(arguments, target))
        return CommandResult({"bytes": sum(map(_size, files)), "tables": len(files)})


def find_program() -> Path:
    """Return where the generator lies.

    Raises:
        CommandFailedError: If it is not installed.
    """
    beside = os.fspath(Path(sys.executable).parent)
    found = shutil.which(PROGRAM, path=f"{beside}{os.pathsep}{os.environ.get('PATH', '')}")
    if found is None:
        raise CommandFailedError(
            f"there is no program '{PROGRAM}' beside {sys.executable} or on the PATH; "
            f"install it with: pip install {PROGRAM}"
        )
    return Path(found).resolve()


def _size(file: Path) -> int:
    if not file.is_file():
        raise CommandFailedError(f"'{PROGRAM}' ended well and did not write '{file.name}'")
    return file.stat().st_size
