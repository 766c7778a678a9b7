"""Git repositories of tests, whatever the user has configured."""

import os
import subprocess
from pathlib import Path

_IDENTITY = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")


def git(folder: Path, *arguments: str) -> str:
    """Call git in a folder without the configuration of user and system; return what it prints."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    answer = subprocess.run(
        ["git", *_IDENTITY, "-C", str(folder), *arguments],  # noqa: S607 - git is where PATH says
        check=True,
        capture_output=True,
        env=clean | {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"},
    )
    return answer.stdout.decode().strip()
