"""How runs are executed: the options that ``run`` and ``suite`` have in common."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from benchyard.cli.common import CommandT
from benchyard.cli.option_types import AUTO, Cooldown, Seconds, Whole
from benchyard.cli.project_file import ProjectFile
from benchyard.cli.terminal import say
from benchyard.core.amounts import parse_percent
from benchyard.core.errors import InputError
from benchyard.core.files import shown
from benchyard.core.quantity import shorten
from benchyard.publish.sinks import NAMES
from benchyard.run.adaptive import MAX_RUNS, Adaptive
from benchyard.run.beginning import Campaigning
from benchyard.run.default_runs import FEWEST
from benchyard.run.ordering import Order
from benchyard.run.request import COOLDOWN, INTERVAL, ExecutionOptions, descriptions
from benchyard.run.resting import LONGEST

_NOWHERE = "none"
_RUNS = re.compile(r"([0-9]+)(?:\.\.([0-9]+))?")
_SAYS = descriptions(ExecutionOptions)

_interval = click.option(
    "--interval",
    default=0.1,
    show_default=True,
    type=Seconds(INTERVAL.least, INTERVAL.most),
    help=_SAYS["interval"],
)
_cooldown = click.option(
    "--cooldown",
    default=AUTO,
    show_default=True,
    type=Cooldown(COOLDOWN.least, COOLDOWN.most),
    metavar="SECONDS",
    help="Rest between two runs; auto is as the case says, or else half as long as the run took, "
    f"{LONGEST:g} s at most.",
)
_seed = click.option("--seed", type=Whole(), help="Of the random order; chosen if left out.")
_force = click.option("--force", is_flag=True, help="Execute finished runs again.")


def schedule(default: Order) -> Callable[[CommandT], CommandT]:
    """Add the options that say when runs follow each other.

    Args:
        default: How the runs of several cases follow each other.
    """
    order = click.option(
        "--order",
        default=default.value,
        show_default=True,
        type=click.Choice([order.value for order in Order]),
        help="How the runs of several cases follow each other. Only cases that took turns "
        "(round-robin, random) are compared as of one session.",
    )

    def add(command: CommandT) -> CommandT:
        for option in (_force, _seed, order, _cooldown, _interval):
            command = option(command)
        return command

    return add


def _tell_of_project_file(context: click.Context, _: click.Parameter, verbose: bool) -> bool:  # noqa: FBT001 - click's
    file = context.find_object(ProjectFile) if verbose else None
    if file is not None:
        say(f"defaults from {shown(file.path)}", err=True)
    return verbose


no_wait_option = click.option(
    "--no-wait", is_flag=True, help="Fail if another lab measures on this host, do not wait."
)
publish_option = click.option(
    "--publish",
    default="local",
    show_default=True,
    metavar="SINK[,SINK]...",
    help="Where finished runs are published: local, datastore, azure-tables; or none.",
)
baseline_option = click.option(
    "--baseline",
    metavar="FOLDER",
    help="Compare with these finished results afterwards, or with the campaign before (previous); "
    "exits with 3 if a case is worse.",
)
keep_going_option = click.option("--keep-going", is_flag=True, help=_SAYS["keep_going"])
verbose_option = click.option(
    "-v", "--verbose", is_flag=True, callback=_tell_of_project_file, help="Tell more."
)
new_option = click.option(
    "--new", "begins", is_flag=True, help="Begin a new campaign; the runs that are done are kept."
)
keep_option = click.option(
    "--keep",
    "keeps",
    is_flag=True,
    help="Go on with the runs that are done, even if something else is measured now.",
)


def asked_campaign(*, begins: bool, keeps: bool) -> Campaigning:
    """Return which campaign ``--new`` and ``--keep`` ask for."""
    if begins and keeps:
        raise click.UsageError("--new and --keep exclude each other")
    return Campaigning.NEW if begins else Campaigning.KEEP if keeps else Campaigning.AUTO


def asked_for(
    *,
    root: Path,
    results: Path | None,
    resource_folders: tuple[Path, ...],
    publish: str = "local",
    no_wait: bool = False,
    elsewhere: bool = False,
    **given: Any,
) -> dict[str, Any]:
    """Return the fields of a request that options give.

    Args:
        elsewhere: Whether testbeds find the folders from their own checkouts.
        given: Options that are fields as they are.
    """

    def place(folder: Path) -> str:
        return str(folder if elsewhere else folder.resolve())

    return {
        **given,
        "wait": not no_wait,
        "publish": parse_sinks(publish),
        "root": place(root),
        "results": place(results) if results else None,
        "resources": tuple(map(place, resource_folders)),
    }


def parse_runs(text: str | None, until: str | None = None) -> tuple[int | None, Adaptive | None]:
    """Read ``--runs 5`` or ``--runs 5..30``, the latter with ``--until 1%``.

    Returns:
        The largest number of runs, None if it is left open, and the rule; None for a fixed number.

    Raises:
        InputError: If they are not written so, do not go together or cannot decide anything.
    """
    if text is None and until is None:
        return None, None
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
            raise InputError(f"--until {until!r} needs a range of runs such as --runs 5..30")
        return last, None
    if until is None:
        raise InputError(f"--runs {short!r} needs the precision to stop at, such as --until 1%")
    return last, Adaptive(first, last, _parse_until(until))


def _number(digits: str) -> int:
    # Python refuses to convert numbers of thousands of digits, with another exception.
    return int(digits) if len(digits) <= 9 else MAX_RUNS + 1


def _parse_until(text: str) -> float:
    until = parse_percent(text)
    if not 0 < until < 1:
        raise InputError(f"--until {text!r}: the precision lies between 0% and 100%")
    return until


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
