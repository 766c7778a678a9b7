"""``benchyard pack`` and ``reproduce``: cases with their results in one file, and back."""

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import click

import resources
from benchyard.case.loading import find_cases, raise_problems
from benchyard.case.registry import Registry
from benchyard.case.subject.current import current_subject
from benchyard.cli import comparing, running
from benchyard.cli.ci import strict_option
from benchyard.cli.common import (
    Selection,
    cases_of,
    json_option,
    results_option,
    selection,
    suspect_option,
)
from benchyard.cli.option_types import InputFile, NamedPath, Whole, output_option
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


@click.command("pack")
@selection
@results_option
@output_option(
    *("out", *ENDINGS),
    required=True,
    help="The file: NAME.benchyard.zip, or NAME.benchyard.tar.zst.",
)
@click.option("--samples", is_flag=True, help="Take the curves of the runs too.")
def command(
    selection: Selection,
    out: Path,
    *,
    samples: bool,
    as_json: bool,
) -> None:
    """Pack cases, and what was measured of them, into one file.

    It holds the cases with their inputs, the classes of --resources that they use, the records of
    the newest campaign, the versions of the Python packages, the digests of images, and the digest
    of each file. benchyard reproduce measures it again elsewhere, and compares.
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
@click.option("--cooldown", metavar="SECONDS", help="As of benchyard run.")
@click.option("--check", "checking", is_flag=True, help="Verify it, tell what differs, and stop.")
@strict_option
@suspect_option
@json_option
def reproduce(
    pack: Path,
    into: Path | None,
    runs: int | None,
    cooldown: str | None,
    suspect: str,
    *,
    checking: bool,
    strict: bool,
    as_json: bool,
) -> int:
    """Measure a pack again on this host, and compare.

    PACK is a file that benchyard pack made, or the folder into which it was unpacked. Its digests
    are verified, and what differs here is told. Then its cases are executed beside the packed
    results, which stay as they are, and compared with these. Exits with 3 if this host is worse,
    and with 2 if the pack is damaged or the runs are not comparable.
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
    found = _look(folder, manifest, resources.find(_class_folders(folder, manifest)))
    if not as_json:
        _tell(found)
    given = {"--suspect": suspect, **({"--cooldown": cooldown} if cooldown is not None else {})}
    _execute(folder, manifest, runs, given, as_json=as_json)
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
        text = f"not looked at: {', '.join(unknown)}, code of the pack, which --check does not load"
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
    folder: Path, manifest: Manifest, runs: int | None, given: Mapping[str, str], *, as_json: bool
) -> None:
    """Execute what was packed, as ``benchyard run`` does, beside the packed results."""
    wanted = runs or max(1, *(len(case.runs) for case in manifest.cases))
    intervals = [case.interval_s for case in manifest.cases if case.interval_s]
    options = {
        "--root": str(folder / CASES),
        "--results": str(folder / REPRODUCED),
        "--runs": str(wanted),
        "--publish": "none",
        **({"--interval": str(intervals[0])} if intervals else {}),
        **given,
    }
    words = [word for option in options.items() for word in option]
    classes = [w for one in _class_folders(folder, manifest) for w in ("--resources", str(one))]
    cases = [_selected(folder, case) for case in manifest.cases]
    # What requires another host is executed all the same: that was told.
    arguments = [*words, *classes, "--direct", "--ignore-requirements", "--", *cases]
    with redirect_stdout(sys.stderr if as_json else sys.stdout):
        _call(running.command, arguments)


def _call(command: click.Command, arguments: Sequence[str]) -> int:
    """Call a command as the command line would, without what a project file gives it."""
    with command.make_context(command.name, [*arguments]) as context:
        return int(command.invoke(context) or 0)


def _compare(folder: Path, found: _Found, suspect: str, *, strict: bool, as_json: bool) -> int:
    sides = ["--suspect", suspect, *(["--strict"] if strict else []), "--"]
    sides += [str(folder / RESULTS), str(folder / REPRODUCED)]
    if not as_json:
        say(styled("\nbaseline: as packed; candidate: reproduced here", bold=True))
        return _call(comparing.command, sides)
    with redirect_stdout(StringIO()) as said:
        code = _call(comparing.command, ["--json", *sides])
    print_json(_document(found, folder, json.loads(said.getvalue())))
    return code


def _document(found: _Found, folder: Path | None, comparison: Json) -> Json:
    return {
        "digest": found.manifest.digest,
        "benchyard": found.manifest.benchyard,
        "folder": None if folder is None else str(folder),
        "differences": {title: list[Json](texts) for title, texts in found.differences.items()},
        "packages": list[Json](found.packages),
        "comparison": comparison,
    }
