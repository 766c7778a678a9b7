"""Files of steps: what a step names, or else one that is kept under the step's label."""

import shutil
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path

from benchyard.case.resource import Workspace, current_step
from benchyard.core.errors import CommandFailedError
from benchyard.results.folders import PROFILE


def kept_file(workspace: Workspace, suffix: str, name: str = "") -> Path:
    """Return where the current step, or what is named, keeps a file among the run's results."""
    workspace.kept.mkdir(parents=True, exist_ok=True)
    return workspace.kept / f"{name or current_step()}.{suffix}"


def named_or_kept(workspace: Workspace, name: str | None, suffix: str) -> Path:
    """Return the output that a step names, or a kept file."""
    return workspace.new_file(name) if name else kept_file(workspace, suffix)


def emptied(file: Path) -> Path:
    """Return a file that is there, and empty."""
    file.write_bytes(b"")
    return file


def remove_if_empty(files: Iterable[Path], kept: Path) -> None:
    """Remove those empty files that lie in ``kept``; others are ones that the step named."""
    for file in files:
        # A program of the same step may have been quicker.
        with suppress(FileNotFoundError):
            if file.parent == kept and not file.stat().st_size:
                file.unlink()


@contextmanager
def keeping_profile(workspace: Workspace, name: str | None) -> Generator[None]:
    """Keep the profile that a program writes of itself, whether it ends well or not.

    Args:
        workspace: Of the resource.
        name: Below ``data/shared``; None for none. One of an earlier repetition is replaced.

    Raises:
        CommandFailedError: If the name leads elsewhere, or is an input's.
    """
    profile = workspace.new_file(name) if name else None
    try:
        yield
    finally:
        if profile is not None and profile.is_file():
            endings = "".join(profile.suffixes[-2:])
            put(profile, kept_file(workspace, PROFILE + endings))


def refuse_missing(file: Path, name: str, program: str) -> None:
    """Refuse the success of a program that did not write its ``output_file``.

    Raises:
        CommandFailedError: If the file is not there.
    """
    if not file.exists():
        raise CommandFailedError(f"{program} ended well and did not write its output_file '{name}'")


def read_text(workspace: Workspace, name: str) -> str:
    """Return the text of an input.

    Raises:
        CommandFailedError: If it is not there, or not UTF-8.
    """
    try:
        return workspace.file(name).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandFailedError(f"{name}: this is not UTF-8; convert it") from error


def put(answer: Path, target: Path) -> None:
    """Move an answer to where it belongs, beside first: half an answer must not pass for one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}.new")
    shutil.move(answer, beside)
    beside.replace(target)
