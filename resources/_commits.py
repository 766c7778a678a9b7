"""Commits of a git repository: what they are called, and their files beside its working tree."""

import os
import subprocess
import tarfile
from pathlib import Path

from benchyard.core.errors import ResourceError
from benchyard.core.wording import quote
from benchyard.host.facts import ask_git

#: Seconds for one question to git; an archive of a large repository takes some.
_SECONDS = 120.0


def commit_of(repository: str, name: str) -> str:
    """Return the digest of a commit.

    Args:
        repository: Folder of the repository, or one inside it.
        name: Of a commit, as git knows it: a digest, a tag, ``main~3``.

    Raises:
        ResourceError: If there is no such repository or commit, or no git.
    """
    return _git(repository, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", of=name)


def check_out(repository: str, commit: str, folder: Path) -> None:
    """Write the files of a commit into a folder; the repository's working tree stays as it is.

    Args:
        commit: Its digest.
        folder: Made by this function.

    Raises:
        ResourceError: If git fails, or a file of the commit would lead out of the folder.
    """
    folder.mkdir(parents=True)
    archive = folder.with_suffix(".tar")
    _git(repository, "archive", "--format=tar", f"--output={archive}", commit, of=commit)
    try:
        with tarfile.open(archive) as files:
            files.extractall(folder, filter="data")
    except tarfile.TarError as error:
        raise ResourceError(f"commit {commit[:12]} of {quote(repository)}: {error}") from error
    finally:
        archive.unlink()


def _git(repository: str, *arguments: str, of: str) -> str:
    place = Path(os.path.expanduser(repository))  # noqa: PTH111 - Path's own raises for a user who is none
    if not place.is_dir():
        raise ResourceError(f"the repository {quote(repository)}: there is no such folder")
    try:
        return ask_git(place, *arguments, seconds=_SECONDS)
    except subprocess.CalledProcessError as error:
        said = quote(error.stderr.decode(errors="replace").strip() or "it is not there")
        raise ResourceError(f"no commit '{quote(of)}' in {quote(repository)}: {said}") from error
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise ResourceError(f"the repository {quote(repository)}: {error}") from error
