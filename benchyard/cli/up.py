"""A lab on this machine: ``benchyard up``, its parts for others: ``worker`` and ``deploy``."""

from pathlib import Path
from typing import Any

import click

from benchyard.cli.common import json_option, resources_option
from benchyard.cli.option_types import NamedPath, Whole, allow_option, grace_option
from benchyard.cli.terminal import print_json, print_table, say
from benchyard.core.errors import InputError, RunInterruptedError
from benchyard.core.model import Json
from benchyard.core.quantity import plural
from benchyard.core.table import text_table

prefect_yaml_option = click.option(
    "--prefect-yaml",
    default="prefect.yaml",
    show_default=True,
    type=NamedPath(),
    help="Declares the deployments; flow runs work in its folder. Else the installed file.",
)
root_option = click.option(
    "--root",
    type=NamedPath(),
    help="Folder that cases are looked for in.  [default: what prefect.yaml says]",
)
name_option = click.option(
    "--testbed",
    "name",
    metavar="NAME",
    help="Name of this testbed.  [default: the host's]",
)
tag_option = click.option(
    "--testbed-tag",
    "tags",
    multiple=True,
    metavar="TAG",
    help="Tag of this testbed, for cases that require it; may be given several times.",
)


@click.command("up")
@click.option(
    "--host",
    "host_name",
    metavar="NAME",
    help="Name or address that other machines reach the server by; only this machine without it.",
)
@click.option("--port", type=Whole(1, 65535), help="Of the server.  [default: 4200]")
@click.option(
    "--database-url",
    envvar="BENCHYARD_DATABASE_URL",
    metavar="URL",
    help="Where the server keeps its data: postgresql+asyncpg://USER:PASSWORD@HOST/NAME; "
    "a file in the lab's folder if left out. BENCHYARD_DATABASE_URL keeps it off the command line.",
)
@click.option("--no-server", is_flag=True, help="Start no server: use that of PREFECT_API_URL.")
@click.option("--no-testbed", is_flag=True, help="Measure nothing on this machine.")
@click.option("--no-explorer", is_flag=True, help="Show no results in a browser.")
@click.option(
    "--explorer-port",
    type=Whole(1, 65535),
    help="Of the explorer.  [default: 8765, or a free one]",
)
@name_option
@tag_option
@root_option
@resources_option
@prefect_yaml_option
@click.option(
    "--alerts",
    metavar="URL|none",
    envvar="BENCHYARD_ALERTS",
    help="Where to tell of failed cases and of regressions; BENCHYARD_ALERTS keeps it off the "
    "command line.",
)
@allow_option
@grace_option
@json_option
def command(
    *,
    port: int | None,
    database_url: str | None,
    no_server: bool,
    no_testbed: bool,
    no_explorer: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Start a lab on this machine: server, deployments, workers, explorer.

    Starts a Prefect server with its UI (or uses that of PREFECT_API_URL), the deployments of
    prefect.yaml, a worker that measures one run at a time, a worker for everything else, and the
    explorer. Restarts what dies.

    The first Ctrl-C or SIGTERM lets the run in progress finish; a second Ctrl-C stops it.

    Example:
        benchyard up
    """
    from benchyard.lab import up  # noqa: PLC0415 - imports Prefect, which help can do without

    if no_server:
        for name, value in (("--port", port), ("--database-url", database_url)):
            if value is not None:
                what = "is for the lab's own server, which --no-server leaves out"
                raise InputError(f"{name} {what}")
    options = up.LabOptions(
        port=port,
        database_url=database_url,
        own_server=not no_server,
        measures=not no_testbed,
        explores=not no_explorer,
        **given,
    )

    def ready(told: dict[str, Json]) -> None:
        if as_json:
            print_json(told)

    if not up.up(options, lambda text: say(text, err=True), ready):
        raise RunInterruptedError("the run in progress was stopped; a retry goes on there")


@click.command("worker")
@name_option
@click.option(
    "--queue",
    metavar="NAME",
    help="Work queue for this testbed alone; it is made.  [default: the testbed's name]",
)
@tag_option
@click.option(
    "--checkout",
    default=".",
    show_default="the current folder",
    type=NamedPath(),
    help="Folder with the flows and the cases that this machine executes.",
)
@allow_option
@grace_option
def worker(**given: Any) -> None:
    """Measure on this machine for a lab that runs elsewhere.

    PREFECT_API_URL names the lab. The worker executes one run at a time, from its own queue and the
    pool's default queue, and is restarted if it dies. The first Ctrl-C or SIGTERM lets the run in
    progress finish; a second Ctrl-C stops it.

    Example:
        PREFECT_API_URL=http://lab:4200/api benchyard worker --testbed fast-1
    """
    from benchyard.lab import up  # noqa: PLC0415 - imports Prefect, which help can do without

    if not up.join(up.JoinOptions(**given), lambda text: say(text, err=True)):
        raise RunInterruptedError("the run in progress was stopped; a retry goes on there")


@click.command("deploy")
@root_option
@resources_option
@prefect_yaml_option
@click.option(
    "--reset",
    is_flag=True,
    help="Write what the file says over parameters, schedules, tags and descriptions.",
)
@json_option
def deploy(
    root: Path | None,
    resource_folders: tuple[Path, ...],
    prefect_yaml: Path,
    *,
    reset: bool,
    as_json: bool,
) -> None:
    """Register work pools, deployments and cases on the Prefect server.

    Reads prefect.yaml, and puts the present cases into the drop-down of the UI's form. Repeat it as
    often as you like: parameters, schedules, tags and descriptions on the server stay, unless you
    give --reset.

    Example:
        benchyard deploy
    """
    from benchyard.lab import deploying, where  # noqa: PLC0415 - import Prefect, which is slow

    where.use(where.reachable())
    offered = deploying.deploy(prefect_yaml.resolve(), root, resource_folders, reset=reset)
    if as_json:
        deployments: list[Json] = [one.to_json() for one in offered.deployments]
        print_json({"deployments": deployments, "cases": list(offered.cases)})
        return
    rows = list[tuple[str, ...]]()
    for one in offered.deployments:
        schedules = [f"{slug} ({'on' if on else 'off'})" for slug, on in one.schedules.items()]
        rows.append((one.name, ", ".join(schedules) or "-", one.page))
    print_table(text_table(("DEPLOYMENT", "SCHEDULE", "PAGE"), rows))
    say(f"{plural(len(offered.cases), 'case')} to choose from", err=True)
    if offered.kept():
        say(offered.kept(), err=True)
