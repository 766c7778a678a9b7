"""``pack.json``: what is in a pack, with the digest of each file.

Names of files are relative to the pack's root, with ``/`` between folders. Of several files with
one content an archive holds the first by name; the manifest lists them all.
"""

import hashlib
import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import PurePosixPath
from typing import Any

from benchyard.core.errors import InputError
from benchyard.core.json_text import decoded
from benchyard.core.wording import quote
from benchyard.results.typed import read_as

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
_FOLDERS = (CASES, CLASSES, RESULTS)
_LONGEST_NAME = 4096
_DIGEST = re.compile("[0-9a-f]{64}")


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


def read_manifest(content: bytes) -> Manifest:
    """Read and check a manifest that may be anybody's.

    Raises:
        InputError: If it is none, of a later version, or a name in it leads astray.
    """
    if len(content) > LARGEST:
        raise InputError(f"its {MANIFEST} is larger than {LARGEST // 1024**2} MiB")
    try:
        document: Any = decoded(content)
        if document["format"] != FORMAT or document["version"] != VERSION:
            raise InputError(_other_version(document))
        del document["format"], document["version"]
        manifest = read_as(Manifest, document)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError(f"its {MANIFEST} is not readable: {quote(str(error))}") from error
    wrong = list(dict.fromkeys(_wrong(manifest)))
    if wrong:
        raise InputError(f"its {MANIFEST} cannot be trusted: {'; '.join(wrong[:10])}")
    return manifest


def _other_version(document: Any) -> str:
    told = quote(f"{document['format']} version {document['version']}")
    return f"it is {told}, and this Benchyard reads {FORMAT} version {VERSION}; take a newer one"


def _wrong(manifest: Manifest) -> Iterator[str]:
    for name in (*manifest.files, *manifest.links):
        if not is_safe(name):
            yield f"'{quote(name)}' is no name of a file in it"
    yield from _conflicts({*manifest.files, *manifest.links})
    for name, file in manifest.files.items():
        if not _DIGEST.fullmatch(file.sha256) or file.bytes < 0:
            yield f"'{quote(name)}' has no digest, or no size"
    inputs = {f"{case.folder}/data/shared" for case in manifest.cases}
    for name, target in manifest.links.items():
        if not any(_stays(name, target, folder) for folder in inputs):
            yield f"the link '{quote(name)}' leads out of its case"
    yield from _missing(manifest)


def is_safe(name: str) -> bool:
    """Tell whether a name stays in the pack, in a folder that packs have, on every system."""
    first, *rest = name.split("/")
    if not name.isprintable() or "\\" in name or len(name) > _LONGEST_NAME:
        return False
    return name in (README, LOCK) or (
        first in _FOLDERS and bool(rest) and not {"", ".", ".."} & set(rest)
    )


def _conflicts(names: set[str]) -> Iterator[str]:
    """Yield names that are a file, or a link, and a folder with something in it."""
    parents = {str(parent) for name in names for parent in PurePosixPath(name).parents}
    yield from (f"'{quote(name)}' is a file and a folder" for name in sorted(names & parents))


def _stays(name: str, target: str, inputs: str) -> bool:
    """Tell whether a link among the inputs of a case leads to another place among them.

    As it stands there: a target that goes up behind a name could go through another link.
    """
    if not name.startswith(f"{inputs}/") or target != posixpath.normpath(target):
        return False
    place = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
    return f"{place}/".startswith(f"{inputs}/")


def _missing(manifest: Manifest) -> Iterator[str]:
    if not manifest.cases:
        yield "it holds no case"
    for case in manifest.cases:
        if f"{case.folder}/metadata.json" not in manifest.files or not is_safe(case.results):
            yield f"the case '{quote(case.title)}' is not in it"
    for folder in manifest.classes:
        if not any(name.startswith(f"{folder}/") for name in manifest.files):
            yield f"the folder '{quote(folder)}' is not in it"
