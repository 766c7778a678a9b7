"""``benchyard trace``: runs, and traces of others, as one timeline."""

import os
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path

import click

from benchyard.cli.option_types import SourceName, output_option
from benchyard.cli.terminal import say
from benchyard.cli.trace_sources import (
    CasePlaces,
    TraceSelection,
    sample_type_option,
    sources_of,
    where_options,
)
from benchyard.core.errors import InputError
from benchyard.core.outputs import failed
from benchyard.process.files import temporary_folder
from benchyard.show.traces.timeline import timeline_drawing
from benchyard.show.traces.viewer import PATIENCE_MINUTES, serve_once, viewer_folder
from benchyard.traces.chrome.writing import write_chrome
from benchyard.traces.model import Trace
from benchyard.traces.nesting import arranged
from benchyard.traces.sources import side_by_side

_PICTURES = (".png", ".svg")


@click.command("trace")
@click.argument("sources", nargs=-1, required=True, type=SourceName())
@output_option(
    *("out", ".json", ".gz", ".trace", *_PICTURES),
    help="File to write: .json, .json.gz or .trace for Perfetto and Chrome, .png or .svg.",
)
@click.option("--open", "opening", is_flag=True, help="Open it in Perfetto, without the network.")
@sample_type_option
@where_options
def command(
    sources: tuple[str, ...],
    out: Path | None,
    where: CasePlaces,
    *,
    opening: bool,
) -> None:
    """Make a timeline of runs: steps, attempts and repetitions, and what the host did meanwhile.

    SOURCES are cases, folders with results, folders of runs, and traces or profiles in a file
    (Chrome's, Speedscope's, pprof's, collapsed stacks, Scanner's jobs). Several stand side by
    side and begin together.
    """
    if not (out or opening):
        raise click.UsageError("say where the trace goes: -o FILE, or --open")
    if opening:
        viewer_folder()  # what is missing is told before long work
    trace = _loaded(sources_of(sources, where))
    if out:
        _write(trace, out)
    if out and not failed(out):
        say(
            f"{len(trace.slices):,} slices on {len(trace.tracks):,} tracks, "
            f"{len(trace.counters):,} counters, {len(trace.instants):,} instants: {out}"
        )
    for loss in trace.losses:
        say(f"warning: {loss}", err=True)
    if opening:
        _open(trace, out)


def _loaded(sources: Sequence[TraceSelection]) -> Trace:
    traces = [source.load().as_time() for source in sources]
    together = side_by_side(traces, [one.title for one in sources]) if len(traces) > 1 else None
    return arranged(together or traces[0])


def _write(trace: Trace, file: Path) -> None:
    if file.suffix.lower() in _PICTURES:
        timeline_drawing(trace).write(file)
    elif file.suffix.lower() == ".gz" and not file.name.lower().endswith((".json.gz", ".trace.gz")):
        raise InputError(f"{file}: it must end in .json, .json.gz, .trace, .png or .svg")
    else:
        write_chrome(trace, file)


def _open(trace: Trace, out: Path | None) -> None:
    with temporary_folder() as folder:
        file = folder / "trace.json.gz"
        if out and out.is_file() and out.suffix.lower() not in _PICTURES:
            file = out
        else:
            write_chrome(trace, file)
        serve_once(file, _tell)


def _tell(url: str) -> None:
    ends = f"a browser has taken it, after {PATIENCE_MINUTES:g} minutes without one, or at Ctrl-C"
    say(f"Perfetto shows the trace at {url}; this ends once {ends}")
    if sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(url)
