"""``benchyard run --accept``: answers become the expected ones, and every change is shown."""

import sys
from collections.abc import Sequence

from benchyard.case.registry import Registry
from benchyard.cli.display import make_display
from benchyard.cli.terminal import print_json, say
from benchyard.core.files import shown
from benchyard.core.model import Case, Json
from benchyard.run.accepting import Accepted, Change, accept
from benchyard.run.progress import listening
from benchyard.statistics.figures import plural


def accept_answers(
    cases: Sequence[Case],
    registry: Registry,
    *,
    write: bool,
    wait: bool,
    verbose: bool,
    as_json: bool,
) -> None:
    """Execute cases once, write the answers that they expect, and tell of each file.

    Args:
        cases: Their files with expected answers may lack.
        registry: The resource classes.
        write: False: only tell what would be written.
        wait: Whether to wait for another lab that measures here.
        verbose: Whether to show every step.
        as_json: Whether to print a document.
    """
    terminal = sys.stderr.isatty()
    display = make_display(runs=len(cases), cooldown=0.0, verbose=verbose, terminal=terminal)
    with display, listening(display.hear):
        accepted = accept(cases, registry, write=write, wait=wait)
    if as_json:
        print_json({"written": write, "answers": [_document(one) for one in accepted]})
        return
    for one in accepted:
        say(f"{shown(one.file)}: {one.change} ({_in_short(one.steps)})")
        if one.difference:
            say(one.difference)
    count = sum(one.change is not Change.SAME for one in accepted)
    done = "written" if write else "to be written, none was (--dry-run)"
    say(f"{plural(count, 'file')} {done}, {len(accepted) - count:,} as before", err=True)


def _in_short(steps: Sequence[str]) -> str:
    more = len(steps) - 1
    return steps[0] + (f", and {more:,} more with the same answer" if more else "")


def _document(one: Accepted) -> Json:
    return {
        "file": str(one.file),
        "steps": list(one.steps),
        "change": one.change.value,
        "difference": one.difference or None,
    }
