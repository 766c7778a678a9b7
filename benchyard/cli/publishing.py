"""``benchyard publish``: what waits is uploaded, and moved to the archive."""

import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from benchyard.cli.common import json_option
from benchyard.cli.fields import field_options
from benchyard.cli.option_types import NamedPath, OneOf
from benchyard.cli.terminal import console, print_json, print_table, say
from benchyard.core.errors import ExitCode
from benchyard.core.quantity import plural
from benchyard.core.table import text_table
from benchyard.core.wording import printable
from benchyard.publish import Compression, Manner, RetryPolicy
from benchyard.publish.outcome import (
    Begun,
    Confirmed,
    Elsewhere,
    Happening,
    Left,
    Listener,
    Published,
    Rejected,
    Retrying,
    problems,
    summary,
)
from benchyard.publish.routes import Backlog, backlog, routes
from benchyard.publish.service import finished_below, publish_all
from benchyard.publish.sinks import NAMES
from benchyard.run.interrupts import two_stage_ctrl_c


@click.command("publish")
@click.argument(
    "folders",
    nargs=-1,
    metavar="[FOLDER]...",
    type=NamedPath(exists=True, file_okay=False),
)
@click.option(
    "--datadir",
    type=NamedPath(),
    show_default="the lab's spool of the sink",
    help="Folder in which results wait, such as one that TensorFlow's tests write to.",
)
@click.option(
    "--archivedir",
    metavar="FOLDER|URL",
    show_default="the lab's archive of the sink",
    help="Where they go when the sink has confirmed them: a folder, or what fsspec reaches.",
)
@click.option(
    "--sink",
    "sinks",
    multiple=True,
    metavar="SINK",
    show_default="those for which something waits, or local",
    help=f"Where to publish: {', '.join(NAMES)}. May be given several times.",
)
@click.option(
    "--compress",
    type=OneOf(Compression),
    default=Compression.NONE.value,
    show_default="as they lie",
    help="How files are compressed on their way to the archive.",
)
@field_options(
    *(RetryPolicy, "retries"),
    retries={"help": "How often a sink that does not answer is asked again."},
)
@click.option("--force", "again", is_flag=True, help="Offer what was rejected again.")
@click.option("--dry-run", is_flag=True, help="Print what waits, and stop.")
@json_option
def command(
    folders: tuple[Path, ...],
    datadir: Path | None,
    archivedir: str | None,
    sinks: tuple[str, ...],
    compress: Compression,
    retries: int,
    *,
    again: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Upload waiting results, and move them to the archive.

    The oldest file goes first. Each stays in place until the sink has confirmed it; several
    publishers may work at once. What can never be published moves to the folder rejected beside it,
    with the reason; --force offers it again. Exits with 1 if something still waits or was rejected.

    A FOLDER, such as that of a case, adds all its finished runs that are not yet published, those
    of earlier campaigns included.

    Example:
        benchyard publish mine
    """
    if folders and (datadir or dry_run):
        raise click.UsageError("a FOLDER goes to the lab's own spools: no --datadir, no --dry-run")
    if again and dry_run:
        raise click.UsageError("--force moves what was rejected: no --dry-run")
    if archivedir == "":
        raise click.UsageError("--archivedir: an empty text names nothing; give a folder")
    wanted = routes(sinks, datadir, archivedir, compress, again=again)
    if dry_run:
        _print_backlog([backlog(one) for one in wanted], as_json=as_json)
        return ExitCode.DONE
    asked = threading.Event()
    with _display() as listener, two_stage_ctrl_c(asked.set):
        runs = [run for folder in folders for run in finished_below(folder)]
        outcomes = publish_all(
            wanted, Manner(RetryPolicy(retries), listener, asked), runs, again=again
        )
    if as_json:
        print_json({"sinks": [outcome.to_json() for outcome in outcomes]})
    else:
        for text in (text for outcome in outcomes for text in problems(outcome)):
            say(text, fg="red", err=True)
        say("\n".join(map(summary, outcomes)))
    if any(outcome.interrupted for outcome in outcomes):
        return ExitCode.INTERRUPTED
    clean = all(outcome.is_clean for outcome in outcomes)
    return ExitCode.DONE if clean else ExitCode.CASE_FAILED


def _print_backlog(found: Sequence[Backlog], *, as_json: bool) -> None:
    if as_json:
        print_json({"sinks": [one.to_json() for one in found]})
        return
    rows = [
        (one.route.sink, waiting.name, f"{waiting.size:,}")
        for one in found
        for waiting in one.listing.waiting
    ]
    if rows:
        print_table(text_table(("SINK", "WAITS", "BYTES"), rows, ("BYTES",)))
        say()
    for one in found:
        say(
            f"{one.route.sink}: {plural(len(one.listing.waiting), 'document')} would go "
            f"from {one.route.spool} to {one.archive}"
        )


def _retrying(told: Retrying) -> str:
    return printable(f"{told.name}: {told.reason}; again in {told.seconds:.1f} s")


@contextmanager
def _display() -> Generator[Listener]:
    """Show how far it is on a terminal; elsewhere say what is tried again."""
    if not sys.stderr.isatty():
        yield lambda told: say(_retrying(told), err=True) if isinstance(told, Retrying) else None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415

    progress = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        console=console(),
        transient=True,
    )
    task = progress.add_task("", total=None)

    def show(happening: Happening) -> None:
        match happening:
            case Begun(sink, files):
                progress.reset(task, total=files, description=printable(sink))
            case Retrying():
                progress.console.print(_retrying(happening))
            case Published() | Rejected() | Left() | Elsewhere() | Confirmed():
                progress.advance(task)

    with progress:
        yield show
