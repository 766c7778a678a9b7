"""Files that a subject is made of: stamps, and digests of their contents."""

import glob
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from benchyard.case.subject.code import INSTALLED
from benchyard.core.errors import InputError
from benchyard.core.files import sha256
from benchyard.core.model import Case, Json, JsonObject

#: Size, modification and change time, and inode of a file. Writing to it changes one of them even
#: if the modification time is set back; so does another name or mode.
Stamp = tuple[int, int, int, int]


def stamps(inputs: Path) -> dict[str, Stamp]:
    """Return the stamp of each input by its name below ``inputs``."""
    if not inputs.is_dir():
        return {}
    return {str(f.relative_to(inputs)): stamp(f) for f in inputs_below(inputs)}


def inputs_below(inputs: Path) -> Iterator[Path]:
    """Yield every input in sorted order, none if there is no folder.

    Links are followed, those to folders once and only to places outside: a run sees them too.
    """
    inside, seen = os.path.realpath(inputs), set[str]()
    for parent, folders, files in os.walk(inputs, followlinks=True):
        yield from (Path(parent, name) for name in sorted(files) if Path(parent, name).is_file())
        folders[:] = [name for name in sorted(folders) if _leads_on(parent, name, inside, seen)]


def _leads_on(parent: str, name: str, inside: str, seen: set[str]) -> bool:
    path = Path(parent, name)
    if not path.is_symlink():
        return True
    target = os.path.realpath(path)
    new = target not in seen and not f"{target}/".startswith(f"{inside}/")
    seen.add(target)
    return new


def stamp(file: Path) -> Stamp:
    """Return the values by which a change of a file is noticed.

    Raises:
        OSError: If it is not there.
    """
    status = file.stat()
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def content_hash(folder: Path, included: Iterable[Path] = ()) -> str:
    """Return a digest of a case: metadata.json and every input, names and contents.

    Args:
        folder: The case's.
        included: Further files that its steps stand in.
    """
    shared = folder / "data" / "shared"
    inputs = digests(shared, stamps(shared))
    named = declaration(folder, included)
    named |= {f"data/shared/{name}": found for name, found in inputs.items()}
    digest = hashlib.sha256()
    for name, found in named.items():
        coded = os.fsencode(name)
        digest.update(len(coded).to_bytes(8, "big") + coded + bytes.fromhex(found))
    return f"sha256:{digest.hexdigest()}"


def declaration(folder: Path, included: Iterable[Path] = ()) -> dict[str, str]:
    """Return the digests of the files that say what a case does, by their paths from it on."""
    named = sorted((os.path.relpath(file, folder), file) for file in included)
    files = {"metadata.json": folder / "metadata.json", **dict(named)}
    return {name: digest(file) for name, file in files.items()}


def digests(inputs: Path, seen: Mapping[str, Stamp]) -> Mapping[str, str]:
    """Return the digest of each input that was seen; each state of the files is read once."""
    return {name: _digest(inputs / name, found) for name, found in seen.items()}


def digest(file: Path) -> str:
    """Return the digest of a file; each state of it is read once.

    Raises:
        OSError: If it cannot be read.
    """
    return _digest(file, stamp(file))


@lru_cache(maxsize=65_536)
def _digest(file: Path, _seen: Stamp) -> str:
    return sha256(file)


#: Folders that no source file of a project is in.
_PRUNED = INSTALLED | {"node_modules", "__pycache__", ".git"}


def project_files(place: Path, without: Sequence[Path]) -> Iterator[Path]:
    """Yield the files of a project at a place; caches and virtual environments are left out.

    Args:
        place: A folder, or one file.
        without: Folders that are left out as well: results.
    """
    if place.is_file():
        yield place
    for parent, folders, files in os.walk(place):
        folders[:] = (name for name in folders if not _is_pruned(Path(parent, name), without))
        yield from (file for name in files if (file := Path(parent, name)).is_file())


def _is_pruned(folder: Path, without: Sequence[Path]) -> bool:
    return folder.name in _PRUNED or folder in without or (folder / "pyvenv.cfg").is_file()


def digest_of_files(files: Iterable[Path], folder: Path) -> str:
    """Return one digest of files, by their names from a folder on and their contents."""
    lines = sorted(f"{os.path.relpath(file, folder)}\0{digest(file)}\n" for file in files)
    whole = hashlib.sha256("".join(lines).encode(errors="surrogateescape"))
    return f"sha256:{whole.hexdigest()}"


def declared_files(case: Case, without: Sequence[Path]) -> dict[str, JsonObject]:
    """Return the digests of what a case declares as the measured program, by part and pattern.

    Args:
        without: Folders whose files are no part of it: results.

    Raises:
        InputError: If a pattern matches no file.
    """
    patterns = {"files": case.files, "build": case.build}
    return {
        part: {name: _digest_at(case, part, name, without) for name in names}
        for part, names in patterns.items()
    }


def _digest_at(case: Case, part: str, pattern: str, without: Sequence[Path]) -> Json:
    root = case.root
    places = [root / name for name in glob.glob(pattern, root_dir=root, recursive=True)]  # noqa: PTH207 - Path.glob takes no absolute pattern
    files = {
        file
        for place in places
        if not any(_is_pruned(up, without) for up in place.parents if root in up.parents)
        for file in project_files(place, without)
    }
    if not files:
        todo = "correct" if part == "files" else "build the program first, or correct"
        raise InputError(
            f"{case.title}: '{pattern}' matches no file in {root}; {todo} '{part}' under 'subject'"
        )
    return digest_of_files(files, root)
