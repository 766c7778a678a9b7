"""``benchyard suite``: execute many cases, here or on the testbeds of a lab."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click

import resources
from benchyard.analysis.regressions import check_baseline
from benchyard.cli.alarms import print_alarms
from benchyard.cli.ci import ReportingCommand, Reports, exit_code_after_runs
from benchyard.cli.common import Selection, gathered
from benchyard.cli.display import make_display
from benchyard.cli.option_types import Read
from benchyard.cli.options import HEADINGS, execution_options, request_fields
from benchyard.cli.outcome import read_document
from benchyard.cli.terminal import print_json, print_table, say
from benchyard.core.amounts import parse_length
from benchyard.core.errors import ExitCode, InputError, RunInterruptedError
from benchyard.core.files import shown
from benchyard.core.model import Json, JsonObject
from benchyard.core.quantity import duration
from benchyard.core.table import text_table
from benchyard.core.wording import in_short
from benchyard.lab import server
from benchyard.publish.service import check_sinks
from benchyard.run.progress import listening
from benchyard.suite.foreseeing import foresee
from benchyard.suite.plan import SuitePlan, make_suite_plan
from benchyard.suite.request import SuiteRequest


@click.command("suite", cls=ReportingCommand, headings=HEADINGS)
@execution_options(
    SuiteRequest,
    *("runs", "order", "seed", "budget", "changed", "stale", "pool", "no_control"),
    "false_per_month",
    budget={
        "type": Read(lambda text: parse_length(text) / timedelta(hours=1)),
        "metavar": "LENGTH",
    },
    stale={"type": Read(lambda text: parse_length(text) / timedelta(days=1)), "metavar": "LENGTH"},
)
@click.option("--dry-run", is_flag=True, help="Print what would be executed and why, and stop.")
@gathered("places", Selection)
@gathered("report", Reports)
def command(
    places: Selection,
    report: Reports,
    *,
    as_json: bool,
    dry_run: bool,
    verbose: bool,
    **given: Any,
) -> int:
    """Execute many cases as one flow run: changed or stale ones, within a budget, on many testbeds.

    CASE is a folder with cases below it, a name, or a glob over names, with [name=value] for one
    point of a matrix; without CASE, all below --root. Cases that are invalid, fail, or fit no
    testbed are listed at the end; all others are executed.

    Example:
        benchyard suite --changed --budget 8h --dry-run
        benchyard suite mine --runs 8
    """
    report.check(given["baseline"])
    fields = request_fields(places, **given, elsewhere=given["pool"] is not None)
    request = SuiteRequest(tuple(places.cases), tuple(places.tags), **fields)
    request.check()
    check_sinks(request.publish)
    if not request.pool:  # else it lies where the suite is executed
        check_baseline(request.baseline)
    if dry_run:
        registry = resources.find(places.resource_folders)
        plan = make_suite_plan(request, registry, datetime.now(UTC))
        # A baseline of testbeds lies where they are.
        said = [] if request.pool else foresee(plan, request)
        _print_plan(plan, request.cooldown, said, as_json=as_json)
        return ExitCode.DONE
    return _execute(request, report, as_json=as_json, verbose=verbose)


# -- executing


def _execute(request: SuiteRequest, report: Reports, *, as_json: bool, verbose: bool) -> int:
    if request.pool is not None and server.address() is None:
        raise InputError(
            f"--pool {request.pool} needs the server of a lab: set PREFECT_API_URL, or start a lab "
            "with benchyard up"
        )
    answering = server.connect()
    from benchyard.lab import through_prefect  # noqa: PLC0415 - after the server began to start

    answering.wait_until_ready()
    display = make_display(runs=0, verbose=verbose, terminal=False)
    with display, listening(display.hear):
        state, file = through_prefect.execute_many(request, answering)
    document = read_document(file, "the suite's flow run writes it")
    if document:
        report.of_suite(document, here=request.pool is None)
        if not report.prints:
            _print_summary(document, file, as_json=as_json)
    if state.is_cancelled():
        raise RunInterruptedError(f"{state.message}; the same command goes on where it ended")
    state.result()
    alarms = document.get("alarms") or {"suspicions": ()}
    lines = document.get("cases", ())
    worse = [one["text"] for line in lines for one in line["regressions"]]
    worse += [one["text"] for one in alarms["suspicions"] if one["alarm"]]
    unjudged = [text for line in lines for text in line["unjudged"]]
    if request.baseline is not None and not any(line["against"] for line in lines):
        unjudged = unjudged or ["nothing was compared with the baseline"]
    return exit_code_after_runs(worse, unjudged, strict=report.strict)


def _print_summary(document: dict[str, Any], file: Path, *, as_json: bool) -> None:
    if as_json:
        print_json(document)
        return
    heads = ("CASE", "DONE", "FAILED", "LEFT OUT", "TIME", "WHY")
    print_table(text_table(heads, _rows(document)))
    seed = "" if document["seed"] is None else f", in random order with seed {document['seed']}"
    say(f"\n{document['sentence']}{seed}\nall of it: {shown(file)}")
    if document["alarms"]:
        print_alarms(document["alarms"])


def _rows(document: dict[str, Any]) -> list[tuple[str, ...]]:
    return [
        (
            line["case"],
            *(str(line[f"runs_{name}"] or "-") for name in ("done", "failed", "left_out")),
            duration(line["seconds"]) if line["seconds"] else "-",
            line["why"],
        )
        for line in document["cases"]
    ]


# -- planning


def _print_plan(
    plan: SuitePlan, cooldown: float | None, said: Sequence[str], *, as_json: bool
) -> None:
    if as_json:
        print_json({**_plan(plan, cooldown), "notes": list[Json](said)})
        return
    for text in said:
        say(text, err=True)
    rows = list[tuple[str, ...]]()
    for number, turn in enumerate(plan.turns, 1):
        entry = plan.entries[turn.case]
        about = duration(entry.expected_seconds(len(turn.runs), cooldown))
        rows.append((str(number), entry.title, in_short(turn.runs), about))
    print_table(text_table(("", "CASE", "RUNS", "ABOUT"), rows, right=("",)))
    say()
    reasons = [(e.title, "execute" if e.runs else "leave out", e.why) for e in plan.entries]
    print_table(text_table(("CASE", "DECISION", "WHY"), reasons))
    if plan.seed is not None:
        say(f"\nrandom order with seed {plan.seed}")


def _plan(plan: SuitePlan, cooldown: float | None) -> JsonObject:
    entries: list[Json] = [
        {
            "case": entry.title,
            "runs": list[Json](entry.runs),
            "why": entry.why,
            "seconds_of_a_run": entry.seconds,
            "expected_seconds": entry.expected_seconds(len(entry.runs), cooldown),
            "problems": list[Json](entry.problems),
        }
        for entry in plan.entries
    ]
    turns: list[Json] = [
        {"case": plan.entries[turn.case].title, "runs": list[Json](turn.runs)}
        for turn in plan.turns
    ]
    return {"seed": plan.seed, "cases": entries, "turns": turns}
