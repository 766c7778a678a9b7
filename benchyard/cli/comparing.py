"""``benchyard compare``: a candidate against a baseline, or how many runs that would take."""

from typing import Any

import click

from benchyard.analysis.comparison.document import document, markdown
from benchyard.analysis.comparison.facts import Weight
from benchyard.analysis.comparison.run_sets import (
    RunSet,
    pair,
    parse_selection,
    read_before,
    read_run_sets,
)
from benchyard.analysis.comparison.sample_size import (
    make_plan,
    plan_document,
    plan_summary,
    plan_table,
)
from benchyard.analysis.comparison.samples import DURATION
from benchyard.analysis.comparison.verdicts import CasePair, Comparison, Rule, compare
from benchyard.analysis.comparison.wording import notes, remarks, summary, table
from benchyard.cli.ci import ReportingCommand, Reports, comparison_reports
from benchyard.cli.common import json_option
from benchyard.cli.terminal import print_json, print_table, say, styled
from benchyard.core.amounts import parse_percent
from benchyard.core.errors import ExitCode, InputError
from benchyard.core.files import shown
from benchyard.core.wording import printable
from benchyard.statistics.comparison import Verdict
from benchyard.statistics.figures import plural

_COLOURS = {
    Verdict.REGRESSION: "red",
    Verdict.IMPROVEMENT: "green",
    Verdict.CHANGE: "cyan",
    Verdict.CANNOT_TELL: "yellow",
}


def _percent(context: click.Context, parameter: click.Parameter, text: str) -> float:
    try:
        return parse_percent(text)
    except InputError as error:
        raise click.BadParameter(str(error), context, parameter) from error


@click.command("compare", cls=ReportingCommand)
@click.argument("baseline")
@click.argument("candidate", required=False)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    default=(DURATION,),
    show_default=True,
    help="Metric to compare; a glob, or all. May be given several times.",
)
@click.option(
    "--threshold",
    default="1%",
    show_default=True,
    callback=_percent,
    metavar="PERCENT",
    help="Smallest change that is called.",
)
@click.option(
    "--level",
    default="1%",
    show_default=True,
    callback=_percent,
    metavar="PERCENT",
    help="Chance of even one false call, over all comparisons together.",
)
@click.option("--include-suspect", is_flag=True, help="Take in what is marked suspect.")
@click.option("--force", is_flag=True, help="Compare what is not comparable.")
@click.option("--plan", "planning", is_flag=True, help="Tell how many runs are needed, and stop.")
@click.option(
    "--sensitivity",
    default="1%",
    show_default=True,
    callback=_percent,
    metavar="PERCENT",
    help="With --plan: the change to be shown.",
)
@comparison_reports
@json_option
def command(
    baseline: str,
    candidate: str | None,
    metrics: tuple[str, ...],
    threshold: float,
    level: float,
    sensitivity: float,
    *,
    include_suspect: bool,
    force: bool,
    planning: bool,
    as_json: bool,
    **given: Any,
) -> int:
    """Compare a candidate's runs with a baseline's.

    BASELINE and CANDIDATE are each the results of a case, a case, or a folder with several of
    these, paired by the cases' names. FOLDER@1-5,8 takes some of the runs; both sides may be the
    same folder then. One folder alone compares its newest campaign with the one before. Exits with
    3 if the candidate is worse, and with 2 if they are not comparable.
    """
    rule = Rule(metrics, threshold, level, include_suspect, force)
    report = Reports.taken_from(given, as_json=as_json)
    if not 0 < level < 1:
        raise click.UsageError("the level lies between 0% and 100%")
    if planning:
        if candidate is not None or report.junit or report.markdown:
            raise click.UsageError("--plan takes the BASELINE alone, and makes no reports")
        _plan(baseline, rule, sensitivity, as_json=as_json)
        return ExitCode.DONE
    sides = _sides(baseline, candidate)
    compared = compare(pair(*sides), rule)
    if candidate is None:
        baseline, candidate = f"{baseline} before", baseline
    if as_json:
        print_json(document(compared, baseline, candidate))
    elif not report.prints:
        _print(compared)
    report.of_comparison(compared, markdown(compared, baseline, candidate))
    return ExitCode.REGRESSION if compared.regressions else ExitCode.DONE


def _read(text: str) -> dict[str, RunSet]:
    return read_run_sets(parse_selection(text))


def _sides(baseline: str, candidate: str | None) -> tuple[dict[str, RunSet], dict[str, RunSet]]:
    """Return baseline and candidate; of one folder alone, its two newest campaigns."""
    if candidate is not None:
        return _read(baseline), _read(candidate)
    newest = _read(baseline)
    return read_before(newest), newest


def _plan(baseline: str, rule: Rule, sensitivity: float, *, as_json: bool) -> None:
    if not sensitivity:
        raise click.UsageError("no number of runs shows a change of 0%; ask for a larger one")
    made = make_plan(_read(baseline), rule, sensitivity)
    if as_json:
        print_json(plan_document(made, baseline))
        return
    print_table(plan_table(made))
    say()
    say(plan_summary(made), bold=True)


def _print(compared: Comparison) -> None:
    for pair_of_cases in compared.pairs:
        _print_pair(pair_of_cases)
    for side, titles in (
        ("baseline", compared.baseline_only),
        ("candidate", compared.candidate_only),
    ):
        for title in titles:
            say(f"{printable(title)}: in the {side} only, not compared", fg="yellow")
    if compared.rows:
        say()
        colours = [_COLOURS.get(row.verdict) for row in compared.rows]
        print_table(table(compared), colours)
        say()
    for note in notes(compared):
        say(note)
    worst = "red" if compared.regressions else None
    say(summary(compared), fg=worst, bold=True)


def _print_pair(pair_of_cases: CasePair) -> None:
    one, other = pair_of_cases.baseline, pair_of_cases.candidate
    say(
        styled(printable(pair_of_cases.title), bold=True),
        f"  baseline {_about(one)}, candidate {_about(other)}",
    )
    for weight, word, colour in (
        (Weight.MUST_MATCH, "not comparable", "red"),
        (Weight.WARNING, "warning", "yellow"),
        (Weight.CHANGE, "changed", "cyan"),
    ):
        for text in remarks(pair_of_cases, weight):
            say(styled(f"{word}: ", fg=colour), text)
    for finding in pair_of_cases.findings:
        say(finding.text, fg=_COLOURS.get(finding.verdict))


def _about(side: RunSet) -> str:
    return f"{shown(side.folder)} ({plural(len(side.records), 'run')})"
