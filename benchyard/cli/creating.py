"""``benchyard new``: a case to begin with."""

from pathlib import Path

import click

from benchyard.case.new_case import TEMPLATES, check_folder, new_case
from benchyard.cli.option_types import NamedPath
from benchyard.cli.terminal import say
from benchyard.core.files import shown
from benchyard.timing.commands import Surroundings, make_commands
from benchyard.timing.saving import save_case


@click.command("new")
@click.argument("folder", type=NamedPath())
@click.option(
    "--template",
    type=click.Choice(list(TEMPLATES)),
    default="command",
    show_default=True,
    help="What it measures: " + "; ".join(f"{name}: {what}" for name, what in TEMPLATES.items()),
)
@click.option(
    "--from-command",
    "lines",
    multiple=True,
    metavar="COMMAND",
    help="Make a step of this command instead; may be given several times.",
)
@click.option("--shell", is_flag=True, help="Let /bin/sh read the commands.")
def command(folder: Path, template: str, lines: tuple[str, ...], *, shell: bool) -> None:
    """Make a case in a new FOLDER, which gives it its name.

    It can be executed as it is. A page beside it explains what to change.
    """
    if shell and not lines:
        raise click.UsageError("--shell belongs to --from-command")
    check_folder(folder)
    if lines:
        save_case(folder, make_commands(lines, (), Surroundings(), {}, in_shell=shell), None)
    else:
        new_case(folder, template)
    more = f" --resources {shown(folder / 'resources')}" if _has_class(folder) else ""
    say(f"{shown(folder / 'metadata.json')}: change it; then: benchyard run {shown(folder)}{more}")


def _has_class(folder: Path) -> bool:
    return (folder / "resources").is_dir()
