"""Which comparison is wanted: the options that ``compare`` and ``report`` have in common."""

from functools import partial, wraps
from pathlib import Path
from typing import Any, cast

from benchyard.analysis.comparison.rows import Rule
from benchyard.analysis.comparison.run_sets import results_below
from benchyard.analysis.comparison.sides import Places
from benchyard.cli.common import (
    CommandT,
    results_option,
    root_option,
    session_sd_option,
    suspect_option,
)
from benchyard.cli.fields import field_options
from benchyard.cli.option_types import Percent
from benchyard.results.trust import Suspect

_OPTIONS = (
    field_options(
        Rule,
        *("metrics", "steps", "threshold", "level"),
        threshold={"type": Percent(), "default": "1%"},
    ),
    session_sd_option,
    field_options(Rule, "in_turns"),
    suspect_option,
    results_option,
    root_option,
)
#: Options that are fields of a rule.
_AS_THEY_ARE = ("metrics", "steps", "threshold", "level", "session_sd", "in_turns")


def comparison_rule(command: CommandT) -> CommandT:
    """Add the options of a comparison, which become the arguments ``rule`` and ``places``."""

    @wraps(command)
    def call(*, suspect: str, root: Path, results: Path | None, **given: Any) -> object:
        rule = Rule(
            **{name: given.pop(name) for name in _AS_THEY_ARE},
            suspect=Suspect(suspect),
            other_work=True,
            other_results=partial(results_below, root, results),
        )
        return command(rule=rule, places=Places(root, results), **given)

    for option in reversed(_OPTIONS):
        option(call)
    return cast("CommandT", call)
