"""A lab on this machine: ``benchyard up``, its parts for others: ``worker`` and ``deploy``."""

from pathlib import Path
from typing import Any

import click

from benchyard.cli.common import gathered, json_option, resources_option
from benchyard.cli.fields import field_options
from benchyard.cli.terminal import print_json, print_table, say
from benchyard.core.errors import InputError, RunInterruptedError
from benchyard.core.model import Json
from benchyard.core.quantity import plural
from benchyard.core.table import text_table
from benchyard.lab import options

_SETTINGS: dict[str, dict[str, Any]] = {
    "testbed": {"metavar": "NAME"},
    "testbed_tags": {"metavar": "TAG"},
    "queue": {"metavar": "NAME"},
    "checkout": {"show_default": "the current folder"},
    "host": {"metavar": "NAME"},
    "database_url": {"envvar": "BENCHYARD_DATABASE_URL", "metavar": "URL"},
    "alerts": {"envvar": "BENCHYARD_ALERTS", "metavar": "URL|none"},
}


@click.command("up")
@field_options(
    *(options.LabOptions, "host", "port", "database_url", "no_server", "no_testbed", "no_explorer"),
    *("explorer_port", "testbed", "testbed_tags", "root"),
    **_SETTINGS,
)
@resources_option
@field_options(options.LabOptions, "prefect_yaml", "alerts", "allow", "grace", **_SETTINGS)
@json_option
@gathered("asked", options.LabOptions)
def command(asked: options.LabOptions, *, as_json: bool) -> None:
    """Start a lab on this machine: server, deployments, workers, explorer.

    Starts a Prefect server with its UI (or uses that of PREFECT_API_URL), the deployments of
    prefect.yaml, a worker that measures one run at a time, a worker for everything else, and the
    explorer. Restarts what dies.

    The first Ctrl-C or SIGTERM lets the run in progress finish; a second Ctrl-C stops it.

    Example:
        benchyard up
    """
    from benchyard.lab import up  # noqa: PLC0415 - imports Prefect, which help can do without

    if asked.no_server:
        for name, value in (("--port", asked.port), ("--database-url", asked.database_url)):
            if value is not None:
                what = "is for the lab's own server, which --no-server leaves out"
                raise InputError(f"{name} {what}")

    def ready(told: dict[str, Json]) -> None:
        if as_json:
            print_json(told)

    if not up.up(asked, lambda text: say(text, err=True), ready):
        raise RunInterruptedError("the run in progress was stopped; a retry goes on there")


@click.command("worker")
@field_options(
    *(options.JoinOptions, "testbed", "queue", "testbed_tags", "checkout", "allow", "grace"),
    **_SETTINGS,
)
@gathered("asked", options.JoinOptions)
def worker(asked: options.JoinOptions) -> None:
    """Measure on this machine for a lab that runs elsewhere.

    PREFECT_API_URL names the lab. The worker executes one run at a time, from its own queue and the
    pool's default queue, and is restarted if it dies. The first Ctrl-C or SIGTERM lets the run in
    progress finish; a second Ctrl-C stops it.

    Example:
        PREFECT_API_URL=http://lab:4200/api benchyard worker --testbed fast-1
    """
    from benchyard.lab import up  # noqa: PLC0415 - imports Prefect, which help can do without

    if not up.join(asked, lambda text: say(text, err=True)):
        raise RunInterruptedError("the run in progress was stopped; a retry goes on there")


@click.command("deploy")
@field_options(options.LabOptions, "root")
@resources_option
@field_options(options.LabOptions, "prefect_yaml")
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
