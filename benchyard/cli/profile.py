"""``benchyard profile``: what is in traces, and in what two sets of them differ."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from benchyard.cli.common import gathered, json_option
from benchyard.cli.option_types import Whole, output_option, stdout_flag
from benchyard.cli.terminal import print_json, print_table, say
from benchyard.cli.trace import (
    CasePlaces,
    TraceSelection,
    sample_type_option,
    sources_of,
    where_options,
)
from benchyard.core.errors import RecordError
from benchyard.core.outputs import failed
from benchyard.core.quantity import duration, plural
from benchyard.core.table import Table
from benchyard.results.record import read_record
from benchyard.show.traces import report
from benchyard.show.traces.flame import flame_drawing
from benchyard.statistics.comparison import Verdict
from benchyard.traces.critical_path import CriticalPath, critical_path
from benchyard.traces.difference import Profiled, differences, mean_totals, profiled
from benchyard.traces.model import Trace
from benchyard.traces.sources import side_by_side
from benchyard.traces.statistics import TraceStatistics, statistics_of

#: The option, and its name a version ago.
_NAMES = ("--candidate", "--against")


class _ManyCandidates(click.Command):
    """Takes all that follows ``--candidate``, as a shell writes a glob out."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat the option before each further source."""
        return super().parse_args(ctx, [*_repeated(args)])


def _repeated(args: Sequence[str]) -> Iterator[str]:
    candidates, before = False, ""
    for one in args:
        option = one.startswith("-")
        if candidates and before not in _NAMES and not option:
            yield _NAMES[0]
        candidates, before = one in _NAMES or (candidates and not option), one
        yield one


@dataclass(frozen=True, slots=True)
class _View:
    """How what is in traces is shown; ``by_path`` is None where only runs are told apart so."""

    limit: int
    by_path: bool | None
    flame: Path | None
    as_csv: bool
    as_json: bool

    def describe(self, sources: Sequence[TraceSelection]) -> None:
        traces = [source.load() for source in sources]
        titles = [source.title for source in sources]
        trace = side_by_side(traces, titles) if len(traces) > 1 else traces[0]
        if self.flame:
            totals = profiled(trace, by_path=True).total_s
            flame_drawing(totals, ", ".join(titles), unit=trace.unit.name).write(self.flame)
        found = statistics_of(trace)
        critical = _critical(sources[0]) if len(sources) == 1 else None
        rows = report.rows_of(found, by_path=bool(self.by_path))
        if self.as_json:
            print_json(report.statistics_document(found, rows, critical))
        elif self.as_csv:
            say(report.names_table(found.unit, rows).without(["self_share"]).csv(), end="")
        else:
            self._print(rows, found, critical)
        _tell_losses(trace)

    def _print(
        self,
        rows: Sequence[Mapping[str, Any]],
        found: TraceStatistics,
        critical: CriticalPath | None,
    ) -> None:
        whole = report.self_sum(found)
        names = report.names_table(found.unit, rows[: self.limit], whole, report.LONGEST_NAME)
        self._table(names, len(rows), "name")
        say("")
        first, last = found.span
        busiest = sorted(found.tracks, key=lambda track: -track.busy)[: self.limit]
        tracks = report.tracks_table(busiest, last - first, found.unit)
        hidden = ("slices",) if found.unit.sampled else ()
        self._table(tracks.without(hidden), len(found.tracks), "track")
        if found.counters:
            say("")
            counters = report.counters_table(found.counters[: self.limit])
            self._table(counters, len(found.counters), "counter")
        if critical and critical.steps:
            say("")
            print_table(report.critical_table(critical))
            waited, after = duration(critical.waited_s), duration(critical.after_s)
            say(f"waited {waited} before steps; {after} from the last one to the end")

    def compare(self, sides: Sequence[Sequence[TraceSelection]]) -> None:
        def summed(*, by_path: bool) -> list[list[Profiled]]:
            # One after the other: only the sums of each trace stay in memory.
            return [[_summed(one, by_path=by_path) for one in side] for side in sides]

        sums = summed(by_path=bool(self.by_path))
        found = differences(*sums)
        if self.flame:
            drawn = sums if self.by_path else summed(by_path=True)
            title = f"{sides[1][0].title} against {sides[0][0].title}"
            changed = found if self.by_path else differences(*drawn)
            picture = flame_drawing(mean_totals(drawn[1]), title, changed, unit=drawn[1][0].unit)
            picture.write(self.flame)
        if self.as_json:
            print_json({"differences": [*report.differences_document(found)]})
        elif self.as_csv:
            say(report.differences_csv(found), end="")
        else:
            say(f"baseline {plural(len(sums[0]), 'trace')}, candidate {len(sums[1]):,}\n")
            shown = found[: self.limit]
            table = report.differences_table(shown, report.LONGEST_NAME)
            self._table(table, len(found), "row")
            say(f"\n{report.differences_summary(found)}")
            if any(one.judgement.verdict is Verdict.CANNOT_TELL for one in found):
                say("cannot tell: so few traces cannot show any difference among so many names")

    def _table(self, table: Table, count: int, noun: str) -> None:
        print_table(table)
        if count > self.limit:
            say(f"and {plural(count - self.limit, noun)} more; --limit {count} shows all")


@click.command("profile", cls=_ManyCandidates)
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option(
    _NAMES[0],
    "candidates",
    multiple=True,
    metavar="SOURCE...",
    help="Compare the sources with these, as repetitions; a case means all its runs.",
)
@click.option(
    "--paths/--names",
    "by_path",
    default=None,
    help="Tell apart what stands below different names, or not; without either, only of runs.",
)
@click.option("--limit", default=30, show_default=True, type=Whole(1), help="Rows of each table.")
@output_option(*("flame", ".svg", ".png"), help="Draw a flame graph into this .svg or .png.")
@stdout_flag("--csv", "as_csv", "All rows as CSV.")
@json_option
@sample_type_option
@where_options
@gathered("view", _View)
def command(
    sources: tuple[str, ...], candidates: tuple[str, ...], where: CasePlaces, view: _View
) -> None:
    """Sum up traces by name, or compare two sets of traces.

    SOURCE is what benchyard trace takes. For each name: how often, how long, how long by itself.
    With --candidate, the sources are the baseline; each name is compared, with intervals that are
    corrected for all names together.

    Example:
        benchyard profile 'mine[threads=1]'
        benchyard profile 'mine[threads=1]' --candidate 'mine[threads=2]'
    """
    found = sources_of(sources, where, every_run=bool(candidates))
    if view.by_path is None:
        view = replace(view, by_path=found[0].run is not None)
    if candidates:
        view.compare([found, sources_of(candidates, where, every_run=True)])
    else:
        view.describe(found)
    if view.flame and not failed(view.flame):
        say(f"flame graph: {view.flame}", err=True)


def _summed(source: TraceSelection, *, by_path: bool) -> Profiled:
    trace = source.load()
    _tell_losses(trace)
    critical = _critical(source)
    shares: dict[str, float] = {}
    for step in critical.steps if critical else ():
        shares[step.name] = shares.get(step.name, 0.0) + step.share
    return profiled(trace, by_path=by_path, shares=shares)


def _critical(source: TraceSelection) -> CriticalPath | None:
    try:
        return critical_path(read_record(source.run)) if source.run else None
    except (OSError, RecordError):
        return None


def _tell_losses(trace: Trace) -> None:
    for loss in trace.losses:
        say(f"warning: {loss}", err=True)
    if trace.unit.others:
        say(f"--type shows other values: {', '.join(trace.unit.others)}", err=True)
