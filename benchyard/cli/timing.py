"""``benchyard time``: which of some commands is faster, and by how much."""

import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from benchyard.cli.common import gathered, json_option
from benchyard.cli.creating import check_writable, save_case
from benchyard.cli.fields import Command, field_options
from benchyard.cli.option_types import (
    CommandT,
    InputFile,
    NamedPath,
    OutputFile,
    Percent,
    Read,
    Seconds,
    output_option,
)
from benchyard.cli.terminal import console, print_json, print_table, safe, say
from benchyard.core.errors import CommandFailedError, ExitCode, InputError
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
_NULL, _PIPE = "null", "pipe"


def _runs(text: str) -> tuple[int, int]:
    least, _, most = text.partition("..")
    try:
        found = int(least), int(most or least)
    except ValueError:
        found = (0, 0)
    if not 1 <= found[0] <= found[1] <= MOST:
        raise InputError(f"'{text}': write 20 or 10..50, at most {MOST:,}")
    return found


class _Stdout(OutputFile):
    """A file to write, or one of the words for what discards the output."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the file, or the word."""
        return value if value in (_NULL, _PIPE) else super().convert(value, param, ctx)


#: Ending of a file to its format; the first that fits holds.
_FORMATS = {".hyperfine.json": "hyperfine", ".json": "json", ".csv": "csv", ".md": "markdown"}


#: Headings of the options of ``time``.
_HEADINGS = {
    "Commands": ("names", "shell", "prepare", "setup", "cleanup", "parameters", "ranges"),
    "Input and output": ("input_", "stdout", "stderr", "show_output"),
    "How many executions": ("runs", "min_time", "max_time", "until", "warmup"),
    "Order and failures": ("seed", "timeout", "ignore_failure"),
    "When a difference is called": ("level", "threshold"),
    "Results": ("files", "save", "as_json"),
}


def _old_export_options(command: CommandT) -> CommandT:
    """Add the hidden options of the version before: each names a format and takes a file."""
    for name in _FORMATS.values():
        command = click.option(f"--export-{name}", type=OutputFile(), hidden=True)(command)
    return command


@click.command("time", cls=Command, headings=_HEADINGS)
@click.argument("lines", nargs=-1, required=True, metavar="COMMAND...")
@click.option(
    "--name", "names", multiple=True, metavar="NAME", help="Name of a command, in their order."
)
@click.option("--shell", is_flag=True, help="Let /bin/sh read the commands.")
@field_options(
    *(Surroundings, "prepare", "setup", "cleanup"),
    **{name: {"metavar": "COMMAND"} for name in ("prepare", "setup", "cleanup")},
)
@click.option(
    "--parameter",
    "parameters",
    multiple=True,
    type=Read(parse_parameter),
    metavar="NAME=1,2,4",
    help="Execute each command with each of these values in the place of {NAME}.",
)
@click.option(
    "--parameter-range",
    "ranges",
    nargs=2,
    multiple=True,
    metavar="NAME FIRST..LAST",
    help="The same with all numbers of a range; FIRST..LAST..STEP sets the step.",
)
@click.option("--input", "input_", type=InputFile(null=True), help="What each execution reads.")
@click.option(
    "--stdout",
    type=_Stdout(),
    metavar="FILE|null|pipe",
    help="File that each execution writes to, or where output is discarded.",
)
@click.option("--stderr", type=OutputFile(), help="File that each execution writes errors to.")
@click.option("--show-output", is_flag=True, help="Let the commands write to the terminal.")
@click.option("--runs", type=Read(_runs), metavar="N|N..M", help="How many executions of each.")
@field_options(
    *(Plan, "min_time", "max_time", "until", "level", "threshold"),
    min_time={"type": Seconds(0)},
    max_time={"type": Seconds(0.0, min_open=True)},
    threshold={"type": Percent(), "default": "1%"},
)
@field_options(
    *(Options, "warmup", "timeout", "ignore_failure", "seed"),
    timeout={"type": Seconds(0.0, 604_800, min_open=True)},
)
@output_option(
    *("files", ".json", ".csv", ".md"),
    multiple=True,
    help="Write everything as .json, a row for each execution as .csv, table and verdicts as .md, "
    "or hyperfine's form as .hyperfine.json; may be given several times.",
)
@_old_export_options
@click.option("--save", type=NamedPath(), help="Make a case of the commands, in a new folder.")
@json_option
@gathered("options", Options)
@gathered("around", Surroundings)
@gathered("plan", Plan)
def command(
    lines: tuple[str, ...],
    names: tuple[str, ...],
    plan: Plan,
    around: Surroundings,
    options: Options,
    parameters: tuple[tuple[str, list[str]], ...],
    ranges: tuple[tuple[str, str], ...],
    input_: Path | None,
    stdout: Output | str | None,
    stderr: Output | None,
    runs: tuple[int, int] | None,
    files: tuple[Path, ...],
    save: Path | None,
    *,
    shell: bool,
    show_output: bool,
    as_json: bool,
    **old_files: Path | None,
) -> int:
    """Time commands against each other, and rank them.

    Commands run in turns, in a random order, until each pair is told apart or known to 1 %, for a
    minute at most. No shell reads them, unless you give --shell.

    Example:
        benchyard time 'sort lines.txt' 'sort --reverse lines.txt' --runs 10
        benchyard time 'gzip -{level} -c lines.txt' --parameter level=1,9 --runs 10 -o gzip.csv
    """
    least, most = runs or (plan.minimum, plan.maximum)
    plan = replace(plan, minimum=least, maximum=most)
    if show_output and (stderr or stdout not in (None, _NULL)):
        raise click.UsageError("stdout goes to one place; --show-output shows stderr, too")
    output = None if isinstance(stdout, str) else stdout
    streams = CommandStreams(input_, output, stderr, show_output, stdout == _PIPE)
    commands = make_commands(lines, names, around, _points(parameters, ranges), in_shell=shell)
    if save is not None:
        check_writable(save)
    load = load_before()
    course = _execute(commands, streams, plan, options)
    said = warnings(course, load, plan.until)
    if as_json:
        print_json(exports.document(course, said))
    else:
        _print(course, said)
    _write_files(course, said, files, old_files)
    if save is not None:
        save_case(save, commands, input_)
    if course.failure:
        raise CommandFailedError(course.failure)
    return ExitCode.INTERRUPTED if course.why == INTERRUPTED else ExitCode.DONE


def _write_files(
    course: Course, said: Sequence[str], files: Sequence[Path], old: Mapping[str, Path | None]
) -> None:
    named = [(_format(file), file) for file in files]
    named += [(name.removeprefix("export_"), file) for name, file in old.items() if file]
    for name, file in named:
        write(file, exports.text_of(name, course, said))


def _format(file: Path) -> str:
    """Return the format of a file's ending, or JSON if it has none of them."""
    endings = (kind for end, kind in _FORMATS.items() if file.name.lower().endswith(end))
    return next(endings, "json")


def _points(
    parameters: Sequence[tuple[str, Sequence[str]]], ranges: Sequence[tuple[str, str]]
) -> Mapping[str, Sequence[str]]:
    points: dict[str, list[str]] = {}
    for name, values in (*parameters, *(parse_range(*one) for one in ranges)):
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
    medians = [
        duration(median([one.wall_s for one in done])) if done else "-"
        for done in course.executions
    ]
    width = max([10, *map(len, medians)])
    each = zip(course.commands, course.executions, medians, strict=True)
    lines = [
        f"{known:>{width}}  {len(done):>5} x  {shorten(one.name, _LONGEST_NAME, 2)}"
        for one, done, known in each
    ]
    said = exports.verdicts(course.ranking) if course.ranking else []
    return safe("\n".join([*lines, *said]))
