"""``benchyard run --accept``: answers become the expected ones, and every change is shown."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from benchyard.case.registry import Registry
from benchyard.case.testbeds import refuse_unfit
from benchyard.cli.display import make_display
from benchyard.cli.terminal import print_json, say
from benchyard.core.files import shown
from benchyard.core.model import Case, Json
from benchyard.core.quantity import plural
from benchyard.run.accepting import Accepted, AnswerChange, accept
from benchyard.run.progress import listening


def accept_answers(
    cases: Sequence[Case],
    registry: Registry,
    given: Mapping[str, Any],
    *,
    write: bool,
    verbose: bool,
    as_json: bool,
) -> None:
    """Execute cases once, write the answers that they expect, and tell of each file.

    Args:
        cases: Their files with expected answers may lack.
        registry: The resource classes.
        given: Further options of the command: ``no_wait`` and ``ignore_requirements`` count.
        write: False: only tell what would be written.
        verbose: Whether to show every step.
        as_json: Whether to print a document.
    """
    if not given["ignore_requirements"]:
        refuse_unfit(cases)
    terminal = sys.stderr.isatty()
    display = make_display(runs=len(cases), verbose=verbose, terminal=terminal)
    with display, listening(display.hear):
        accepted = accept(cases, registry, write=write, wait=not given["no_wait"])
    if as_json:
        print_json({"written": write, "answers": [_document(one) for one in accepted]})
        return
    for one in accepted:
        say(f"{shown(one.file)}: {one.change} ({_in_short(one.steps)})")
        if one.difference:
            say(one.difference)
    count = sum(one.change is not AnswerChange.SAME for one in accepted)
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
