"""``benchyard report``: results as one HTML file, and back."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchyard.analysis.comparison.request import Against, Answer, ComparisonRequest, answer
from benchyard.analysis.comparison.rows import Rule
from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.analysis.comparison.sides import Places, Side, read_sides
from benchyard.analysis.comparison.verdicts import ALL_METRICS
from benchyard.cli.common import json_option
from benchyard.cli.comparing import comparison_rule
from benchyard.cli.option_types import NamedPath, OneOf, SourceName, output_option
from benchyard.cli.terminal import print_json, say
from benchyard.core.errors import ExitCode, InputError
from benchyard.core.files import refuse_taken, shown, write_atomically
from benchyard.core.model import slug
from benchyard.core.outputs import failed, size_of, write
from benchyard.core.quantity import amount, plural
from benchyard.core.wording import printable
from benchyard.results.excerpt import is_report
from benchyard.results.folders import DONE, run_folder
from benchyard.results.layout import case_place, distinct_slug
from benchyard.results.record import write_record

if TYPE_CHECKING:
    from benchyard.web.report.document import Report


@click.command("report")
@click.argument("sides", nargs=-1, required=True, type=SourceName(), metavar="CASE|FOLDER|SIDE...")
@output_option("file", ".html", ".htm", help="File to write; CASE-report.html if left out.")
@click.option(
    "--title", default="", metavar="TITLE", help="At the head, instead of the titles of the cases."
)
@click.option("--compare", "comparing", is_flag=True, help="Compare: the first is the reference.")
@click.option(
    "--against",
    type=OneOf(Against),
    help="Compare each side with this: the reference, the side before it, or all others.",
)
@click.option("--reference", metavar="SIDE", help="Compare with this side instead of the first.")
@comparison_rule
@click.option(
    "--data",
    "kept",
    multiple=True,
    metavar="METRIC",
    default=(ALL_METRICS,),
    show_default=True,
    help="Store this metric in the file beside durations: a name, a glob, or all.",
)
@click.option(
    "--extract",
    "folder",
    type=NamedPath(file_okay=False),
    help="Write the runs of a report into this new folder, as results, and stop.",
)
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    sides: tuple[str, ...],
    rule: Rule,
    places: Places,
    file: Path | None,
    title: str,
    against: Against | None,
    reference: str | None,
    kept: tuple[str, ...],
    folder: Path | None,
    *,
    comparing: bool,
    as_json: bool,
) -> int:
    """Write results as one HTML file to send, print and read back.

    A SIDE is what benchyard compare takes. Several sides are shown one after the other. With
    --compare, --against or --reference they are compared; a single one is then compared with the
    campaign before. Exits with 3 if a comparison shows that a candidate is worse at the same work.

    Example:
        benchyard report mine -o mine.html
    """
    if folder is not None:
        return _extract(sides, folder, as_json=as_json)
    found = read_sides(sides, places)
    wanted = None
    if comparing or against or reference:
        how = against or Against.REFERENCE
        wanted = answer(found, ComparisonRequest(rule, reference, against=how))
    made = _report(found, rule, wanted, title=title, kept=kept, command=_called(ctx, sides))
    only = Path(sides[0])
    title = only.stem if len(sides) == 1 and only.is_file() else made.title
    place = file or Path(f"{slug(title) or 'results'}-report.html")
    write(place, made.html)
    if not failed(place):
        _tell(made, place, as_json=as_json)
    return ExitCode.REGRESSION if made.regressions else ExitCode.DONE


def _report(found: Sequence[Side], rule: Rule, wanted: Answer | None, **more: Any) -> "Report":
    from benchyard.web.report.comparisons import ReportRequest  # noqa: PLC0415
    from benchyard.web.report.document import report_of  # noqa: PLC0415 - Jinja takes its time

    if wanted is None:
        shown = [(side.name, runs) for side in found for runs in side.cases.values()]
        return report_of(shown, ReportRequest(rule, **more))
    # Of one side and the campaign before, the comparison has names of its own.
    before = {"baseline": wanted.names[0], "candidate": wanted.names[1]}
    labels = before if len(found) == 1 else {}
    return report_of(request=ReportRequest(rule, wanted, labels, **more))


def _tell(made: "Report", place: Path, *, as_json: bool) -> None:
    size = size_of(place)
    if as_json:
        print_json(
            {
                "file": str(place),
                "bytes": size,
                "runs": made.runs,
                "pictures": made.pictures,
                "pictures_left_out": made.left_out,
                "records_digest": made.records_digest,
                "verdict": made.verdict,
                "regressions": made.regressions,
            }
        )
        return
    say(printable(made.verdict), bold=True, fg="red" if made.regressions else None)
    say(f"{shown(place)}: {plural(made.runs, 'run')}, {amount(size, 'B')}")
    if made.left_out:
        say(f"{plural(made.left_out, 'picture')} left out, for the size", fg="yellow")
    say(f"digest of the records: {made.records_digest}")


#: Options that change nothing of what a report says.
_UNSAID = ("file", "folder", "as_json")


def _called(ctx: click.Context, sides: Sequence[str]) -> str:
    """Return the command without what changes nothing, so that the same report results."""
    words = ["benchyard", "report"]
    for option in ctx.command.params:
        name = option.name or ""
        given = ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if isinstance(option, click.Option) and given and name not in _UNSAID:
            value = ctx.params[name]
            for one in value if option.multiple else (value,):
                words += [option.opts[-1]] if option.is_flag else [option.opts[-1], _text(one)]
    return shlex.join([*words, *(["--"] if any(s.startswith("-") for s in sides) else []), *sides])


def _text(value: object) -> str:
    """Write a value of an option; its only numbers are shares."""
    return f"{100 * value:g}%" if isinstance(value, float) else str(value)


# -- back into results


def _extract(sides: Sequence[str], folder: Path, *, as_json: bool) -> int:
    if len(sides) != 1 or not is_report(Path(sides[0])):
        raise InputError("--extract takes one report: the name of a file that ends in .html")
    refuse_taken(folder)
    found = read_sides(sides, Places(Path()))
    made = list(_places(found, folder))
    for runs, place in made:
        _write(runs, place)
    if as_json:
        print_json([{"case": runs.title, "folder": str(place)} for runs, place in made])
    for runs, place in () if as_json else made:
        many = plural(len(runs.everything), "run")
        say(f"{printable(runs.title)}: {many} in {shown(place)}")
    return ExitCode.DONE


def _places(sides: Sequence[Side], folder: Path) -> Iterator[tuple[RunSet, Path]]:
    """Yield where each case goes: those of a single side into the folder itself."""
    for side in sides:
        below = folder if len(sides) == 1 else folder / distinct_slug(side.name)
        for runs in side.cases.values():
            yield runs, below / case_place(runs.everything[-1])


def _write(runs: RunSet, place: Path) -> None:
    for record in runs.everything:
        run = run_folder(place, record.run)
        run.mkdir(parents=True)
        write_record(run, record)
    for record in runs.records:
        write_atomically(run_folder(place, record.run) / DONE, f"{record.ended_at}\n")
