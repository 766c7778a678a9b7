"""Options of the commands that let this machine execute flow runs."""

import click

from benchyard.cli.named_path import NamedPath
from benchyard.cli.seconds import Seconds

allow_option = click.option(
    "--allow",
    "allowed",
    multiple=True,
    type=NamedPath(),
    help="Folder that flow runs here may name beside the checkout; several times for several.",
)
grace_option = click.option(
    "--grace",
    type=Seconds(0, 604_800),
    help="Seconds that a run gets to finish at SIGTERM; no limit if left out.",
)
