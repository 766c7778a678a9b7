"""What the shell is told of a baseline: an exit code, once all that was executed is printed."""

from collections.abc import Sequence
from pathlib import Path

from benchyard.analysis.regressions import Baseline
from benchyard.cli.terminal import say
from benchyard.core.errors import RegressionError
from benchyard.core.model import Case
from benchyard.core.wording import printable


def raise_if_worse(
    baseline: str | None, cases: Sequence[Case], folders: Sequence[Path], *, direct: bool
) -> None:
    """Compare each case with the baseline; nothing happens without one.

    Args:
        folders: The cases' results.
        direct: Whether nobody has told what came of it yet: a flow run has.

    Raises:
        RegressionError: If a case is worse.
    """
    if baseline is None:
        return
    before, worse = Baseline(baseline), list[str]()
    for case, folder in zip(cases, folders, strict=True):
        looked = before.look(case.title, folder)
        if direct:
            say(f"{printable(case.title)} against {baseline}: {looked.summary}", err=True)
        worse += [found.text for found in looked.regressions]
    if worse:
        raise RegressionError("\n".join(worse))
