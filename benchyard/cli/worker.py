"""``benchyard worker``: let this machine measure for a lab that runs elsewhere."""

from pathlib import Path

import click

from benchyard.cli.option_types import NamedPath, allow_option, grace_option
from benchyard.cli.terminal import say
from benchyard.core.errors import RunInterruptedError


@click.command("worker")
@click.option("--name", metavar="NAME", help="Of this testbed.  [default: the host's]")
@click.option(
    "--queue",
    metavar="NAME",
    help="Work queue for this testbed alone; it is made.  [default: the testbed's name]",
)
@click.option("--tag", "tags", multiple=True, help="Of this testbed, for cases that ask for it.")
@click.option(
    "--checkout",
    default=".",
    show_default="the current folder",
    type=NamedPath(),
    help="Folder with the flows and the cases that this machine executes.",
)
@allow_option
@grace_option
def command(
    name: str | None,
    queue: str | None,
    tags: tuple[str, ...],
    checkout: Path,
    allowed: tuple[Path, ...],
    grace: float | None,
) -> None:
    """Let this machine measure for the lab that PREFECT_API_URL names.

    Its worker executes one run at a time, of its own queue and of the pool's default one, and is
    started again if it dies. The first Ctrl-C lets the run in progress finish, a second one
    stops it; SIGTERM is the first.
    """
    from benchyard.lab import up  # noqa: PLC0415 - imports Prefect, which help can do without

    options = up.JoinOptions(name, queue, tags, checkout, allowed, grace)
    if not up.join(options, lambda text: say(text, err=True)):
        raise RunInterruptedError("the run in progress was stopped; a retry goes on there")
