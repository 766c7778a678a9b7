"""Whose a run's folder is, and what in it: only what the lab made is removed, replaced or moved.

A run's folder has a mark from its first moment on. Those of earlier versions, and KROWN's, are
known by what is in them. A file in a run's folder is the lab's by its name, or since the record
lists it; in a folder of a resource before there is a record, everything is.

A file beside the runs is ours by its form. No list says which are: whoever copies results, or is
killed between two files, would have one that lies. A file that is edited within its form counts as
ours, and is made anew.
"""

import json
import os
import re
import stat
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from benchyard.core.errors import InputError
from benchyard.core.files import content, files_below, remove_tree, shown, write_json
from benchyard.core.json_text import decoded
from benchyard.core.model import Json, folder_of
from benchyard.results.folders import (
    AGGREGATED_FILE,
    DONE,
    MARK,
    RUN_FILE,
    RUN_FILES,
    STATS_FILE,
    SUMMARY_FILE,
    SUMMARY_FORMAT,
    SUMMARY_TABLE,
    TRIES_FILE,
    WORK,
)
from benchyard.results.krown import is_krowns, is_ours
from benchyard.results.record import FORMAT

_MARK_FORMAT = "benchyard-run-folder"
#: As ``writing_atomically`` names what it begins.
_BEGUN = re.compile(r"\.(.+)\.[0-9]+\.new")
#: Hidden folders that are ours by their name: one that is being made, one that is being removed.
_MAKING, _REMOVING = ".making-", ".removing-"
_PASSING = re.compile(r"\.(making|removing)-run_[1-9][0-9]*(\.replaced)?")

_BEGINNING = 65_536
_JSON = b'"format": ' + json.dumps(SUMMARY_FORMAT).encode()
#: Columns that KROWN's tables have in all versions, ours too, and that no other table has.
_TABLES = {
    STATS_FILE: ("step", "version", "cpu_user_diff"),
    SUMMARY_TABLE: ("step", "version", "cpu_user_diff"),
    AGGREGATED_FILE: ("step", "version", "timestamp"),
}
_TRY = b'{"version":'


def make_run(folder: Path, resources: Collection[str]) -> None:
    """Make the folder of a run, which has its mark from its first moment on.

    Args:
        resources: Names of the folders in which the outputs of the resources will be.
    """
    making = folder.with_name(_MAKING + folder.name)
    remove_tree(making)
    making.mkdir(parents=True)
    write_json(making / MARK, {"format": _MARK_FORMAT, "folders": list[Json](sorted(resources))})
    making.rename(folder)


def is_own_run(folder: Path) -> bool:
    """Tell whether a folder is that of a run of ours, or of KROWN's; links are nobody's."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    return (
        _is_file(folder / MARK)
        or (_is_file(folder / DONE) and not (folder / DONE).stat().st_size)
        or (folder / WORK).is_dir()
        or _record(folder) is not None
        or is_ours(folder)
        or is_krowns(folder)
    )


def foreign_in(folder: Path, resources: Collection[str] = ()) -> list[Path]:
    """Return what lies in a run's folder and the lab did not make.

    Args:
        resources: Folders of resources that the case has now, for runs without mark and record.
    """
    known = _known(folder, resources)
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    return [path for entry in found for path in _foreign(folder, entry, known)]


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of a run's folder.

    Args:
        folders: Those of resources.
        files: What was kept in them; None if nothing says so, and all of it may have been.
    """

    folders: Collection[str]
    files: Collection[str] | None


def _known(folder: Path, resources: Collection[str]) -> _Known:
    mark, record = _document(folder / MARK), _record(folder)
    marked: Any = mark.get("folders") if mark else None
    folders = {*map(str, cast("list[Any]", marked))} if isinstance(marked, list) else set[str]()
    if record is None:
        return _Known(folders or set(resources), None)
    named: Any = record.get("resources")
    if isinstance(named, dict):
        folders |= {folder_of(str(name)) for name in cast("dict[Any, Any]", named)}
    outputs: Any = record.get("outputs")
    listed = cast("list[Any]", outputs) if isinstance(outputs, list) else []
    entries = [cast("dict[str, Any]", one) for one in listed if isinstance(one, dict)]
    files = {str(entry.get("path")) for entry in entries}
    return _Known(folders | {file.partition("/")[0] for file in files}, files)


def _foreign(folder: Path, entry: "os.DirEntry[str]", known: _Known) -> Iterator[Path]:
    path, name = Path(entry.path), entry.name
    is_folder = entry.is_dir(follow_symlinks=False)
    if is_folder and name in known.folders:
        for file in () if known.files is None else files_below(path):
            if known.files is not None and str(file.relative_to(folder)) not in known.files:
                yield file
    elif not (name == WORK if is_folder else _is_own_file(path)):
        yield path


def _is_own_file(path: Path) -> bool:
    begun = _BEGUN.fullmatch(path.name)
    return (begun[1] if begun else path.name) in RUN_FILES and _is_file(path)


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _record(folder: Path) -> dict[str, Any] | None:
    """Return the record of a run of ours, as it lies there."""
    found = _document(folder / RUN_FILE)
    return found if found and found.get("format") == FORMAT else None


def _document(path: Path) -> dict[str, Any] | None:
    if not _is_file(path):
        return None
    with suppress(OSError, ValueError, RecursionError):
        found = decoded(content(path), exact=False)
        return cast("dict[str, Any]", found) if isinstance(found, dict) else None
    return None


def remove_run(folder: Path, resources: Collection[str] = ()) -> list[Path]:
    """Remove what the lab made in a run's folder; return what else is in it, and stays.

    The folder is known as ours until the end, whenever this is killed.
    """
    left = foreign_in(folder, resources)
    if not left:
        removing = folder.with_name(_REMOVING + folder.name)
        remove_tree(removing)
        folder.rename(removing)
        remove_tree(removing)
        return []
    last = (folder / RUN_FILE, folder / MARK)
    own = [path for path in _beside(folder, left) if path not in last]
    for path in (folder / DONE, *own, *last):
        remove_tree(path)
    return left


def _beside(folder: Path, left: Collection[Path]) -> Iterator[Path]:
    """Yield what in a folder does not stay; of folders in which something stays, the rest."""
    for path in sorted(folder.iterdir()):
        if path in left:
            continue
        if any(path in stays.parents for stays in left):
            yield from _beside(path, left)
        else:
            yield path


def clear_run(folder: Path, resources: Collection[str] = ()) -> Path | None:
    """Take a run's folder away; one in which something is not ours keeps all it has.

    Returns:
        Where it lies then, ``run_1.kept-20261123T071500Z``; None if it was removed.
    """
    if not foreign_in(folder, resources):
        remove_run(folder, resources)
        return None
    name = f"{folder.name}.kept-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    names = (name, *(f"{name}-{number}" for number in range(2, 1000)))
    kept = next(one for one in map(folder.with_name, names) if not os.path.lexists(one))
    return folder.rename(kept)


def passing(results: Path) -> list[Path]:
    """List hidden folders that a killed lab was making or removing."""
    with suppress(OSError), os.scandir(results) as entries:
        return sorted(Path(e.path) for e in entries if _PASSING.fullmatch(e.name))
    return []


def is_summary(path: Path) -> bool:
    """Tell whether a file is one that the lab, or KROWN, writes beside runs under this name.

    An empty one counts as one, and so does what a power cut left of one (zeros): nothing is lost
    with it.
    """
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return False
        with path.open("rb") as stream:
            beginning = stream.read(_BEGINNING)
    except OSError:
        return False
    return not beginning.strip(b"\0") or _has_form(path.name, beginning)


def _has_form(name: str, beginning: bytes) -> bool:
    if name == SUMMARY_FILE:
        return beginning.startswith(b"{") and _JSON in beginning[:200]
    if name == TRIES_FILE:
        return beginning.startswith(_TRY) and b'"case":' in beginning[:200]
    columns = beginning.split(b"\n", 1)[0].decode(errors="replace").strip().split(",")
    wanted = _TABLES.get(name, ())
    return bool(wanted) and all(any(c.startswith(w) for c in columns) for w in wanted)


def not_ours(path: Path) -> InputError:
    """Return the refusal of something that has the place of what the lab makes."""
    return InputError(
        f"{shown(path)} was not made by Benchyard, and would be replaced: move it away, or choose "
        "another folder with --results"
    )
