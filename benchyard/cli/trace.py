"""``benchyard trace``: runs, and traces of others, as one timeline; the sources of such."""

import os
import sys
import webbrowser
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

import resources
from benchyard.case.loading import one_case
from benchyard.cli.common import (
    Selection,
    combined,
    gathered,
    json_option,
    resources_option,
    results_option,
    root_option,
)
from benchyard.cli.option_types import SourceName, Whole, output_option
from benchyard.cli.outcome import read_summary
from benchyard.cli.terminal import print_json, say
from benchyard.core.errors import InputError
from benchyard.core.files import shown
from benchyard.core.outputs import failed
from benchyard.process.files import temporary_folder
from benchyard.results.folders import RUN_FILE, Results
from benchyard.show.curves.panels import run_to_draw
from benchyard.show.traces.timeline import timeline_drawing
from benchyard.show.traces.viewer import PATIENCE_MINUTES, serve_once, viewer_folder
from benchyard.traces.chrome.writing import write_chrome
from benchyard.traces.model import Trace
from benchyard.traces.nesting import arranged
from benchyard.traces.sources import read_trace, side_by_side, trace_with_profiles


@dataclass(frozen=True, slots=True)
class TraceSelection:
    """One trace to be read.

    Args:
        title: What it is, for people.
        load: Reads it.
        run: The folder of the run that it is of; none for a file of others.
    """

    title: str
    load: Callable[[], Trace]
    run: Path | None = None


@dataclass(frozen=True, slots=True)
class CasePlaces(Selection):
    """Where cases and their results are looked for.

    Args:
        run: The run wanted of each case; none for the median one.
        sample_type: What to read of profiles that hold several things.
    """

    run: int | None = None
    sample_type: str = ""


#: The options of ``CasePlaces``, which is handed over as ``where``.
where_options = combined(
    click.option(
        "--run",
        type=Whole(1),
        help="Which run of a case; without it the median one, else the last that is done.",
    ),
    *(root_option, resources_option, results_option, gathered("where", CasePlaces)),
)


sample_type_option = click.option(
    "--type",
    "sample_type",
    default="",
    metavar="TYPE",
    help="Which values of a profile: a sample type of pprof, a unit of Speedscope, an event.",
)


def sources_of(
    wanted: Sequence[str], where: CasePlaces, *, every_run: bool = False
) -> list[TraceSelection]:
    """Return the traces that are to be read, in the order of the arguments.

    Args:
        wanted: Cases, folders with results, folders of runs, files.
        where: Where cases are looked for.
        every_run: Whether a case stands for all its runs that are done.

    Raises:
        InputError: If a case, folder, file or run does not exist.
    """
    return [source for one in wanted for source in _found(one, where, every_run=every_run)]


def _found(wanted: str, where: CasePlaces, *, every_run: bool) -> list[TraceSelection]:
    place = Path(wanted)
    if (place / RUN_FILE).is_file():
        return [_of_run(place)]
    if place.is_dir() and Results(place).runs():
        return _of_results(place, where, every_run=every_run)
    if place.is_file() or any(place.glob("profile_*.bin")):
        return [TraceSelection(str(place), partial(read_trace, place, where.sample_type))]
    case = one_case(where.root, wanted, resources.find(where.resource_folders))
    folder = where.results_of(case)
    return _of_results(folder, where, every_run=every_run, title=case.title)


def _of_run(folder: Path, title: str | None = None) -> TraceSelection:
    return TraceSelection(title or shown(folder), partial(trace_with_profiles, folder), folder)


def _of_results(
    folder: Path, where: CasePlaces, *, every_run: bool, title: str | None = None
) -> list[TraceSelection]:
    runs = Results(folder)
    if every_run and where.run is None:
        wanted = [*runs.done()]
    else:
        wanted = [where.run or run_to_draw(folder, read_summary(folder))]
    numbers = [number for number in wanted if number]
    if not numbers:
        raise InputError(f"there is no run in {shown(folder)} yet; benchyard run makes them")
    for number in numbers:
        if not runs.run(number).path.is_dir():
            raise InputError(f"there is no run {number} in {shown(folder)}")
    base = title or shown(folder)
    return [_of_run(runs.run(number).path, f"{base}, run {number}") for number in numbers]


_PICTURES = (".png", ".svg")
_COUNTED = ("slices", "tracks", "counters", "instants")


@click.command("trace")
@click.argument("sources", nargs=-1, required=True, type=SourceName(), metavar="SOURCE...")
@output_option(
    *("out", ".json", ".gz", ".trace", *_PICTURES),
    help="File to write: .json, .json.gz or .trace for Perfetto and Chrome, .png or .svg.",
)
@click.option("--open", "opening", is_flag=True, help="Open it in Perfetto, without the network.")
@json_option
@sample_type_option
@where_options
def command(
    sources: tuple[str, ...], out: Path | None, where: CasePlaces, *, opening: bool, as_json: bool
) -> None:
    """Write a timeline of runs, or of traces of other tools.

    SOURCE is a case, a folder with results, the folder of a run, or a file with a trace or profile
    (Chrome, Speedscope, pprof, perf script, Scanner's jobs and others). Several are shown side by
    side and begin together.

    Example:
        benchyard trace 'mine[threads=1]' -o mine.trace.json
    """
    if not (out or opening):
        raise click.UsageError("say where the trace goes: -o FILE, or --open")
    if opening:
        viewer_folder()  # what is missing is told before long work
    trace = _loaded(sources_of(sources, where))
    if out:
        _write(trace, out)
    written = out if out and not failed(out) else None
    counts = {what: len(getattr(trace, what)) for what in _COUNTED}
    if as_json:
        file = str(written) if written else None
        print_json({"file": file, **counts, "warnings": [*map(str, trace.losses)]})
    elif written:
        slices, tracks, *others = (f"{count:,} {what}" for what, count in counts.items())
        say(f"{slices} on {', '.join([tracks, *others])}: {written}")
    for loss in trace.losses:
        say(f"warning: {loss}", err=True)
    if opening:
        _open(trace, out, partial(_tell, err=as_json))


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


def _open(trace: Trace, out: Path | None, tell: Callable[[str], None]) -> None:
    with temporary_folder() as folder:
        file = folder / "trace.json.gz"
        if out and out.is_file() and out.suffix.lower() not in _PICTURES:
            file = out
        else:
            write_chrome(trace, file)
        serve_once(file, tell)


def _tell(url: str, *, err: bool) -> None:
    ends = f"a browser has taken it, after {PATIENCE_MINUTES:g} minutes without one, or at Ctrl-C"
    say(f"Perfetto shows the trace at {url}; this ends once {ends}", err=err)
    if sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(url)
