"""``benchyard time``: which of some commands is faster, and by how much."""

import json
import secrets
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import click

from benchyard.cli.common import json_option
from benchyard.cli.creating import check_writable, save_case
from benchyard.cli.fields import field_options
from benchyard.cli.option_types import InputFile, NamedPath, OutputFile, Percent, Seconds, Whole
from benchyard.cli.terminal import console, print_json, print_table, safe, say
from benchyard.core.errors import CommandFailedError, ExitCode
from benchyard.core.outputs import Output, write
from benchyard.core.quantity import duration, plural, shorten
from benchyard.statistics.measures import median
from benchyard.timing import exports
from benchyard.timing.commands import (
    Surroundings,
    TimedCommand,
    make_commands,
    parse_parameter,
    parse_range,
)
from benchyard.timing.course import INTERRUPTED, Course, Options, Watcher, execute
from benchyard.timing.execution import CommandStreams, executor
from benchyard.timing.exports import load_before, warnings
from benchyard.timing.ranking import MOST, Plan, cannot_tell

#: Seconds between two pictures; drawing takes a CPU that the commands are to have.
_EVERY_S = 0.5
_LONGEST_NAME = 48


def _runs(
    context: click.Context, parameter: click.Parameter, text: str | None
) -> tuple[int, int] | None:
    if text is None:
        return None
    least, _, most = text.partition("..")
    try:
        found = int(least), int(most or least)
    except ValueError:
        found = (0, 0)
    if not 1 <= found[0] <= found[1] <= MOST:
        raise click.BadParameter(
            f"'{text}': write 20 or 10..50, at most {MOST:,}", context, parameter
        )
    return found


@click.command("time")
@click.argument("lines", nargs=-1, required=True, metavar="COMMAND...")
@click.option("--name", "names", multiple=True, help="Name of a command, in their order.")
@click.option("--shell", is_flag=True, help="Let /bin/sh read the commands.")
@click.option("--warmup", type=Whole(0, 1000), default=0, help="Unmeasured executions.")
@click.option("--prepare", multiple=True, help="Executed before each execution, unmeasured.")
@click.option("--setup", default="", help="Executed once before a command's first execution.")
@click.option("--cleanup", default="", help="Executed once after a command's last execution.")
@click.option("--parameter", "parameters", multiple=True, metavar="NAME=1,2,4")
@click.option("--parameter-range", "ranges", nargs=2, multiple=True, metavar="NAME FIRST..LAST")
@click.option("--input", "input_", type=InputFile(null=True), help="What each execution reads.")
@click.option("--output", type=OutputFile(), help="File that each execution writes to.")
@click.option("--stdout", type=click.Choice(["null", "pipe"]), help="Where output is discarded.")
@click.option("--stderr", type=OutputFile(), help="File that each execution writes errors to.")
@click.option("--show-output", is_flag=True, help="Let the commands write to the terminal.")
@click.option("--timeout", type=Seconds(0.0, 604_800, min_open=True), help="Most seconds of each.")
@click.option("--runs", callback=_runs, metavar="N|N..M", help="How many executions of each.")
@click.option(
    "--min-time", "min_s", type=Seconds(0), default=0.0, help="Seconds of each, at least."
)
@click.option(
    "--max-time",
    "max_s",
    type=Seconds(0.0, min_open=True),
    default=60.0,
    show_default=True,
    help="Seconds after which no further round begins.",
)
@field_options(Plan, "until", "level", "threshold", threshold={"type": Percent(), "default": "1%"})
@field_options(Options, "ignore_failure")
@click.option("--seed", type=Whole(), help="Of the random order; the same seed, the same order.")
@click.option("--export-json", type=OutputFile(), help="Write everything as JSON.")
@click.option("--export-csv", type=OutputFile(), help="Write a row for each execution.")
@click.option("--export-markdown", type=OutputFile(), help="Write table and verdicts.")
@click.option("--export-hyperfine", type=OutputFile(), help="Write JSON in hyperfine's form.")
@click.option("--save", type=NamedPath(), help="Make a case of the commands, in a new folder.")
@json_option
def command(
    lines: tuple[str, ...],
    names: tuple[str, ...],
    setup: str,
    cleanup: str,
    prepare: tuple[str, ...],
    parameters: tuple[str, ...],
    ranges: tuple[tuple[str, str], ...],
    input_: Path | None,
    output: Output | None,
    stdout: str | None,
    stderr: Output | None,
    timeout: float | None,
    runs: tuple[int, int] | None,
    seed: int | None,
    export_json: Path | None,
    export_csv: Path | None,
    export_markdown: Path | None,
    export_hyperfine: Path | None,
    save: Path | None,
    warmup: int,
    *,
    shell: bool,
    show_output: bool,
    ignore_failure: bool,
    as_json: bool,
    **figures: float,
) -> int:
    """Time commands against each other, and rank them.

    They are executed in turns, in a random order, until each two are told apart or their
    difference is known to 1 %; at most for a minute. No shell reads them, unless --shell is given.
    """
    plan = replace(Plan(*(runs or ())), **figures)
    streams = _streams(input_, output, stderr, show=show_output, pipe=stdout == "pipe")
    commands = make_commands(
        lines,
        names,
        Surroundings(setup, prepare, cleanup),
        _points(parameters, ranges),
        in_shell=shell,
    )
    if save is not None:
        check_writable(save)
    load = load_before()
    seed = secrets.randbits(32) if seed is None else seed
    options = Options(warmup, ignore_failure, seed, timeout)
    course = _execute(commands, streams, plan, options)
    said = warnings(course, load, plan.until)
    if as_json:
        print_json(exports.document(course, said))
    else:
        _print(course, said)
    _export(course, said, export_json, export_csv, export_markdown, export_hyperfine)
    if save is not None:
        save_case(save, commands, input_)
    if course.failure:
        raise CommandFailedError(course.failure)
    return ExitCode.INTERRUPTED if course.why == INTERRUPTED else ExitCode.DONE


def _streams(
    input_: Path | None, output: Output | None, errors: Output | None, *, show: bool, pipe: bool
) -> CommandStreams:
    if bool(output) + show + pipe > 1 or (errors and show):
        raise click.UsageError("stdout goes to one place; --show-output shows stderr, too")
    return CommandStreams(input_, output, errors, show, pipe)


def _points(
    parameters: Sequence[str], ranges: Sequence[tuple[str, str]]
) -> Mapping[str, Sequence[str]]:
    points: dict[str, list[str]] = {}
    read = [parse_range(name, text) for name, text in ranges]
    for name, values in (*map(parse_parameter, parameters), *read):
        points.setdefault(name, []).extend(values)
    return points


def _execute(
    commands: Sequence[TimedCommand], streams: CommandStreams, plan: Plan, options: Options
) -> Course:
    hopeless = cannot_tell(plan, len(commands))
    if hopeless:
        say(f"warning: {hopeless}", fg="yellow", err=True)
    with ExitStack() as stack:
        running = stack.enter_context(executor(streams))
        watch = stack.enter_context(progress(quiet=streams.show))
        return execute(commands, running, plan, options, watch)


def _export(course: Course, said: Sequence[str], *files: Path | None) -> None:
    made: Sequence[Callable[[], str]] = (
        lambda: json.dumps(exports.document(course, said), indent=1) + "\n",
        lambda: exports.table_of_executions(course),
        lambda: exports.markdown(course, said),
        lambda: json.dumps(exports.hyperfine(course), indent=1) + "\n",
    )
    for file, content in zip(files, made, strict=True):
        if file is not None:
            write(file, content().encode())


def _print(course: Course, said: Sequence[str]) -> None:
    print_table(exports.table(course))
    say()
    if course.ranking:
        for text in exports.verdicts(course.ranking):
            say(text, bold=True)
    say(f"{plural(course.rounds, 'execution')} of each; stopped: {course.why}", dim=True)
    for text in said:
        say(f"warning: {text}", fg="yellow", err=True)


# -- while it is executing


@contextmanager
def progress(*, quiet: bool) -> Generator[Watcher]:
    """Show the running estimates on a terminal; elsewhere nothing.

    Args:
        quiet: Whether the commands themselves write to the terminal.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.live import Live  # noqa: PLC0415 - 60 ms that only a terminal needs

    with Live(console=console(), transient=True, auto_refresh=False) as live:
        shown = 0.0

        def watch(course: Course) -> None:
            nonlocal shown
            if time.monotonic() - shown >= _EVERY_S:
                live.update(picture(course), refresh=True)
                shown = time.monotonic()

        yield watch


def picture(course: Course) -> str:
    """Return a line for each command, and what the last look said."""
    lines = [
        f"{_median(course, at):>10}  {len(done):>5} x  {shorten(one.name, _LONGEST_NAME, 2)}"
        for at, (one, done) in enumerate(zip(course.commands, course.executions, strict=True))
    ]
    said = exports.verdicts(course.ranking) if course.ranking else []
    return safe("\n".join([*lines, *said]))


def _median(course: Course, at: int) -> str:
    done = course.executions[at]
    return duration(median([one.wall_s for one in done])) if done else "-"
