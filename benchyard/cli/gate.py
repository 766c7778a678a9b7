"""How a command ends that compares with a baseline: the one place that decides its exit code.

What keeps it from comparing comes first, as errors: 4 a bug, 2 wrong input, 1 a case failed.
"""

from collections.abc import Sequence

import click

from benchyard.cli.terminal import say
from benchyard.core.errors import ExitCode

strict_option = click.option(
    "--strict",
    is_flag=True,
    help="Exit with 5 if nothing can be judged, or something that was measured before is missing.",
)


def exit_code(*, worse: bool, unjudged: Sequence[str], strict: bool) -> ExitCode:
    """Return the exit code of a comparison, and say why a strict one does not pass.

    Args:
        worse: Whether anything is worse than in the baseline.
        unjudged: Why not everything is judged; see ``coverage.unjudged``.
    """
    if worse:
        return ExitCode.REGRESSION
    if not (strict and unjudged):
        return ExitCode.DONE
    for text in unjudged:
        say(f"cannot tell: {text}", fg="red", err=True)
    return ExitCode.CANNOT_TELL


def exit_code_after_runs(
    worse: Sequence[str], unjudged: Sequence[str], *, strict: bool
) -> ExitCode:
    """Return the same where runs were made; what is worse is said too."""
    if worse:
        say("benchyard:", "\n".join(worse), err=True)
    return exit_code(worse=bool(worse), unjudged=unjudged, strict=strict)
