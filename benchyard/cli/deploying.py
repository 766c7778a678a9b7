"""``benchyard deploy``: tell the Prefect server what can be executed."""

from pathlib import Path

import click

from benchyard.cli.common import json_option, resources_option
from benchyard.cli.option_types import NamedPath
from benchyard.cli.terminal import print_json, print_table, say
from benchyard.core.model import Json
from benchyard.core.quantity import plural
from benchyard.core.table import text_table

prefect_yaml_option = click.option(
    "--prefect-yaml",
    default="prefect.yaml",
    show_default=True,
    type=NamedPath(),
    help="The file that declares the deployments; flow runs work in its folder.",
)
root_option = click.option(
    "--root",
    type=NamedPath(),
    help="Folder that cases are looked for in.  [default: what prefect.yaml says]",
)


@click.command("deploy")
@root_option
@resources_option
@prefect_yaml_option
@json_option
def command(
    root: Path | None, resource_folders: tuple[Path, ...], prefect_yaml: Path, *, as_json: bool
) -> None:
    """Tell the Prefect server what can be executed.

    Makes the work pools, deploys what prefect.yaml declares, and puts the cases that are there
    now into the drop-down of the UI's form. As often as you like: parameters, schedules, tags and
    descriptions that somebody set in the UI stay.
    """
    from benchyard.lab import deploying, where  # noqa: PLC0415 - import Prefect, which is slow

    where.use(where.reachable())
    offered = deploying.deploy(prefect_yaml.resolve(), root, resource_folders)
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
