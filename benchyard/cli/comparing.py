"""``benchyard compare``: sides against a reference, or how many runs that would take."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial, wraps
from typing import Any, cast

import click

from benchyard.analysis.comparison.document import comparison_csv, document, markdown
from benchyard.analysis.comparison.gate import unjudged
from benchyard.analysis.comparison.request import (
    Answer,
    ComparisonRequest,
    answer,
    parse_step_pairs,
    told_findings,
    told_remarks,
    told_unpaired,
)
from benchyard.analysis.comparison.rows import Comparison, Rule
from benchyard.analysis.comparison.run_sets import RunSet, results_below
from benchyard.analysis.comparison.sample_size import (
    make_plan,
    plan_document,
    plan_summary,
    plan_table,
)
from benchyard.analysis.comparison.sides import Places, Side, means_several, read_sides
from benchyard.analysis.comparison.tables import MARKS, table
from benchyard.analysis.comparison.wording import (
    lacks_suspect,
    session_notes,
    summary,
    uncounted,
    untold,
)
from benchyard.cli.ci import ReportingCommand, Reports, comparison_reports, exit_code, strict_option
from benchyard.cli.common import (
    CommandT,
    combined,
    gathered,
    json_option,
    open_file,
    results_option,
    root_option,
    session_sd_option,
    suspect_option,
)
from benchyard.cli.fields import field_options
from benchyard.cli.option_types import Percent, stdout_flag
from benchyard.cli.terminal import COLOURS, print_json, print_table, say, styled
from benchyard.core.errors import ExitCode, InputError
from benchyard.core.files import shown
from benchyard.core.quantity import plural
from benchyard.core.wording import printable
from benchyard.results.trust import Suspect

_OPTIONS = combined(
    field_options(
        Rule,
        *("metrics", "steps", "threshold", "level"),
        threshold={"type": Percent(), "default": "1%"},
    ),
    session_sd_option,
    field_options(Rule, "in_turns"),
    suspect_option,
    results_option,
    root_option,
    gathered("rule", Rule),
    gathered("places", Places),
)
#: Headings of the options of ``compare``.
_HEADINGS = {
    "What is compared": ("metrics", "steps", "reference", "against", "pairs", "root", "results"),
    "When a change is called": ("threshold", "level", "session_sd", "in_turns", "suspect"),
    "How many runs it takes": ("planning", "sensitivity"),
    "CI": ("strict", "junit", "markdown", "ci"),
    "Results": ("sort", "as_csv", "as_json"),
}


def comparison_rule(command: CommandT) -> CommandT:
    """Add the options of a comparison, which become the arguments ``rule`` and ``places``."""

    @wraps(command)
    def call(*, rule: Rule, places: Places, **given: Any) -> object:
        others = partial(results_below, places.root, places.results)
        rule = replace(rule, other_work=True, other_results=others)
        return command(rule=rule, places=replace(places, open_file=open_file), **given)

    return _OPTIONS(cast("CommandT", call))


def _step_pairs(_: click.Context, __: click.Parameter, texts: Sequence[str]) -> dict[str, str]:
    return parse_step_pairs(texts)


@click.command("compare", cls=ReportingCommand, headings=_HEADINGS)
@click.argument("sides", nargs=-1, required=True, metavar="BASELINE [CANDIDATE]...")
@comparison_rule
@field_options(
    *(ComparisonRequest, "reference", "against", "pairs", "sort"),
    reference={"metavar": "SIDE"},
    pairs={"multiple": True, "metavar": "ID=ID", "callback": _step_pairs},
)
@click.option(
    "--dry-run",
    "planning",
    is_flag=True,
    help="Print how many runs BASELINE needs to show a change, and stop.",
)
@click.option(
    "--sensitivity",
    default="1%",
    show_default=True,
    type=Percent(),
    help="Smallest change that --dry-run plans for.",
)
@strict_option
@comparison_reports
@stdout_flag("--csv", "as_csv", "CSV, a line for each comparison.")
@json_option
@gathered("asked", ComparisonRequest)
@gathered("report", Reports)
def command(
    sides: tuple[str, ...],
    places: Places,
    asked: ComparisonRequest,
    report: Reports,
    sensitivity: float,
    *,
    planning: bool,
    as_csv: bool,
    as_json: bool,
) -> int:
    """Compare candidates with a baseline, and judge each difference.

    Each side is PLACE[POINT]@RUNS:STEP; only PLACE is required. PLACE is the results of a case, a
    case by its folder or name, a folder with several of these, a report, a pack, or a file of
    benchyard time or of another tool. POINT is such as threads=4, RUNS such as 1-5,8, STEP an id.
    With * or ?, each match is one side: 'words[threads=*]', 'words:*'. A single case compares its
    newest campaign with the one before.

    Exits with 3 if a candidate is worse at the same work, with 2 if nothing is comparable, and with
    --strict with 5 if nothing can be judged, or a step or metric is missing.

    Example:
        benchyard compare 'mine[threads=1]' 'mine[threads=2]'
    """
    found = read_sides(sides, places)
    if planning:
        if len(found) != 1 or as_csv or report.junit or report.markdown:
            text = "--dry-run takes the BASELINE alone, without * and ?, and no --markdown or --csv"
            raise click.UsageError(text)
        _plan(found[0], asked.rule, sensitivity, as_json=as_json)
        return ExitCode.DONE
    if len(found) == 1 and means_several(sides[0]):
        raise InputError(f"{sides[0]!r} means {found[0].whole} alone; name what to compare it with")
    made = answer(found, asked)
    if not report.prints:
        _show(made.comparison, made.names, as_json=as_json, as_csv=as_csv)
    return conclude(made, report)


def conclude(made: Answer, report: Reports) -> int:
    """Write the reports of a comparison that was shown, and return the exit code."""
    report.of_comparison(made.comparison, markdown(made.comparison, *made.names))
    worse, strict = made.comparison.regressions > 0, made.comparison.rule.strict
    return exit_code(worse=worse, unjudged=unjudged(made.comparison), strict=strict)


def _plan(side: Side, rule: Rule, sensitivity: float, *, as_json: bool) -> None:
    if not sensitivity:
        raise click.UsageError("no number of runs shows a change of 0%; ask for a larger one")
    made = make_plan(side.cases, rule, sensitivity)
    if as_json:
        print_json(plan_document(made, side.name))
        return
    print_table(plan_table(made))
    say()
    say(plan_summary(made), bold=True)


def _show(compared: Comparison, names: Sequence[str], *, as_json: bool, as_csv: bool) -> None:
    if as_json:
        print_json(document(compared, names))
    elif as_csv:
        say(comparison_csv(compared), end="")
    else:
        print_comparison(compared)


def print_comparison(compared: Comparison) -> None:
    """Print what differs, and what can be told of it, for people."""
    pairs = compared.pairs
    if len(compared.side_pairs) > 1:
        sides = [(one.baseline_side, _about(one.baseline)) for one in pairs]
        sides += [(one.candidate_side, _about(one.candidate)) for one in pairs]
        _print_about(compared, dict.fromkeys(sides))
    else:
        for pair in pairs:
            both = f"baseline {_about(pair.baseline)}, candidate {_about(pair.candidate)}"
            _print_about(replace(compared, pairs=(pair,)), [(pair.title, both)])
    for text in told_unpaired(compared):
        say(printable(text), fg="yellow")
    for why in untold(compared):
        say(why, fg="yellow")
    if lacks_suspect(compared):
        say(f"--suspect {Suspect.AUTO} counts what is suspect", fg="yellow")
    if compared.rows:
        say()
        print_table(table(compared))
        say()
    for note in (*session_notes(compared), *uncounted(compared)):
        say(note)
    worst = "red" if compared.regressions else None
    say(summary(compared), fg=worst, bold=True)


_REMARKS = {"notice": "cyan", "warning": "yellow", "changed": "cyan"}


def _print_about(compared: Comparison, heads: Iterable[tuple[str, str]]) -> None:
    """Print what is compared, by name, and what differs beside numbers."""
    for name, about in heads:
        say(styled(printable(name), bold=True), f"  {about}")
    for word, text in told_remarks(compared, ", ".join):
        say(styled(f"{word}: ", fg=_REMARKS[word]), printable(text))
    for verdict, text in told_findings(compared):
        say(printable(text), fg=COLOURS.get(MARKS.get(verdict, "")))


def _about(side: RunSet) -> str:
    return f"{shown(side.folder)} ({plural(len(side.records), 'run')})"
