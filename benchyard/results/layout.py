"""Where results lie, how a run begins and ends in them, and what may be removed."""

import hashlib
import os
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path

from benchyard.core.clock import now
from benchyard.core.files import (
    files_below,
    remove_tree,
    shown,
    sync_file,
    sync_folder,
    write_atomically,
)
from benchyard.core.model import Case, Json, folder_of, point_suffix
from benchyard.results.folders import (
    DONE,
    REPLACED,
    SUMMARY_FILES,
    WORK,
    Results,
    RunFolder,
    run_folder,
    run_number,
)
from benchyard.results.ownership import (
    clear_run,
    is_own_run,
    is_summary,
    make_run,
    not_ours,
    passing,
)
from benchyard.results.record import RunRecord

Say = Callable[[str], None]
_UNSAFE = re.compile(r"[^A-Za-z0-9._=,+-]+")


def results_folder(case: Case, root: Path, elsewhere: Path | None) -> Path:
    """Return the folder with the runs of a case.

    Args:
        root: Folder that cases are looked for in; their place below it is kept elsewhere.
        elsewhere: Where results go instead of into the case, or None.
    """
    if elsewhere is None:
        base = case.folder / "results"
    elif case.folder.is_relative_to(root.resolve()):
        base = elsewhere / case.folder.relative_to(root.resolve())
    else:
        # Two cases of one folder name outside of the root must not share their results.
        base = elsewhere / f"{case.folder.name}-{_digest(os.fsencode(case.folder))}"
    return base / point_slug(case.point) if case.point else base


def point_slug(point: Mapping[str, Json]) -> str:
    """Return a folder name for a point of a matrix; points of two names never share one."""
    return distinct_slug(point_suffix(point)[1:-1])


def case_place(record: RunRecord) -> Path:
    """Return a place for the runs of a record's case below any folder; its names are harmless."""
    case, point = record.case, record.case.get("point")
    place = Path(distinct_slug(str(case.get("name") or case.get("title"))))
    return place / point_slug(point) if isinstance(point, dict) and point else place


def distinct_slug(text: str) -> str:
    """Return a folder name for a text; two texts never share one."""
    safe = _UNSAFE.sub("-", text)[:80]
    if safe == text and not safe.startswith(("run_", ".")):
        return safe
    # A tilde, which is not safe above: no plain name looks like a shortened one.
    return f"{safe.lstrip('.')}~{_digest(text.encode(errors='surrogatepass'))}"


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:16]


def kept_folders(case: Case) -> set[str]:
    """Return the names of the folders in which the resources of a case keep their outputs."""
    return {folder_of(name) for name in case.resources}


def work_folder(folder: Path) -> Path:
    """Return where the programs of the run in ``folder`` work.

    Not below a folder of ours that is named ``scale=0.1``: readers of partitioned data, DuckDB's
    among them, take that in a path for a column.
    """
    results = folder.parent
    if "=" not in results.name:
        return folder / WORK
    return results.parent / WORK / f"{_digest(os.fsencode(results.name))}-{folder.name}"


def remove_work(folder: Path) -> None:
    """Remove what the programs of the run in ``folder`` left where they worked."""
    work = work_folder(folder)
    remove_tree(work)
    if work.parent.name == WORK:
        with suppress(OSError):  # there is none, or it holds what another point's run left
            work.parent.rmdir()


def left_works(results: Path) -> list[Path]:
    """Return the places in which the runs of killed labs worked beside their results."""
    name = work_folder(results / "run_*").name
    return sorted((results.parent / WORK).glob(name)) if name != WORK else []


def begin_run(
    results: Path, run: int, resources: Collection[str] = (), say: Say = lambda _text: None
) -> Path:
    """Make an empty folder for a run, and return it.

    What an unfinished try left is removed. A finished run that is done again is kept beside until
    the new one is finished.

    Args:
        resources: Names of the folders in which the outputs of the resources will be.
        say: Called with a sentence when a folder stays since something in it is not ours.

    Raises:
        InputError: If something that is not ours has the place.
    """
    folder = run_folder(results, run)
    refuse_foreign(results, (run,))
    for left in passing(results):
        remove_tree(left)
    if RunFolder(folder).is_marked:
        _clear(_replaced(folder), resources, say)
        folder.rename(_replaced(folder))
    _clear(folder, resources, say)
    remove_work(folder)
    make_run(folder, resources)
    return folder


def _clear(folder: Path, resources: Collection[str], say: Say) -> None:
    """Take a run of ours away; whatever in it is not ours stays, and the user is told."""
    if is_own_run(folder):
        kept = clear_run(folder, resources)
        if kept is not None:
            say(f"{shown(kept)} holds what Benchyard did not make, and is kept as it was")


def refuse_foreign(results: Path, runs: Collection[int]) -> None:
    """Refuse to work where something that is not ours has the place of a run or of a summary.

    An empty folder is nobody's.

    Raises:
        InputError: If it has.
    """
    folders = [run_folder(results, run) for run in runs]
    for path in (*folders, *map(_replaced, folders)):
        if os.path.lexists(path) and not is_own_run(path) and not _is_empty(path):
            raise not_ours(path)
    for path in (results / name for name in SUMMARY_FILES):
        if os.path.lexists(path) and not is_summary(path):
            raise not_ours(path)


def _is_empty(folder: Path) -> bool:
    return not folder.is_symlink() and folder.is_dir() and not any(folder.iterdir())


def finish_run(folder: Path, say: Say = lambda _text: None) -> None:
    """Write the checkpoint, last of all, after everything before it is on disk."""
    remove_work(folder)
    _sync_tree(folder)
    write_atomically(folder / DONE, now() + "\n")
    sync_folder(folder.parent)
    _clear(_replaced(folder), (), say)


def restore_replaced(results: Path, say: Say = lambda _text: None) -> list[int]:
    """Put finished runs back whose replacement never was finished; return their numbers."""
    restored: list[int] = []
    for folder in replaced_runs(results):
        run = folder.with_suffix("")
        if RunFolder(run).is_done:
            _clear(folder, (), say)
        elif not os.path.lexists(run) or is_own_run(run) or _is_empty(run):
            _clear(run, (), say)
            remove_work(run)
            folder.rename(run)
            restored.append(RunFolder(run).number)
    return restored


def _sync_tree(folder: Path) -> None:
    """Sync every file and folder below ``folder`` to disk."""
    for file in files_below(folder):
        sync_file(file)
    for parent, _, _ in os.walk(folder):
        sync_folder(Path(parent))


def replaced_runs(results: Path) -> list[Path]:
    """List the runs of ours that are kept until their replacement is finished."""
    found = sorted(results.glob(f"run_*{REPLACED}"))
    return [folder for folder in found if run_number(folder.stem) and is_own_run(folder)]


def _replaced(folder: Path) -> Path:
    return folder.with_name(folder.name + REPLACED)


def campaign_files(results: Path) -> list[Path]:
    """List what the lab made in a folder with the runs of one campaign, and nothing else."""
    summaries = [results / name for name in SUMMARY_FILES if is_summary(results / name)]
    return [*own_runs(results), *replaced_runs(results), *summaries]


def own_runs(results: Path) -> list[Path]:
    """List the folders of the runs that the lab, or KROWN, made, by number."""
    return [run.path for run in Results(results).runs().values() if is_own_run(run.path)]
