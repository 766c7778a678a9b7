"""How runs are executed: the options that ``run`` and ``suite`` have in common."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from benchyard.cli.ci import reports, strict_option
from benchyard.cli.common import (
    CommandT,
    Selection,
    case_options,
    combined,
    json_option,
    results_option,
    session_sd_option,
    suspect_option,
)
from benchyard.cli.fields import field_options
from benchyard.cli.option_types import AUTO, Cooldown
from benchyard.cli.project_file import ProjectFile
from benchyard.cli.terminal import say
from benchyard.core.errors import InputError
from benchyard.core.files import shown
from benchyard.core.quantity import shorten
from benchyard.publish.sinks import NAMES
from benchyard.run.adaptive import MAX_RUNS, Adaptive
from benchyard.run.request import COOLDOWN, FEWEST, ExecutionOptions

_NOWHERE = "none"
_RUNS = re.compile(r"([0-9]+)(?:\.\.([0-9]+))?")

#: Headings of the options of ``run`` and ``suite``.
HEADINGS = {
    "Which cases": ("tags", "root", "resource_folders", "changed", "stale", "ignore_requirements"),
    "How many runs": ("runs", "until", "force", "begins", "keeps", "budget", "dry_run", "accepts"),
    "Order and rest": ("order", "seed", "cooldown", "interval", "wait_for_user", "no_control"),
    "Failures": ("fail_fast", "keep_going"),
    "Comparison and CI": (
        *("baseline", "session_sd", "suspect", "strict", "false_per_month"),
        *("junit", "markdown", "openmetrics", "ci"),
    ),
    "Results": ("results", "publish", "as_json", "verbose"),
    "Prefect": ("direct", "prefect", "pool", "no_wait"),
}


def execution_options(
    kind: type[ExecutionOptions], *names: str, **own: Mapping[str, Any]
) -> Callable[[CommandT], CommandT]:
    """Add the options that ``run`` and ``suite`` have in common, and some fields of a request.

    Args:
        kind: The class of the request.
        names: Further fields that are options as they are.
        own: Settings of options that differ; see ``field_options``.
    """
    shared = ("cooldown", "interval", "force", "fail_fast", "keep_going", "publish", "baseline")
    own = {
        "cooldown": {
            "type": Cooldown(COOLDOWN.least, COOLDOWN.most),
            "default": AUTO,
            "show_default": True,
        },
        "publish": {"multiple": False, "default": "local", "metavar": "SINK[,SINK]..."},
        "baseline": {"metavar": "FOLDER"},
        **own,
    }
    options = field_options(kind, *names, *shared, **own)
    compared = combined(suspect_option, session_sd_option, strict_option, reports)
    return combined(
        *(case_options, results_option, options, no_wait_option, compared),
        *(json_option, verbose_option),
    )


def _tell_of_project_file(context: click.Context, _: click.Parameter, verbose: bool) -> bool:  # noqa: FBT001 - click's
    file = context.find_object(ProjectFile) if verbose else None
    if file is not None:
        say(f"defaults from {shown(file.path)}", err=True)
    return verbose


no_wait_option = click.option(
    "--no-wait", is_flag=True, help="Fail if another lab measures on this host, do not wait."
)
verbose_option = click.option(
    "-v", "--verbose", is_flag=True, callback=_tell_of_project_file, help="Tell more."
)


def request_fields(
    places: Selection, *, publish: str, no_wait: bool, elsewhere: bool = False, **given: Any
) -> dict[str, Any]:
    """Return the fields of a request that options give.

    Args:
        places: Where cases, resource classes and results lie.
        elsewhere: Whether testbeds find the folders from their own checkouts.
        given: Options that are fields as they are.
    """

    def place(folder: Path) -> str:
        return str(folder if elsewhere else folder.resolve())

    return {
        **given,
        "wait": not no_wait,
        "publish": parse_sinks(publish),
        "root": place(places.root),
        "results": place(places.results) if places.results else None,
        "resources": tuple(map(place, places.resource_folders)),
    }


def parse_runs(text: str | None, until: float | None = None) -> dict[str, int | float]:
    """Read ``--runs 5`` or ``--runs 5..30``, the latter with ``--until 1%``.

    Returns:
        The fields of a request that they set: ``runs``, and of a range ``most_runs`` and ``until``.

    Raises:
        InputError: If they are not written so, do not go together or cannot decide anything.
    """
    if text is None and until is None:
        return {}
    text = str(FEWEST) if text is None else text
    match = _RUNS.fullmatch(text.strip()) if text.isascii() else None
    short = shorten(text, 40)
    if match is None:
        raise InputError(f"--runs {short!r}: write a number such as 5, or a range such as 5..30")
    first, last = _number(match[1]), _number(match[2] or match[1])
    if not 1 <= first <= last <= MAX_RUNS:
        raise InputError(
            f"--runs {short!r}: there can be 1 to {MAX_RUNS:,} runs, and a range goes up"
        )
    if match[2] is None:
        if until is not None:
            raise InputError(f"--until {100 * until:g}% needs a range of runs such as --runs 5..30")
        return {"runs": last}
    if until is None:
        raise InputError(f"--runs {short!r} needs the precision to stop at, such as --until 1%")
    rule = Adaptive(first, last, until)
    return {"runs": rule.minimum, "most_runs": rule.maximum, "until": rule.until}


def _number(digits: str) -> int:
    # Python refuses to convert numbers of thousands of digits, with another exception.
    return int(digits) if len(digits) <= 9 else MAX_RUNS + 1


def parse_sinks(text: str) -> tuple[str, ...]:
    """Read ``--publish local,datastore``; ``none`` is no sink.

    Raises:
        InputError: If one is named twice, or there is nothing between two commas.
    """
    names = [name.strip() for name in text.split(",")]
    if names == [_NOWHERE]:
        return ()
    if "" in names or _NOWHERE in names or len(set(names)) < len(names):
        raise InputError(
            f"--publish {text!r}: name each sink once, with commas between them "
            f"({', '.join(NAMES)}), or write {_NOWHERE}"
        )
    return tuple(names)
