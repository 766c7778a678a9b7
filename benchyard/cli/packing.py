"""``benchyard pack`` and ``reproduce``: cases with their results in one file, and back."""

import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click

import resources
from benchyard.analysis.comparison.document import document
from benchyard.analysis.comparison.request import ComparisonRequest, answer
from benchyard.analysis.comparison.rows import Rule
from benchyard.analysis.comparison.run_sets import results_below
from benchyard.analysis.comparison.sides import Places, read_sides
from benchyard.case.loading import find_cases, raise_problems
from benchyard.case.registry import Registry
from benchyard.case.subject.current import current_subject
from benchyard.cli.ci import Reports, strict_option
from benchyard.cli.common import (
    Selection,
    cases_of,
    json_option,
    selection,
    suspect_option,
)
from benchyard.cli.comparing import conclude, print_comparison
from benchyard.cli.option_types import Cooldown, InputFile, NamedPath, Whole, output_option
from benchyard.cli.running import execute_and_compare, plan_of
from benchyard.cli.terminal import print_json, say, styled
from benchyard.core.errors import ExitCode, InputError
from benchyard.core.files import shown
from benchyard.core.model import Json
from benchyard.core.outputs import failed, size_of
from benchyard.core.quantity import amount, plural
from benchyard.core.wording import printable, some
from benchyard.publish.packs.archives import ENDINGS, write_archive
from benchyard.publish.packs.collecting import Measured, collect
from benchyard.publish.packs.manifest import (
    CASES,
    REPRODUCED,
    RESULTS,
    Manifest,
    PackedCase,
)
from benchyard.publish.packs.packages import differences_here, other_packages, unmet_here
from benchyard.publish.packs.unpacking import unpack, unpacked_to_check
from benchyard.results.trust import Suspect
from benchyard.run.ordering import Order, new_session
from benchyard.run.request import COOLDOWN, INTERVAL, Request
from benchyard.suite.foreseeing import foresee


@click.command("pack")
@selection
@output_option(
    *("out", *ENDINGS),
    required=True,
    help="The file: NAME.benchyard.zip, or NAME.benchyard.tar.zst.",
)
@click.option("--samples", is_flag=True, help="Take the curves of the runs too.")
def command(selection: Selection, out: Path, *, samples: bool, as_json: bool) -> None:
    """Pack cases and their results into one file.

    The file holds the cases with their inputs, the classes of --resources that they use, the
    records of the newest campaign, the versions of Python packages, the digests of images, and a
    digest of each file. benchyard reproduce measures it again elsewhere, and compares.

    Example:
        benchyard pack mine -o mine.benchyard.zip
    """
    registry, loaded = selection.load()
    raise_problems(loaded)
    measured = [Measured(case, selection.results_of(case)) for case in cases_of(loaded)]
    if not measured:
        raise InputError(f"no cases below {selection.root.resolve()}")
    found = collect(measured, registry, selection.resource_folders, samples=samples)
    write_archive(out, found.manifest, found.contents)
    for warning in found.warnings:
        say(f"warning: {warning}", err=True, fg="yellow")
    if not failed(out):
        _say_packed(out, found.manifest, as_json=as_json)


def _say_packed(out: Path, manifest: Manifest, *, as_json: bool) -> None:
    runs = sum(len(case.runs) for case in manifest.cases)
    size = size_of(out)
    if as_json:
        print_json(
            {
                "file": str(out),
                "bytes": size,
                "digest": manifest.digest,
                "cases": [case.title for case in manifest.cases],
                "runs": runs,
                "files": len(manifest.files),
            }
        )
        return
    cases = plural(len(manifest.cases), "case")
    say(
        f"{shown(out)}: {cases}, {plural(runs, 'run')}, {plural(len(manifest.files), 'file')}, "
        f"{amount(size, 'B')}\n{manifest.digest}\nelsewhere: benchyard reproduce {out.name}"
    )


#: What is reproduced is reported to the service that runs the job, if any.
_REPORTS = Reports()
#: So many Python packages of another version are named.
_NAMED = 8


class _Found(NamedTuple):
    """What was found out of a pack before anything is executed."""

    manifest: Manifest
    differences: dict[str, list[str]]
    packages: list[str]


@click.command("reproduce")
@click.argument("pack", metavar="PACK", type=InputFile(dir_okay=True))
@click.option(
    "--into",
    type=NamedPath(file_okay=False),
    help="Folder to unpack into.  [default: PACK without its ending; a folder is used as it is]",
)
@click.option(
    "--runs",
    type=Whole(1, 100_000),
    help="How many runs of each case there shall be.  [default: as many as were packed]",
)
@click.option(
    "--cooldown",
    metavar="SECONDS",
    type=Cooldown(COOLDOWN.least, COOLDOWN.most),
    help="As of benchyard run.",
)
@click.option(
    "--dry-run",
    "checking",
    is_flag=True,
    help="Verify the pack, print what differs here, and stop.",
)
@strict_option
@suspect_option
@json_option
def reproduce(
    pack: Path,
    into: Path | None,
    runs: int | None,
    cooldown: float | None,
    suspect: Suspect,
    *,
    checking: bool,
    strict: bool,
    as_json: bool,
) -> int:
    """Measure a pack again on this host, and compare.

    PACK is a file of benchyard pack, or the folder that it was unpacked into. Verifies its digests,
    prints what differs here, executes its cases beside the packed results, which stay as they are,
    and compares. Exits with 3 if this host is worse, and with 2 if the pack is damaged or the runs
    are not comparable.

    Example:
        benchyard reproduce mine.benchyard.zip --dry-run
        benchyard reproduce mine.benchyard.zip --into again --runs 6
    """
    if checking:
        with unpacked_to_check(pack) as (folder, manifest):
            # Classes are code: to look at a pack must not execute it.
            found = _look(folder, manifest, resources.find())
        if as_json:
            print_json(_document(found, None, None))
        else:
            _tell(found)
        return ExitCode.DONE
    folder = (into or _folder_of(pack)).resolve()
    manifest = unpack(pack, folder)
    # What classes import from beside them was packed with them.
    sys.path += map(str, _class_folders(folder, manifest))
    registry = resources.find(_class_folders(folder, manifest))
    found = _look(folder, manifest, registry)
    if not as_json:
        _tell(found)
    intervals = [case.interval_s for case in manifest.cases if case.interval_s]
    if intervals and not INTERVAL.least <= intervals[0] <= INTERVAL.most:
        raise InputError(f"{shown(pack)} tells no interval from 0.001 to 3600 s")
    options = {
        "runs": runs or max(1, *(len(case.runs) for case in manifest.cases)),
        "cooldown": cooldown,
        "suspect": suspect,
        **({"interval": intervals[0]} if intervals else {}),
    }
    _execute(folder, found, registry, options, as_json=as_json)
    return _compare(folder, found, suspect, strict=strict, as_json=as_json)


def _folder_of(pack: Path) -> Path:
    """Return where a pack is unpacked to, in the current folder; one that is unpacked stays."""
    if pack.is_dir():
        return pack
    name = pack.name
    for ending in (*ENDINGS, ".tar", ".benchyard"):
        name = name[: -len(ending)] if name.lower().endswith(ending) else name
    return Path(name if name not in ("", pack.name) else f"{pack.name}.unpacked")


def _class_folders(folder: Path, manifest: Manifest) -> list[Path]:
    return [folder / name for name in manifest.classes]


def _look(folder: Path, manifest: Manifest, registry: Registry) -> _Found:
    """Find out what differs here from where the pack was measured."""
    told = {case.title: _differences(folder, case, registry) for case in manifest.cases}
    return _Found(manifest, told, other_packages(manifest.packages))


def _differences(folder: Path, packed: PackedCase, registry: Registry) -> list[str]:
    results = folder / packed.results
    unknown = [name for name in packed.classes if name not in registry.classes]
    if unknown:
        text = (
            f"not looked at: {', '.join(unknown)}, code of the pack, which --dry-run does not load"
        )
        return [*differences_here(packed.title, results, None), text]
    loaded = find_cases(folder / CASES, [_selected(folder, packed)], (), registry)
    problems = [f"not executable: {one.message}" for item in loaded for one in item.problems]
    if problems:
        return [*differences_here(packed.title, results, None), *problems]
    (case,) = cases_of(loaded)
    subject = current_subject(case, registry, results)
    return [*differences_here(packed.title, results, subject), *unmet_here(case)]


def _selected(folder: Path, packed: PackedCase) -> str:
    return f"{folder / packed.folder}{packed.point}"


def _tell(found: _Found) -> None:
    manifest = found.manifest
    files, cases = plural(len(manifest.files), "file"), plural(len(manifest.cases), "case")
    say(f"verified: {files}, {cases}, packed by Benchyard {manifest.benchyard}")
    say(manifest.digest)
    for title, texts in found.differences.items():
        say(styled(f"\n{printable(title)}", bold=True), "" if texts else "  nothing differs")
        for text in texts:
            say("  ", printable(text), fg="yellow")
    if found.packages:
        say(f"\nPython packages there and here: {printable(some(found.packages, _NAMED))}")


def _execute(
    folder: Path, found: _Found, registry: Registry, options: Mapping[str, Any], *, as_json: bool
) -> None:
    """Execute what was packed, as ``benchyard run --direct`` does, beside the packed results."""
    manifest = found.manifest
    cases = [_selected(folder, case) for case in manifest.cases]
    places = Selection(cases, root=folder / CASES, results=folder / REPRODUCED)
    loaded = find_cases(places.root, cases, (), registry)
    raise_problems(loaded)
    request = Request(
        case="",
        root=str(folder / CASES),
        results=str(folder / REPRODUCED),
        resources=tuple(map(str, _class_folders(folder, manifest))),
        publish=(),
        # What requires another host is executed all the same: that was told.
        ignore_requirements=True,
        session=new_session(Order.ROUND_ROBIN),
        **options,
    )
    with redirect_stdout(sys.stderr if as_json else sys.stdout):
        plan = plan_of(places, registry, cases_of(loaded), request)
        for text in foresee(plan, request):
            say(text, fg="yellow", err=True)
        execute_and_compare(plan, request, _REPORTS, direct=True)


def _compare(folder: Path, found: _Found, suspect: Suspect, *, strict: bool, as_json: bool) -> int:
    others = partial(results_below, Path())
    rule = Rule(suspect=suspect, other_work=True, strict=strict, other_results=others)
    sides = read_sides([str(folder / RESULTS), str(folder / REPRODUCED)], Places(Path()))
    made = answer(sides, ComparisonRequest(rule))
    if as_json:
        print_json(_document(found, folder, document(made.comparison, made.names)))
    else:
        say(styled("\nbaseline: as packed; candidate: reproduced here", bold=True))
        print_comparison(made.comparison)
    return conclude(made, _REPORTS)


def _document(found: _Found, folder: Path | None, comparison: Json) -> Json:
    return {
        "digest": found.manifest.digest,
        "benchyard": found.manifest.benchyard,
        "folder": None if folder is None else str(folder),
        "differences": {title: list[Json](texts) for title, texts in found.differences.items()},
        "packages": list[Json](found.packages),
        "comparison": comparison,
    }
