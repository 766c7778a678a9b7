"""``benchyard check``: whether the newest campaign is worse than those before."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice

import click

from benchyard.analysis.comparison.document import document
from benchyard.analysis.comparison.gate import idle_rules
from benchyard.analysis.comparison.levels import read_campaigns
from benchyard.analysis.comparison.limits import Limit, read_rules
from benchyard.analysis.comparison.request import Answer, before_on_host
from benchyard.analysis.comparison.rows import Rule
from benchyard.analysis.comparison.run_sets import RunSet, host_of
from benchyard.analysis.comparison.sides import Places
from benchyard.analysis.comparison.states import (
    SIDES,
    against_level,
    cases_of,
    change_items,
    without_accepted,
)
from benchyard.cli.ci import ReportingCommand, Reports, comparison_reports
from benchyard.cli.common import gathered, json_option
from benchyard.cli.comparing import comparison_rule, conclude, print_comparison
from benchyard.cli.fields import field_options
from benchyard.cli.terminal import print_json, say
from benchyard.core.errors import ExitCode
from benchyard.core.model import Json
from benchyard.core.quantity import plural
from benchyard.core.wording import printable, some
from benchyard.results.campaigns import earlier_campaigns
from benchyard.statistics.pairs import OWN_FROM

#: What is said where a change is open.
ACCEPTING = "benchyard annotate accepts what is open"


def _rules(_: click.Context, __: click.Parameter, texts: Sequence[str]) -> tuple[Limit, ...]:
    return read_rules(texts)


@click.command("check", cls=ReportingCommand)
@click.argument("cases", nargs=-1, metavar="[CASE]...")
@comparison_rule
@field_options(
    *(Rule, "campaigns", "rules"),
    campaigns={"default": "20", "show_default": True},
    rules={"callback": _rules},
)
@click.option("--against", metavar="BASELINE", help="Compare with these results, not with history.")
@comparison_reports
@json_option
@gathered("report", Reports)
def command(
    *,
    cases: tuple[str, ...],
    rule: Rule,
    places: Places,
    against: str | None,
    report: Reports,
    as_json: bool,
) -> int:
    """Check the newest campaign against the campaigns before it.

    Each CASE is compared with the level of its earlier campaigns on this host since that level
    changed last, without CASE all cases with results. With fewer than five of them, the campaign
    before is the baseline, as for benchyard compare. Also lists the changes of level in the
    last 50 campaigns: since when, by how much, and what changed then.

    Exits with 3 if a case is worse, and with 5 if one cannot be judged.

    Example:
        benchyard check mine
    """
    found = cases_of(cases, places)
    before = cases_of((against,), places) if against else before_on_host(found)
    if not before:
        say(f"cannot tell: {printable(some(found, 5))}: no campaign before", fg="red", err=True)
        return ExitCode.CANNOT_TELL
    sides = (against or SIDES[0], SIDES[1])
    rule = replace(rule, campaigns=0) if against else rule
    compared = without_accepted(against_level(before, found, rule, sides))
    items, idle = change_items(compared), idle_rules(compared, found.values(), every=not cases)
    if as_json:
        changes: list[Json] = [item.to_json() for item in items]
        print_json({**document(compared, sides), "changes": changes, "notices": list[Json](idle)})
    elif not report.prints:
        print_comparison(compared)
        for note in (*map(str, items), *(() if against else _short(found))):
            say(note)
        if any(item.is_open for item in items):
            say(ACCEPTING)
    for text in () if as_json else idle:
        say(f"notice: {text}", fg="cyan", err=report.prints)
    return conclude(Answer(compared, sides), report)


def _campaigns_before(runs: RunSet) -> int:
    """Return how many earlier campaigns of the same host are known, at most those of a level."""
    earlier = earlier_campaigns(runs.folder)
    known = read_campaigns(earlier, host_of(runs), (), datetime.now(UTC))
    return sum(1 for _ in islice(known, OWN_FROM))


def _short(cases: dict[str, RunSet]) -> list[str]:
    """Say of which cases too few campaigns are known to be a level."""
    known = {title: _campaigns_before(runs) for title, runs in cases.items()}
    return [
        f"{printable(title)}: {plural(n, 'campaign')} before; {OWN_FROM} make a level"
        for title, n in known.items()
        if n < OWN_FROM
    ]
