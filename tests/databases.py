"""A Prefect database that is made already, for tests that start a server of their own.

Prefect makes an empty one by some hundred migrations: half a minute on a small machine, and nothing
that these tests are about. It is made once for each version of Prefect, kept in pytest's cache,
and copied to where a server will look for it.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

_CACHE = Path(__file__).parents[1] / ".pytest_cache" / "d" / "prefect"


def put_database(file: Path) -> None:
    """Put an empty database of this Prefect where there is none yet."""
    if file.exists():
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(empty_database(), file)


def empty_database() -> Path:
    """Return the one to copy; make it first if this Prefect has none."""
    kept = _CACHE / f"{version('prefect')}.db"
    kept.parent.mkdir(parents=True, exist_ok=True)
    with kept.with_suffix(".lock").open("w") as lock:
        # Only one of xdist's workers makes it.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            beside = kept.with_suffix(".new")
            beside.unlink(missing_ok=True)
            _make(beside)
            beside.rename(kept)
    return kept


def _make(file: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "prefect", "server", "database", "upgrade", "-y"],
        env={
            **os.environ,
            "PREFECT_SERVER_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{file}",
        },
        check=True,
        capture_output=True,
        timeout=300,
    )
