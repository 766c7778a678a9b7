"""``benchyard plot``: results, or the curves of a run, as a picture."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import filterfalse
from os.path import isfile
from pathlib import Path
from typing import NamedTuple

import click

from benchyard.analysis.comparison.places import open_results
from benchyard.analysis.comparison.run_sets import (
    RunSelection,
    RunSet,
    parse_selection,
    results_folders,
)
from benchyard.case.loading import likely_title, raise_problems
from benchyard.cli.common import (
    cases_of,
    gathered,
    json_option,
    open_file,
    suspect_option,
)
from benchyard.cli.fields import field_options
from benchyard.cli.option_types import Read, names_in, output_option
from benchyard.cli.terminal import print_json, say
from benchyard.cli.trace import CasePlaces, sources_of, where_options
from benchyard.core.amounts import parse_inches
from benchyard.core.errors import InputError
from benchyard.core.fields import described
from benchyard.core.files import shown
from benchyard.core.model import Json, slug
from benchyard.core.outputs import failed
from benchyard.core.wording import printable, some
from benchyard.results.folders import Results, RunFolder, run_number
from benchyard.results.krown import krown_runs, read_results
from benchyard.results.trust import Suspect
from benchyard.show.curves.panels import read_curves
from benchyard.show.curves.plot import draw
from benchyard.show.results_plot.cells import tell_apart
from benchyard.show.results_plot.choice import PlotRequest, make_charts
from benchyard.show.results_plot.figure import PAPER, Size, chart_drawing


def _names(_: click.Context, __: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for text in texts for name in names_in(text))


@click.command("plot")
@click.argument("sources", nargs=-1, metavar="[CASE|FOLDER|FILE]...")
@field_options(
    *(PlotRequest, "kind", "metrics", "steps", "x", "series"),
    steps={"callback": _names, "metavar": "STEP[,STEP]..."},
    x={"metavar": "PARAM"},
    series={"metavar": "PARAM"},
)
@click.option(
    "--ratio-to",
    "reference",
    metavar="CASE|STEP|NAME=VALUE",
    help=described(PlotRequest)["reference"].meaning,
)
@click.option("--log/--linear", default=None, help="Scale of the axes, whatever the values are.")
@suspect_option
@output_option(
    *("files", ".png", ".svg", ".pdf"),
    multiple=True,
    help="File to write, .png, .svg or .pdf; may be given several times.",
)
@click.option(
    "--paper", type=click.Choice(list(PAPER)), help="As wide as a paper's column or page."
)
@click.option(
    "--width", type=Read(parse_inches), metavar="LENGTH", help="Such as 85mm, 8.5cm, 3.3in."
)
@click.option(
    "--height", type=Read(parse_inches), metavar="LENGTH", help="Without it what is needed."
)
@click.option(
    "--curves",
    "wants_curves",
    is_flag=True,
    help="Draw the curves of a run: CPU, memory, disk, network.",
)
@json_option
@where_options
@gathered("wish", PlotRequest)
@click.pass_context
def command(
    ctx: click.Context,
    sources: tuple[str, ...],
    wish: PlotRequest,
    files: tuple[Path, ...],
    paper: str | None,
    width: float | None,
    height: float | None,
    where: CasePlaces,
    *,
    suspect: Suspect,
    wants_curves: bool,
    as_json: bool,
) -> None:
    """Plot results, or what was sampled during a run.

    Name cases as for benchyard run, and folders and files with results as for benchyard compare;
    without any, all cases below --root are drawn. The folder of a run, --run or --curves draws the
    curves of one run: CPU, memory, disk and network over time.

    Example:
        benchyard plot mine -o mine.svg
        benchyard plot 'mine[threads=1]' --run 1 -o run.svg
    """
    if wants_curves or where.run is not None or any(_is_run(source) for source in sources):
        _refuse_with_curves(ctx)
        _tell(_draw_curves(sources, where, files), as_json=as_json)
        return
    if paper is not None and width is not None:
        raise click.UsageError("--paper and --width exclude each other")
    size = Size(PAPER[paper] if paper else width, height, titled=paper is None)
    _tell(_draw_results(sources, where, wish, size, files, suspect=suspect), as_json=as_json)


class _Told(NamedTuple):
    """What a picture shows, its files, and what is to be said of it."""

    shows: str
    files: Sequence[Path]
    caption: Sequence[str] = ()
    notes: Sequence[str] = ()


def _tell(told: _Told, *, as_json: bool) -> None:
    written = [str(file) for file in filterfalse(failed, told.files)]
    if as_json:
        texts: dict[str, Json] = {"caption": [*told.caption], "notes": [*told.notes]}
        print_json({"shows": told.shows, "files": [*written], **texts})
        return
    for file in written:
        say(f"{told.shows}: {file}")
    for sentence in told.caption:
        say(printable(sentence))
    for note in told.notes:
        say(printable(note), fg="yellow")


# -- results


def _draw_results(
    sources: Sequence[str],
    where: CasePlaces,
    wish: PlotRequest,
    size: Size,
    files: Sequence[Path],
    *,
    suspect: Suspect,
) -> _Told:
    found, notes = run_sets_of(sources, where)
    charts = make_charts(tell_apart(found, suspect=suspect), wish)
    kind, title = charts[0].kind, charts[0].title or "results"
    written = files or [Path(f"{slug(title)}-{kind}.svg")]
    chart_drawing(charts, size).write(*written)
    caption = dict.fromkeys(text for chart in charts for text in chart.caption)
    return _Told(kind, written, [*caption], notes)


# -- curves of a run


def _is_run(source: str) -> bool:
    return isfile(RunFolder(Path(source)).record)  # noqa: PTH113 - Path raises for a name that is too long


def _refuse_with_curves(ctx: click.Context) -> None:
    """Refuse what curves would silently ignore."""
    own = {*described(PlotRequest), "suspect", "paper", "width", "height"}
    for option in ctx.command.params:
        given = ctx.get_parameter_source(option.name or "")
        if option.name in own and given is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option.opts[0]} is of results, not of a run's curves")


def _draw_curves(sources: Sequence[str], where: CasePlaces, files: Sequence[Path]) -> _Told:
    if len(sources) != 1:
        raise click.UsageError("the curves of one run are drawn: name one case, or a run's folder")
    if where.run is not None and _is_run(sources[0]):
        raise click.UsageError(f"{sources[0]} is a run itself; leave --run out")
    [source] = sources_of(sources, where)
    if source.run is None:
        raise InputError(f"{sources[0]} is no run; name one case, or a run's folder")
    place = source.run.resolve()
    number = run_number(place.name)
    name = place.name if number is None else f"run {number}"
    written = files or [Path(f"curves-{slug(name)}.svg")]
    draw(read_curves(place)).write(*written)
    return _Told(name, written)


#: Cases without runs that are named.
_LISTED = 5


def run_sets_of(
    wanted: Sequence[str], where: CasePlaces
) -> tuple[list[tuple[str, RunSet]], list[str]]:
    """Read what is wanted, each set of runs once.

    Args:
        wanted: Cases, results folders, or ``FOLDER@1-5``; none takes all cases below the root.

    Returns:
        What was written and a set of runs, in order; and sentences about what is not there.

    Raises:
        InputError: If there is no such thing, or there are no runs at all.
    """
    found: dict[tuple[Path, tuple[int, ...]], tuple[str, RunSet]] = {}
    empty: list[str] = []
    notes: list[str] = []
    for text in wanted or [None]:
        for selection in _selections(text, where, empty):
            for run_set in _read(selection, where.root, notes):
                key = run_set.folder.resolve(), run_set.numbers
                found.setdefault(key, (text or shown(run_set.folder), run_set))
    cases = some(empty, _LISTED)
    if not found:
        where_to = printable(cases) or shown(where.root)
        raise InputError(f"there is no run of {where_to} yet; benchyard run makes them")
    return list(found.values()), [*([f"No finished run: {cases}."] if empty else []), *notes]


def _read(selection: RunSelection, root: Path, notes: list[str]) -> Iterable[RunSet]:
    folders = results_folders(selection.folder)
    if folders and selection.runs is None and all(map(_is_krowns, folders)):
        return [_krowns(folder, root, notes) for folder in folders]
    return open_results(selection, open_file).values()


def _is_krowns(folder: Path) -> bool:
    recorded = any(run.record.is_file() for run in Results(folder).runs().values())
    return not recorded and bool(krown_runs(folder))


def _krowns(folder: Path, root: Path, notes: list[str]) -> RunSet:
    """Read runs that KROWN made, as ``benchyard stats`` does."""
    title = likely_title(root, str(folder.parent))
    made = read_results(title, folder)
    notes += [*made.warnings, *map(str, made.unreadable.values())]
    records = tuple(record for _, record in made.runs)
    if not records:
        raise InputError(
            f"{shown(folder)}: no run of KROWN's can be read; benchyard stats says why"
        )
    return RunSet(title, folder, records, made.unfinished)


def _selections(text: str | None, where: CasePlaces, empty: list[str]) -> Iterator[RunSelection]:
    """Yield the results that a text means; note the cases that have none."""
    if text is not None and where.results is None:
        try:
            selection = parse_selection(text)
        except InputError:
            if "@" in text and not text.endswith("]"):
                raise
        else:
            yield selection
            return
    _, loaded = replace(where, cases=[] if text is None else [text]).load()
    if not cases_of(loaded):
        raise_problems(loaded)
    for case in cases_of(loaded):
        folder = where.results_of(case)
        if Results(folder).recorded():
            yield RunSelection(folder)
        else:
            empty.append(case.title)
