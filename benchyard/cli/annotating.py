"""``benchyard annotate``: what is said of changes of level."""

import getpass
from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import click

from benchyard.analysis.comparison.levels import home_of
from benchyard.analysis.comparison.request import before_on_host
from benchyard.analysis.comparison.rows import ALL_METRICS, Rule
from benchyard.analysis.comparison.run_sets import RunSet, host_of
from benchyard.analysis.comparison.sides import Places
from benchyard.analysis.comparison.states import against_level, cases_of, change_items
from benchyard.cli.common import json_option, open_file, results_option, root_option
from benchyard.cli.option_types import Read
from benchyard.cli.terminal import print_json, say
from benchyard.core.amounts import parse_since
from benchyard.core.errors import InputError
from benchyard.core.model import Json
from benchyard.core.quantity import moment
from benchyard.core.wording import printable, some
from benchyard.results.annotations import Annotation, AnnotationKind, annotate


@click.command("annotate")
@click.argument("cases", nargs=-1, metavar="[CASE]...")
@click.option("--reason", required=True, metavar="REASON", help="Why the new level is right.")
@click.option("--on-purpose", is_flag=True, help="It was changed on purpose; else it is accepted.")
@click.option(
    "--ignore-until",
    "until",
    type=Read(lambda text: parse_since(text, datetime.now(UTC))),
    metavar="DATE",
    help="Do not accept it, but ignore it until a date such as 2026-12-24 (UTC).",
)
@click.option(
    "--newest", is_flag=True, help="Annotate the newest campaign, and not the open changes."
)
@click.option("--step", default="*", metavar="ID", help="Of these steps only; a glob. All.")
@click.option("--metric", default="*", metavar="NAME", help="Of these metrics only; a glob. All.")
@click.option("--who", metavar="NAME", help="Who says so; your name on this host.")
@root_option
@results_option
@json_option
def command(
    cases: tuple[str, ...],
    reason: str,
    until: datetime | None,
    step: str,
    metric: str,
    who: str | None,
    root: Path,
    results: Path | None,
    *,
    on_purpose: bool,
    newest: bool,
    as_json: bool,
) -> None:
    """Accept changes of level, or ignore them for a while.

    Annotates each open change of the CASEs that benchyard check lists, without CASE of all cases.
    An accepted level is the one that later campaigns are checked against. Annotations are lines of
    annotations.jsonl beside the results; nothing removes it, and packs have it.

    Example:
        benchyard annotate mine --newest --on-purpose --reason 'verifies checksums now'
    """
    now = datetime.now(UTC)
    if until is not None and (until <= now or on_purpose):
        raise click.UsageError("--ignore-until takes a date to come, and no --on-purpose")
    kind = AnnotationKind.ON_PURPOSE if on_purpose else AnnotationKind.ACCEPTED
    made = Annotation(
        AnnotationKind.IGNORED if until else kind,
        *("", now.isoformat(), who or getpass.getuser(), reason, step, metric),
        until=until.isoformat() if until else None,
    )
    found = cases_of(cases, Places(root, results, open_file))
    newest_ones = ((title, runs.records[-1].began) for title, runs in found.items() if runs.records)
    places = list(newest_ones if newest else _open(found, made))
    if not places:
        text = "no change is open; --newest annotates the newest campaign"
        raise InputError(f"{printable(some(found, 5))}: {text}")
    noted: list[Json] = []
    for title, since in places:
        one = replace(made, since=since.isoformat(), host=str(host_of(found[title]) or ""))
        annotate(home_of(found[title].folder), one)
        noted.append({"case": title, **cast("dict[str, Json]", asdict(one))})
        if not as_json:
            say(f"{printable(title)}, since {moment(since)}: {printable(str(one))}")
    if as_json:
        print_json({"annotations": noted})


def _open(found: dict[str, RunSet], made: Annotation) -> Iterator[tuple[str, datetime]]:
    """Yield the title of each case and the beginning of each of its open changes."""
    before = before_on_host(found)
    rule = Rule((ALL_METRICS if made.metric == "*" else made.metric,))
    for item in change_items(against_level(before, found, rule)) if before else ():
        about = (made.is_about(one.step, one.metric, one.host) for one in item.moves)
        if item.is_open and any(about):
            yield item.case, item.since
