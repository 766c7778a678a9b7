"""Where results lie, which runs are done, and what may be removed."""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from benchyard.clock import now
from benchyard.files import remove_tree, sync_folder, sync_tree, write_atomically
from benchyard.model import Case, Json, point_suffix
from benchyard.record import RUN_FILE

DONE = ".done"
WORK = ".work"
#: Files that the lab writes beside the runs of a case.
SUMMARY_FILES = ("summary.json", "summary.csv", "stats.csv", "aggregated.csv", "tries.jsonl")
_RUN = re.compile(r"run_([1-9][0-9]*)")
_UNSAFE = re.compile(r"[^A-Za-z0-9._=,+-]+")
_REPLACED = re.compile(r"run_([1-9][0-9]*)\.replaced")


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
    text = point_suffix(point)[1:-1]
    safe = _UNSAFE.sub("-", text)[:80]
    if safe == text and not safe.startswith(("run_", ".")):
        return safe
    # A tilde, which is not safe above: no plain name looks like a shortened one.
    return f"{safe.lstrip('.')}~{_digest(text.encode())}"


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:16]


def run_folder(results: Path, run: int) -> Path:
    """Return the folder of one run."""
    return results / f"run_{run}"


def is_done(folder: Path) -> bool:
    """Tell whether the run in ``folder`` was finished, and its record looks whole.

    Without its checkpoint it did not happen. Whether its record is a valid one only
    ``read_record`` tells; here it is neither missing, nor empty, nor cut off.
    """
    return is_marked(folder) and _looks_whole(folder / RUN_FILE)


def is_marked(folder: Path) -> bool:
    """Tell whether a run has its checkpoint, Benchyard's or KROWN's.

    Of a folder that nobody may look into it is assumed: its record cannot be read, which all who
    need it tell, and leave that one out.
    """
    try:
        return (folder / DONE).is_file()
    except PermissionError:
        return True


def unreadable_runs(results: Path) -> list[int]:
    """Return the numbers of the runs with a checkpoint whose record is gone or damaged, ascending.

    Those that KROWN made are among them.
    """
    return [run for run, folder in run_folders(results) if is_marked(folder) != is_done(folder)]


def _looks_whole(record: Path) -> bool:
    try:
        with open(record, "rb", opener=_open_at_once) as stream:
            first = stream.read(1)
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - 2))
            return first == b"{" and stream.read().rstrip().endswith(b"}")
    except OSError:
        return False


def _open_at_once(path: str, flags: int) -> int:
    """Open a named pipe without waiting for its writer."""
    return os.open(path, flags | os.O_NONBLOCK)


def done_runs(results: Path) -> list[int]:
    """Return the numbers of the finished runs, ascending."""
    return [run for run, folder in run_folders(results) if is_done(folder)]


def marked_runs(results: Path) -> list[int]:
    """Return the numbers of the runs with a checkpoint, ascending, readable or not."""
    return [run for run, folder in run_folders(results) if is_marked(folder)]


def failed_runs(results: Path) -> list[int]:
    """Return the numbers of the runs that were recorded and are not done, ascending."""
    return [
        run
        for run, folder in run_folders(results)
        if not is_marked(folder) and (folder / RUN_FILE).is_file()
    ]


def run_folders(results: Path) -> list[tuple[int, Path]]:
    """Return number and folder of each run, finished or not, by number."""
    return sorted(_runs(results))


def _runs(results: Path) -> Iterator[tuple[int, Path]]:
    try:
        entries = list(os.scandir(results))
    except OSError:
        return
    for entry in entries:
        match = _RUN.fullmatch(entry.name)
        if match and entry.is_dir(follow_symlinks=False):
            yield int(match[1]), Path(entry.path)


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


def begin_run(results: Path, run: int) -> Path:
    """Make an empty folder for a run, and return it.

    What an unfinished try left is removed. A finished run that is done again is kept beside until
    the new one is finished.
    """
    folder = run_folder(results, run)
    if is_marked(folder):
        remove_tree(_replaced(folder))
        folder.rename(_replaced(folder))
    remove_tree(folder)
    remove_work(folder)
    folder.mkdir(parents=True)
    return folder


def finish_run(folder: Path) -> None:
    """Write the checkpoint, last of all, after everything before it is on disk."""
    remove_work(folder)
    sync_tree(folder)
    write_atomically(folder / DONE, now() + "\n")
    sync_folder(folder.parent)
    remove_tree(_replaced(folder))


def restore_replaced(results: Path) -> list[int]:
    """Put finished runs back whose replacement never was finished; return their numbers."""
    restored: list[int] = []
    for folder in sorted(results.glob("run_*.replaced")):
        match = _REPLACED.fullmatch(folder.name)
        if match is None:
            continue
        run = run_folder(results, int(match[1]))
        if is_done(run):
            remove_tree(folder)
        else:
            remove_tree(run)
            remove_work(run)
            folder.rename(run)
            restored.append(int(match[1]))
    return restored


def _replaced(folder: Path) -> Path:
    return folder.with_name(folder.name + ".replaced")


def campaign_files(results: Path) -> list[Path]:
    """List what the lab made in a folder with the runs of one campaign, and nothing else."""
    runs = [folder for _, folder in run_folders(results)]
    replaced = [f for f in sorted(results.glob("run_*.replaced")) if _REPLACED.fullmatch(f.name)]
    summaries = [results / name for name in SUMMARY_FILES if (results / name).is_file()]
    return runs + replaced + summaries
