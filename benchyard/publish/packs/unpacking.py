"""Unpacking: what anybody packed comes to lie in one folder, every digest checked, nothing else."""

import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from benchyard.core.errors import InputError
from benchyard.core.files import content, files_below, inside, remove_tree, sha256, shown
from benchyard.core.quantity import amount, plural
from benchyard.core.wording import quote
from benchyard.publish.packs.archives import Digesting, Source, reading_pack
from benchyard.publish.packs.manifest import (
    CASES,
    CLASSES,
    MANIFEST,
    RESULTS,
    Manifest,
    PackedFile,
)

_PIECE = 1 << 20
#: What Python leaves beside modules that it has imported.
_CACHE = "__pycache__"


@contextmanager
def unpacked_to_check(path: Path) -> Generator[tuple[Path, Manifest]]:
    """Unpack into a folder that is gone afterwards; see ``unpack``."""
    with tempfile.TemporaryDirectory(prefix="benchyard-pack-") as folder:
        place = Path(folder) / "pack"
        yield place, unpack(path, place)


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
    with reading_pack(path) as source:
        if (into / MANIFEST).is_file():
            _refuse_other(into, source.manifest)
            _complete(into, source)
        elif into.is_symlink() or (into.exists() and not _is_empty(into)):
            raise InputError(f"{shown(into)} holds something else; name another folder with --into")
        else:
            _make(into, source)
    return source.manifest


def _is_empty(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.iterdir())


def _refuse_other(into: Path, manifest: Manifest) -> None:
    if content(into / MANIFEST) != manifest.to_bytes():
        raise InputError(f"{shown(into)} holds another pack; name another folder with --into")


def _make(into: Path, source: Source) -> None:
    """Fill a folder beside, and give it its name when all is right."""
    into.parent.mkdir(parents=True, exist_ok=True)
    _refuse_too_large(into.parent, source.manifest)
    making = Path(tempfile.mkdtemp(prefix=f".{into.name}.", dir=into.parent))
    try:
        _extract(making, source)
        _finish(making, source.manifest)
        making.chmod(0o755)
        if into.exists():
            into.rmdir()
        making.rename(into)
    except BaseException:
        remove_tree(making)
        raise


def _refuse_too_large(place: Path, manifest: Manifest) -> None:
    free = shutil.disk_usage(place).free
    if manifest.total_bytes > free:
        raise InputError(
            f"it says that it needs {amount(manifest.total_bytes, 'B')}, and {shown(place)} has "
            f"{amount(free, 'B')} left"
        )


def _extract(into: Path, source: Source) -> None:
    """Write the members of an archive; only names that the manifest has, each once."""
    manifest = source.manifest
    left = set(manifest.stored.values())
    for name, stream in source.members:
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


def _complete(into: Path, source: Source) -> None:
    """Check a folder with the same pack, and add what misses."""
    manifest = source.manifest
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
    _finish(into, manifest)


def _is_as_packed(path: Path, file: PackedFile) -> bool:
    """Whether a file that no link leads to is right, or misses."""
    return not path.exists() or (path.is_file() and sha256(path) == file.sha256)


def _finish(into: Path, manifest: Manifest) -> None:
    """Make what an archive does not hold: copies, modes, links to folders, the manifest."""
    stored = manifest.stored
    for name, file in manifest.files.items():
        path = into / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(into / stored[file.sha256], path)
        if file.executable != bool(path.stat().st_mode & 0o100):
            path.chmod(0o755 if file.executable else 0o644)
    for name, target in manifest.links.items():
        link = into / name
        if not (link.is_symlink() and str(link.readlink()) == target):
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(target)
    (into / MANIFEST).write_bytes(manifest.to_bytes())


def _some(names: set[str]) -> str:
    first = f"'{quote(min(names))}'"
    rest = len(names) - 1
    return f"{first} and {plural(rest, 'file')} more are" if rest else f"{first} is"
