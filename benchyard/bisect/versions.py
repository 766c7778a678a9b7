"""The versions between a good and a bad one: commits of a repository, or a list of names."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import CalledProcessError, SubprocessError

import numpy as np
from numpy.typing import NDArray

from benchyard.core.errors import InputError
from benchyard.core.files import content
from benchyard.core.wording import hint
from benchyard.host.facts import ask_git

#: Seconds for one answer of git, which may have to write a whole tree.
_GIT_S = 600.0
_ORDER = ("--topo-order", "--reverse", "--ancestry-path", "--no-show-signature")


@dataclass(frozen=True, slots=True)
class Version:
    """One version.

    Args:
        name: As given, or the commit's whole hash.
        short: What it is shown as.
        author: Of the commit; empty for other versions, as is the subject.
        subject: Of the commit.
        twin: Not empty for a second build of a version.
    """

    name: str
    short: str
    author: str = ""
    subject: str = ""
    twin: str = ""

    @property
    def key(self) -> str:
        """What its tree and its measurements are kept under."""
        return self.name + self.twin

    def __str__(self) -> str:
        author = f"({self.author})" if self.author else ""
        return " ".join(filter(None, (self.short, self.subject, author)))


@dataclass(frozen=True, slots=True)
class VersionRange:
    """What is searched.

    Args:
        good: The version that is fast.
        versions: Those after it; the last is the bad one.
        contains: Of each, whether it contains each.
        repository: Its top folder; None for other versions than commits.
    """

    good: Version
    versions: Sequence[Version]
    contains: NDArray[np.bool_]
    repository: Path | None = None


def listed(good: str, bad: str, text: str) -> VersionRange:
    """Take the versions from the good to the bad one out of a list, or out of a file's lines.

    Raises:
        InputError: If they are not there in this order.
    """
    file = Path(text)
    parts = content(file).decode().splitlines() if file.is_file() else text.split(",")
    names = [name for name in map(str.strip, parts) if name]
    for name in (good, bad):
        if names.count(name) != 1:
            raise InputError(f"--versions must have '{name}' once{hint(name, names)}")
    rest = [Version(one, one) for one in names[names.index(good) + 1 : names.index(bad) + 1]]
    if not rest:
        raise InputError(f"--versions must have '{good}' before '{bad}': the oldest first")
    return VersionRange(Version(good, good), rest, np.tri(len(rest), dtype=np.bool_))


def commits(folder: Path, good: str, bad: str) -> VersionRange:
    """Take the commits that contain the good one and are contained in the bad one.

    Raises:
        InputError: If there is no repository or no such commit, or good is not before bad.
    """
    top = Path(_git(folder, "rev-parse", "--show-toplevel"))
    first, last = (_git(top, "rev-parse", "--verify", f"{one}^{{commit}}") for one in (good, bad))
    lines = _git(top, "log", *_ORDER, "--format=%H%x00%P%x00%an%x00%s", f"{first}..{last}")
    if not lines:
        raise InputError(f"{good} is no ancestor of {bad}: name the good commit first")
    parts = [line.split("\0") for line in lines.split("\n")]
    versions = [Version(name, name[:10], author, subject) for name, _, author, subject in parts]
    places = {version.name: at for at, version in enumerate(versions)}
    contains = np.eye(len(versions), dtype=np.bool_)
    for at, (_, parents, *_) in enumerate(parts):
        for parent in places.keys() & parents.split():
            contains[at] |= contains[places[parent]]
    return VersionRange(Version(first, first[:10], subject=good), versions, contains, top)


def two_commits(folder: Path, good: str, bad: str) -> VersionRange:
    """Take any two commits, with nothing between them.

    Raises:
        InputError: If there is no repository or no such commit, or both are one.
    """
    top = Path(_git(folder, "rev-parse", "--show-toplevel"))
    names = [_git(top, "rev-parse", "--verify", f"{one}^{{commit}}") for one in (good, bad)]
    if names[0] == names[1]:
        raise InputError(f"{good} and {bad} are the same commit: name two")
    first, last = (
        Version(name, name[:10], subject=given)
        for name, given in zip(names, (good, bad), strict=True)
    )
    return VersionRange(first, [last], np.ones((1, 1), dtype=np.bool_), top)


def check_out(repository: Path, version: Version, folder: Path) -> None:
    """Make a work tree of a commit.

    Raises:
        InputError: If git cannot.
    """
    _git(repository, "worktree", "add", "--detach", "--force", str(folder), version.name)


def forget_trees(repository: Path) -> None:
    """Let a repository forget the work trees that are gone."""
    _git(repository, "worktree", "prune")


def _git(folder: Path, *arguments: str) -> str:
    try:
        return ask_git(folder, *arguments, seconds=_GIT_S)
    except CalledProcessError as error:
        why = error.stderr.decode(errors="replace").strip().removeprefix("fatal: ")
        raise InputError(f"git {arguments[0]} {arguments[-1]}: {why}") from error
    except (OSError, ValueError, SubprocessError) as error:
        raise InputError(f"git {arguments[0]}: {error}") from error
