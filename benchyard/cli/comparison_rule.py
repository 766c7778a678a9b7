"""Which comparison is wanted: the options that ``compare`` and ``report`` have in common."""

from functools import partial, wraps
from pathlib import Path
from typing import Any, cast

import click

from benchyard.analysis.comparison.rows import Rule
from benchyard.analysis.comparison.run_sets import results_below
from benchyard.analysis.comparison.samples import DURATION
from benchyard.analysis.comparison.sides import Places
from benchyard.cli.common import (
    CommandT,
    results_option,
    root_option,
    session_sd_option,
    suspect_option,
)
from benchyard.cli.option_types import Percent
from benchyard.results.trust import Suspect

_OPTIONS = (
    click.option(
        "--metric",
        "metrics",
        multiple=True,
        default=(DURATION,),
        show_default=True,
        help="Metric to show and compare; a glob, or all (the others then explain). Several times.",
    ),
    click.option(
        "--step", "steps", multiple=True, help="Only this step, by its id; a glob, several times."
    ),
    click.option(
        "--threshold",
        default="1%",
        show_default=True,
        type=Percent(),
        help="Smallest change that is called.",
    ),
    click.option(
        "--level",
        default="1%",
        show_default=True,
        type=Percent(),
        help="Chance of even one false call, over all comparisons together.",
    ),
    session_sd_option,
    click.option("--in-turns", is_flag=True, help="All was measured in turns, in one session."),
    suspect_option,
    results_option,
    root_option,
)
#: Options that are fields of a rule.
_AS_THEY_ARE = ("metrics", "steps", "threshold", "session_sd", "in_turns")


def comparison_rule(command: CommandT) -> CommandT:
    """Add the options of a comparison, which become the arguments ``rule`` and ``places``."""

    @wraps(command)
    def call(
        *, level: float, suspect: str, root: Path, results: Path | None, **given: Any
    ) -> object:
        if not 0 < level < 1:
            raise click.UsageError("the level lies between 0% and 100%")
        rule = Rule(
            **{name: given.pop(name) for name in _AS_THEY_ARE},
            level=level,
            suspect=Suspect(suspect),
            other_work=True,
            other_results=partial(results_below, root, results),
        )
        return command(rule=rule, places=Places(root, results), **given)

    for option in reversed(_OPTIONS):
        option(call)
    return cast("CommandT", call)
