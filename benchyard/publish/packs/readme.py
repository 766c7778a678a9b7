"""The page in a pack that says what it is, and how to measure it again."""

from collections.abc import Iterator, Mapping

from benchyard.core.quantity import plural
from benchyard.core.wording import printable, quote
from benchyard.publish.packs.manifest import LOCK, Manifest
from benchyard.results.record import RunRecord


def readme(manifest: Manifest, newest: Mapping[str, RunRecord]) -> str:
    """Return the page, as plain text.

    Args:
        newest: Title of a case to the record of its newest run.
    """
    return "\n".join([*_beginning(manifest), *_cases(manifest, newest), *_contents(manifest)])


def _beginning(manifest: Manifest) -> Iterator[str]:
    yield f"""A pack of Benchyard {manifest.benchyard}: benchmark cases, and what was measured.

To measure them again on this machine and to compare:

    pip install benchyard=={manifest.benchyard}
    benchyard reproduce FILE

FILE is the archive, or the folder into which it was unpacked. What is executed are the programs
that the cases name: look at them first if you do not trust where this comes from. To verify all
digests and to see what differs on this machine, without executing anything of the pack:

    benchyard reproduce FILE --check

{LOCK} lists the Python packages that were installed, for pip install --constraint {LOCK}.
"""


def _cases(manifest: Manifest, newest: Mapping[str, RunRecord]) -> Iterator[str]:
    yield "Cases:\n"
    for case in manifest.cases:
        yield f"  {printable(case.title)}: {plural(len(case.runs), 'finished run')}, {case.results}"
        record = newest.get(case.title)
        if record is not None:
            yield from (f"    {line}" for line in _host(record))
    for name, image in manifest.images.items():
        yield f"  image of {printable(name)}: {printable(image)}"
    yield ""


def _host(record: RunRecord) -> Iterator[str]:
    told = {
        "host": record.fact("host"),
        "processor": record.fact("cpu", "model"),
        "kernel": record.fact("kernel"),
        "Python": record.fact("python"),
    }
    known = [f"{name} {quote(value)}" for name, value in told.items() if value]
    yield f"measured {record.started_at[:10]} on " + ", ".join(known)


def _contents(manifest: Manifest) -> Iterator[str]:
    yield "pack.json holds the digest (SHA-256) of every file, and its size."
    if manifest.classes:
        yield f"Classes of the cases' own (Python code): {', '.join(manifest.classes)}"
    yield ""
