"""Where a run was measured: the testbed, and the state of the case's repository.

Nothing here fails: what a host does not tell is null. Sizes are bytes, frequencies hertz.
"""

import hashlib
import os
import platform
import subprocess
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib import metadata
from pathlib import Path

from benchyard import __version__
from benchyard.core.model import Json, JsonObject
from benchyard.host.facts.hardware import (
    disks,
    huge_pages,
    meminfo,
    network,
    power,
    processor,
    randomization,
    swap,
)
from benchyard.host.facts.reading import Host, or_null
from benchyard.host.facts.system import (
    boot,
    cgroup,
    clocksource,
    docker,
    telling_parameters,
    timezone,
    virtualization,
)

#: What schedules, what measures, what shipped resources compute with.
PACKAGES = ("prefect", "psutil", "duckdb", "tpchgen-cli", "docker")


def environment() -> JsonObject:
    """Return what is known of the testbed; looked up once per process, and shared by all records.

    A copy for each run would make a lab of many runs grow.
    """
    return dict(_environment(Host()))


def environment_of(host: Host) -> JsonObject:
    """Return what is known of a host: this one, or what is recorded of another.

    Names, versions of software, time zone and affinity are those of this process either way.
    """
    known: JsonObject = {name: or_null(partial(fact, host)) for name, fact in _FACTS.items()}
    return known | {"benchyard": __version__}


_environment = cache(environment_of)


def _os(_: Host) -> Json:
    release = platform.freedesktop_os_release()
    return {"name": release.get("NAME"), "version": release.get("VERSION")}


_FACTS: Mapping[str, Callable[[Host], Json]] = {
    "host": lambda _: platform.node(),
    "kernel": lambda _: platform.platform(),
    "kernel_parameters": telling_parameters,
    "os": _os,
    "architecture": lambda _: platform.machine(),
    "boot": boot,
    "cpu": processor,
    "memory_bytes": lambda host: meminfo(host)["MemTotal"],
    "swap_bytes": lambda host: meminfo(host)["SwapTotal"],
    "swap": swap,
    "huge_pages": huge_pages,
    "address_randomization": randomization,
    "disks": disks,
    "network": network,
    "cgroup": cgroup,
    "virtualization": virtualization,
    "clocksource": clocksource,
    "timezone": timezone,
    "power": power,
    "docker": docker,
    # Null for what is not installed; nothing is imported.
    "packages": lambda _: {name: or_null(partial(metadata.version, name)) for name in PACKAGES},
    "python": lambda _: f"{platform.python_implementation()} {platform.python_version()}",
}


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


#: Seconds for one question to git: a repository on a dead network drive must not hold a run.
GIT_TIMEOUT = 5.0


def git_state(folder: Path) -> JsonObject:
    """Return the commit of a folder's repository, and whether its tracked files differ from that.

    Untracked files do not count, since every result of a run is one. Both are null outside of a
    repository, without git, and where git may not look.
    """
    commit = _git(folder, "rev-parse", "--verify", "HEAD")
    if commit is None:
        return {"commit": None, "dirty": None}
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return {"commit": commit, "dirty": None if changes is None else bool(changes)}


def work_tree_state(folder: Path, without: Sequence[Path] = ()) -> JsonObject | None:
    """Return the commit that is checked out, and what its tracked files differ by.

    Args:
        without: Folders whose files are left out of the differences.

    Returns:
        ``commit`` and ``changes``: "none", the digest of the differences, or null where git does
        not tell them in time. None outside of a repository, and where that has no commit.
    """
    commit = _git(folder, "rev-parse", "--verify", "HEAD")
    if commit is None:
        return None
    top = Path(_git(folder, "rev-parse", "--show-toplevel") or folder)
    options = ("--binary", "--no-ext-diff", "--no-textconv")
    inside = [place.resolve() for place in without if place.resolve().is_relative_to(top)]
    left_out = [f":(exclude,literal){place.relative_to(top)}" for place in inside]
    changes = _git(top, "diff", "HEAD", *options, "--", ".", *left_out)
    if changes:
        changes = f"sha256:{hashlib.sha256(changes.encode()).hexdigest()}"
    return {"commit": commit, "changes": "none" if changes == "" else changes}


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        return ask_git(folder, *arguments, seconds=GIT_TIMEOUT)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
