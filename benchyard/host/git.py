"""Questions to git about repositories that are somebody else's."""

import os
import subprocess
from pathlib import Path

#: Its settings must not start a program here.
_SAFE = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")


def ask_git(folder: Path, *arguments: str, seconds: float) -> str:
    """Return what git says of a folder.

    Args:
        folder: In the repository.
        arguments: The command, and what it takes.
        seconds: How long the answer may take: a repository may lie on a dead network drive.

    Raises:
        OSError: If there is no git.
        ValueError: If an argument has a NUL in it.
        subprocess.SubprocessError: If git fails, or takes too long.
    """
    # Looking must not lock its index, and git's own variables would point to another repository.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    answer = subprocess.run(
        ["git", *_SAFE, "-C", str(folder), *arguments],  # noqa: S607 - git is where PATH says
        env=clean | {"GIT_OPTIONAL_LOCKS": "0"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=seconds,
        check=True,
    )
    return answer.stdout.decode(errors="replace").strip()
