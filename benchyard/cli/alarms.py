"""``benchyard alarms``: what became slower, within a month's budget of false alarms."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from benchyard.cli.common import json_option, resources_option, results_option, root_option
from benchyard.cli.fields import field_options
from benchyard.cli.options import no_wait_option
from benchyard.cli.terminal import print_json, say
from benchyard.core.errors import ExitCode
from benchyard.lab import server
from benchyard.suite.alarms import AlarmRequest, look


@click.command("alarms")
@click.argument("cases", nargs=-1, metavar="[CASE]...")
@root_option
@resources_option
@results_option
@field_options(AlarmRequest, "false_per_month")
@click.option("--dry-run", is_flag=True, help="Say what is suspected, and stop.")
@no_wait_option
@json_option
def command(
    cases: tuple[str, ...],
    root: Path,
    resource_folders: tuple[Path, ...],
    results: Path | None,
    false_per_month: float,
    *,
    dry_run: bool,
    no_wait: bool,
    as_json: bool,
) -> int:
    """Confirm what seems slower, and raise alarms within a month's budget of false ones.

    Looks at the newest campaign of each CASE, without CASE of all cases. Where metadata.json has
    subject.confirm, the versions before and since are measured in pairs. The others raise an alarm
    by their history alone. Each alarm is raised once; benchyard annotate accepts the change. Exits
    with 3 if there is an alarm.

    Example:
        benchyard alarms --dry-run
    """
    request = AlarmRequest(
        *(cases, str(root.resolve()), str(results.resolve()) if results else None),
        *(tuple(str(one.resolve()) for one in resource_folders), false_per_month, not no_wait),
    )
    document: dict[str, Any] = look(request).to_json() if dry_run else _confirmed(request)
    if as_json:
        print_json(document)
    else:
        print_alarms(document)
    alarms = any(one["alarm"] for one in document["suspicions"])
    return ExitCode.REGRESSION if alarms else ExitCode.DONE


def _confirmed(request: AlarmRequest) -> dict[str, Any]:
    answering = server.connect()
    from benchyard.lab import through_prefect  # noqa: PLC0415 - after the server began to start

    answering.wait_until_ready()
    return through_prefect.confirm(request, answering)


def print_alarms(document: Mapping[str, Any]) -> None:
    """Print alarms, suspicions and what is spent of the budget."""
    for one in document["suspicions"]:
        say(f"{'alarm' if one['alarm'] else 'suspected'}: {one['text']}")
        if one["bisect"]:
            say(f"  {one['bisect']}")
    say(document["sentence"])
