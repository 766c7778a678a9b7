"""Unpacking: what anybody packed comes to lie in one folder, every digest checked, nothing else."""

import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TypeAlias

from benchyard.core.errors import InputError
from benchyard.core.files import content, files_below, inside, sha256, shown
from benchyard.core.quantity import amount, plural
from benchyard.core.wording import quote
from benchyard.process.files import temporary_folder
from benchyard.publish.packs.archives import Digesting, Members, reading_pack
from benchyard.publish.packs.manifest import CASES, CLASSES, MANIFEST, RESULTS, Manifest, PackedFile

_PIECE = 1 << 20
#: What Python leaves beside modules that it has imported.
_CACHE = "__pycache__"
#: Makes a file that has the content of another one.
_Copy: TypeAlias = Callable[[Path, Path], object]


@contextmanager
def unpacked_to_check(path: Path) -> Generator[tuple[Path, Manifest]]:
    """Unpack into a folder that is gone afterwards; what is there several times is linked.

    Raises:
        InputError: As ``unpack`` does.
    """
    with temporary_folder() as folder, reading_pack(path) as (manifest, members):
        _fill(folder, manifest, members, copy=_link, size=manifest.stored_bytes)
        yield folder, manifest


def unpack(path: Path, into: Path) -> Manifest:
    """Unpack and check a pack.

    A folder that holds the same pack already is checked, and what misses is added.

    Args:
        path: An archive, or a folder into which one was unpacked; that may be ``into`` itself.
        into: A new or empty folder, or one with the same pack.

    Raises:
        InputError: If the pack is damaged, would lead out of the folder or fill the disk, or
            something else has the folder.
    """
    with reading_pack(path) as (manifest, members):
        if (into / MANIFEST).is_file():
            if content(into / MANIFEST) != manifest.to_bytes():
                raise InputError(f"{shown(into)} holds another pack; name another with --into")
            _complete(into, manifest)
        elif into.is_symlink() or (into.exists() and not _is_empty(into)):
            raise InputError(f"{shown(into)} holds something else; name another folder with --into")
        else:
            _make(into, manifest, members)
    return manifest


def _is_empty(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.iterdir())


def _make(into: Path, manifest: Manifest, members: Members) -> None:
    """Fill a folder beside, and give it its name when all is right."""
    into.parent.mkdir(parents=True, exist_ok=True)
    with temporary_folder(into.parent) as making:
        _fill(making, manifest, members, copy=shutil.copyfile, size=manifest.total_bytes)
        making.chmod(0o755)
        if into.exists():
            into.rmdir()
        making.rename(into)


def _fill(into: Path, manifest: Manifest, members: Members, *, copy: _Copy, size: int) -> None:
    free = shutil.disk_usage(into).free
    if size > free:
        raise InputError(
            f"it says that it needs {amount(size, 'B')}, and {shown(into.parent)} has "
            f"{amount(free, 'B')} left"
        )
    _extract(into, manifest, members)
    _finish(into, manifest, copy)


def _extract(into: Path, manifest: Manifest, members: Members) -> None:
    """Write the members of an archive; only names that the manifest has, each once."""
    left = set(manifest.stored.values())
    for name, stream in members:
        if name not in left:
            raise InputError(f"'{quote(name)}' in it is not in its manifest, or twice in it")
        left.discard(name)
        target = into / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            _copy(name, stream, file, manifest.files[name])
    if left:
        raise InputError(f"{_some(left)} missing in it")


def _copy(name: str, stream: IO[bytes], target: IO[bytes], file: PackedFile) -> None:
    # One byte more than there should be is read, and no more: a small archive may hold a large one.
    digesting = Digesting(stream, file.bytes + 1)
    shutil.copyfileobj(digesting, target, _PIECE)
    if target.tell() != file.bytes or digesting.sha256 != file.sha256:
        raise InputError(f"'{quote(name)}' in it is not what its manifest says")


def _complete(into: Path, manifest: Manifest) -> None:
    """Check a folder with the same pack, and add what misses."""
    for name, file in manifest.files.items():
        path = into / name
        if inside(into, name) != into.resolve() / name or not _is_as_packed(path, file):
            raise InputError(f"{shown(path)} is not what was packed; unpack again, elsewhere")
    own = {into / name for name in manifest.files}
    for folder in (CASES, CLASSES, RESULTS):
        for path in files_below(into / folder):
            if path not in own and _CACHE not in path.parts:
                raise InputError(f"{shown(path)} was not packed; move it away")
    for digest, name in manifest.stored.items():
        if not (into / name).exists():
            raise InputError(f"{shown(into / name)} ({digest[:12]}) is missing; unpack again")
    _finish(into, manifest, shutil.copyfile)


def _is_as_packed(path: Path, file: PackedFile) -> bool:
    """Whether a file that no link leads to is right, or misses."""
    return not path.exists() or (path.is_file() and sha256(path) == file.sha256)


def _finish(into: Path, manifest: Manifest, copy: _Copy) -> None:
    """Make what an archive does not hold: copies, modes, links to folders, the manifest."""
    stored = manifest.stored
    for name, file in manifest.files.items():
        path = into / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            first = stored[file.sha256]
            same_mode = file.executable == manifest.files[first].executable
            (copy if same_mode else shutil.copyfile)(into / first, path)
        if file.executable != bool(path.stat().st_mode & 0o100):
            path.chmod(0o755 if file.executable else 0o644)
    for name, target in manifest.links.items():
        link = into / name
        if not (link.is_symlink() and str(link.readlink()) == target):
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(target)
    (into / MANIFEST).write_bytes(manifest.to_bytes())


def _link(source: Path, target: Path) -> None:
    try:
        target.hardlink_to(source)
    except OSError:  # a file system without links, or with too few
        shutil.copyfile(source, target)


def _some(names: set[str]) -> str:
    first = f"'{quote(min(names))}'"
    rest = len(names) - 1
    return f"{first} and {plural(rest, 'file')} more are" if rest else f"{first} is"
