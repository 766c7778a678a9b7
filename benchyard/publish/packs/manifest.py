"""``pack.json``: what is in a pack, with the digest of each file; and the page for people.

Names of files are relative to the pack's root, with ``/`` between folders. Of several files with
one content an archive holds the first by name; the manifest lists them all.
"""

import hashlib
import json
import posixpath
import re
import stat
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import IO, Any, Self

from benchyard.core.errors import InputError
from benchyard.core.files import sha256
from benchyard.core.json_text import decoded, read_as
from benchyard.core.quantity import plural
from benchyard.core.wording import printable, quote
from benchyard.results.record import RunRecord

MANIFEST = "pack.json"
README = "README.txt"
#: The versions of the Python packages, as ``pip install --constraint`` takes them.
LOCK = "packages.txt"
FORMAT = "benchyard-pack"
VERSION = 1
#: Folders of a pack, and of what is made of one.
CASES, CLASSES, RESULTS, REPRODUCED = "cases", "classes", "results", "reproduced"
#: Bytes of the longest manifest that is read: that of 200,000 files.
LARGEST = 64 * 1024**2
#: Bytes of the longest one in a small archive: it takes thirty times as many in memory.
_LARGEST_OF_SMALL = 8 * 1024**2
#: How many times as large as its archive the manifest, and all files, may be.
_DENSEST_MANIFEST, _DENSEST = 100, 1000
#: Bytes that files may have in any case.
_ALWAYS = 100_000_000
_FOLDERS = (CASES, CLASSES, RESULTS)
_LONGEST_NAME = 4096
#: Folders in a name, at most: a short list of deep names would make millions of folders.
_DEEPEST = 64
#: Bytes that all files may have together.
_MOST_BYTES = 2**63 - 1
#: Bytes that a folder or a small file takes on most disks.
_BLOCK = 4096
_DIGEST = re.compile("[0-9a-f]{64}")
_SHARED = re.compile("/data/shared(?=/)")


@dataclass(frozen=True, slots=True)
class PackedFile:
    """A file of a pack.

    Args:
        sha256: Of its content, hexadecimal.
        bytes: Its size.
    """

    sha256: str
    bytes: int
    executable: bool = False

    @classmethod
    def of(cls, content: "Path | bytes") -> Self:
        """Return what a file, or a content, is in a manifest."""
        if not isinstance(content, Path):
            return cls(hashlib.sha256(content).hexdigest(), len(content))
        status = content.stat()
        return cls(sha256(content), status.st_size, bool(status.st_mode & stat.S_IXUSR))


@dataclass(frozen=True, slots=True)
class PackedCase:
    """A case, or a point of its matrix, in a pack.

    Args:
        folder: With its ``metadata.json``.
        point: As in the title, ``[scale=0.01]``; "" without a matrix.
        results: Folder of its runs.
        runs: Numbers of its finished runs.
        interval_s: Seconds between two samples in its runs; None if that is not known.
        classes: Names of the classes of its own, which do not come with Benchyard.
    """

    title: str
    folder: str
    point: str
    results: str
    runs: tuple[int, ...]
    interval_s: float | None = None
    classes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """All of a pack.

    Args:
        benchyard: Version of the Benchyard that packed.
        python: Version of the Python that packed.
        classes: Folders with classes of the case's own, for ``--resources``.
        packages: Python package to version, where it was packed.
        images: Title of a case and name of a resource to the digest of the image that was measured.
        files: Name to what it is; without the manifest.
        links: Name of a link to a folder, to its target as the link has it.
    """

    benchyard: str
    python: str
    cases: tuple[PackedCase, ...]
    classes: tuple[str, ...]
    packages: Mapping[str, str]
    images: Mapping[str, str]
    files: Mapping[str, PackedFile]
    links: Mapping[str, str] = field(default_factory=dict[str, str])

    def to_bytes(self) -> bytes:
        """Return the content of ``pack.json``: the same for the same pack."""
        body = {"format": FORMAT, "version": VERSION, **asdict(self)}
        text = json.dumps(body, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        return text.encode(errors="backslashreplace")  # half a character becomes JSON's escape

    @property
    def digest(self) -> str:
        """Digest of the whole pack: of the manifest, and so of all files."""
        return f"sha256:{hashlib.sha256(self.to_bytes()).hexdigest()}"

    @property
    def stored(self) -> dict[str, str]:
        """Digest to the name under which an archive holds that content, in the names' order."""
        found: dict[str, str] = {}
        for name in sorted(self.files):
            found.setdefault(self.files[name].sha256, name)
        return found

    @property
    def total_bytes(self) -> int:
        """Size of all files together, copies included."""
        return sum(file.bytes for file in self.files.values())

    @property
    def stored_bytes(self) -> int:
        """Size of all files, of those with one content once."""
        return sum(self.files[name].bytes for name in self.stored.values())

    @property
    def disk_bytes(self) -> int:
        """Bytes that it takes on disk at most, folders included."""
        return self.total_bytes + _BLOCK * sum(2 + name.count("/") for name in self.files)


def read_packed_manifest(stream: IO[bytes], size: int) -> Manifest:
    """Read and check the manifest of an archive.

    Args:
        size: Of the archive (bytes).

    Raises:
        InputError: As ``read_manifest``; also if a small archive would become a very large folder.
    """
    most = min(LARGEST, max(_LARGEST_OF_SMALL, _DENSEST_MANIFEST * size))
    manifest = read_manifest(stream.read(most + 1), most)
    if manifest.disk_bytes > max(_ALWAYS, _DENSEST * size):
        raise InputError(
            f"{size:,} bytes of it would become {manifest.disk_bytes / 1e6:,.0f} MB, more than "
            f"{_DENSEST:,} times as many; if you trust it, unpack it yourself and name the folder"
        )
    return manifest


def read_manifest(content: bytes, most: int = LARGEST) -> Manifest:
    """Read and check a manifest that may be anybody's.

    Args:
        most: Bytes that it may have.

    Raises:
        InputError: If it is none, of a later version, or a name in it leads astray.
    """
    if len(content) > most:
        raise InputError(f"its {MANIFEST} is larger than {most // 1024**2} MiB")
    try:
        document: Any = decoded(content)
        if document["format"] != FORMAT or document["version"] != VERSION:
            raise InputError(_other_version(document))
        del document["format"], document["version"]
        manifest = read_as(Manifest, document)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError(f"its {MANIFEST} is not readable: {quote(str(error))}") from error
    wrong = dict.fromkeys(islice(_wrong(manifest), 10))
    if wrong:
        raise InputError(f"its {MANIFEST} cannot be trusted: {'; '.join(wrong)}")
    return manifest


def _other_version(document: Any) -> str:
    told = quote(f"{document['format']} version {document['version']}")
    return f"it is {told}, and this Benchyard reads {FORMAT} version {VERSION}; take a newer one"


def _wrong(manifest: Manifest) -> Iterator[str]:
    for name in (*manifest.files, *manifest.links):
        if not is_safe(name):
            yield f"'{quote(name)}' is no name of a file in it"
    yield from _conflicts([*manifest.files, *manifest.links])
    for name, file in manifest.files.items():
        if not _DIGEST.fullmatch(file.sha256) or file.bytes < 0:
            yield f"'{quote(name)}' has no digest, or no size"
    if manifest.total_bytes > _MOST_BYTES:
        yield "its files are larger than any disk"
    inputs = {f"{case.folder}/data/shared" for case in manifest.cases}
    for name, target in manifest.links.items():
        above = {name[: shared.end()] for shared in _SHARED.finditer(name)}
        if not any(_stays(name, target, folder) for folder in above & inputs):
            yield f"the link '{quote(name)}' leads out of its case"
    yield from _missing(manifest)


def is_safe(name: str) -> bool:
    """Tell whether a name stays in the pack, in a folder that packs have, on every system."""
    first, *rest = name.split("/")
    if not name.isprintable() or "\\" in name or len(name) > _LONGEST_NAME or len(rest) > _DEEPEST:
        return False
    return name in (README, LOCK) or (
        first in _FOLDERS and bool(rest) and not {"", ".", ".."} & set(rest)
    )


def _conflicts(names: list[str]) -> Iterator[str]:
    """Yield names that are a file, or a link, and something else too."""
    # What lies in a folder comes right behind it: no safe name has a character before NUL.
    for name, following in pairwise(sorted(names, key=lambda name: name.replace("/", "\0"))):
        if f"{following}/".startswith(f"{name}/"):
            yield f"'{quote(name)}' is a file and {'a link' if following == name else 'a folder'}"


def _stays(name: str, target: str, inputs: str) -> bool:
    """Tell whether a link among the inputs of a case leads to another place among them.

    As it stands there: a target that goes up behind a name could go through another link.
    """
    if not name.startswith(f"{inputs}/") or target != posixpath.normpath(target):
        return False
    place = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
    return f"{place}/".startswith(f"{inputs}/")


def _missing(manifest: Manifest) -> Iterator[str]:
    names = sorted(manifest.files)

    def holds(folder: str) -> bool:
        at = bisect_left(names, f"{folder}/")
        return any(name.startswith(f"{folder}/") for name in names[at : at + 1])

    if not manifest.cases:
        yield "it holds no case"
    if len({case.results for case in manifest.cases}) < len(manifest.cases):
        yield "two cases in it have one folder of results"
    for case in manifest.cases:
        there = f"{case.folder}/metadata.json" in manifest.files and holds(case.results)
        if not there or not is_safe(case.results):
            yield f"the case '{quote(case.title)}' is not in it"
    for folder in manifest.classes:
        if not holds(folder):
            yield f"the folder '{quote(folder)}' is not in it"


def readme(manifest: Manifest, newest: Mapping[str, RunRecord]) -> Iterator[str]:
    """Yield the lines of the page that says what a pack is, and how to measure it again.

    Args:
        newest: Title of a case to the record of its newest run.
    """
    yield f"""A pack of Benchyard {manifest.benchyard}: benchmark cases, and what was measured.

To measure them again on this machine and to compare, install that version of Benchyard, and

    benchyard reproduce FILE

FILE is the archive, or the folder into which it was unpacked. What is executed are the programs
that the cases name: look at them first if you do not trust where this comes from. To verify all
digests and to see what differs on this machine, without executing anything of the pack:

    benchyard reproduce FILE --dry-run

{LOCK} lists the Python packages that were installed, for pip install --constraint {LOCK}.
"""
    yield "Cases:\n"
    for case in manifest.cases:
        yield f"  {printable(case.title)}: {plural(len(case.runs), 'finished run')}, {case.results}"
        record = newest.get(case.title)
        if record is not None:
            yield from (f"    {line}" for line in _host(record))
    for name, image in manifest.images.items():
        yield f"  image of {printable(name)}: {printable(image)}"
    yield ""
    yield "pack.json holds the digest (SHA-256) of every file, and its size."
    if manifest.classes:
        yield f"Classes of the cases' own (Python code): {', '.join(manifest.classes)}"
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
