"""``benchyard pack``: cases and what was measured of them, in one file."""

from pathlib import Path

import click

from benchyard.case.loading import raise_problems
from benchyard.cli.common import Selection, cases_of, results_option, selection
from benchyard.cli.option_types import OutputFile
from benchyard.cli.terminal import print_json, say
from benchyard.core.errors import InputError
from benchyard.core.files import shown
from benchyard.core.outputs import failed, size_of
from benchyard.core.quantity import amount, plural
from benchyard.publish.packs.archives import ENDINGS, write_archive
from benchyard.publish.packs.collecting import Measured, collect
from benchyard.publish.packs.manifest import Manifest


@click.command("pack")
@selection
@results_option
@click.option(
    "-o",
    "--out",
    required=True,
    type=OutputFile(*ENDINGS),
    metavar="FILE",
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
        _tell(out, found.manifest, as_json=as_json)


def _tell(out: Path, manifest: Manifest, *, as_json: bool) -> None:
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
