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
def written(
    workspace: Workspace,
    name: str | None,
    program: str,
    profile_file: str | None = None,
    *,
    anew: bool = False,
) -> Generator[Path | None]:
    """Give the ``output_file`` of a program, and refuse its success if it did not write it.

    Args:
        workspace: Of the resource.
        name: Below ``data/shared``; None for none.
        program: What an error calls it.
        profile_file: A profile that it writes of itself, likewise; it is kept whether the program
            ends well or not, in the place of one of an earlier repetition.
        anew: Whether an output that an earlier repetition wrote must not pass for the answer.

    Raises:
        CommandFailedError: If a name leads elsewhere, is an input's, or the file is not there.
    """
    output, profile = (
        workspace.new_file(given) if given else None for given in (name, profile_file)
    )
    if output is not None and anew:
        output.unlink(missing_ok=True)
    try:
        yield output
    finally:
        if profile is not None and profile.is_file():
            endings = "".join(profile.suffixes[-2:])
            put(profile, kept_file(workspace, PROFILE + endings))
    if output is not None and not output.exists():
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
