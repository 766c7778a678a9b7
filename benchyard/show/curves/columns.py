"""The columns of large files of samples, kept.

Large files are read once, in a process of its own (so that whoever asks neither waits for other
work nor keeps the memory), into a folder that is kept: columns of floats, which are mapped.
"""

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from benchyard.core.errors import RecordError
from benchyard.core.files import remove_tree, write_json
from benchyard.results.folders import RunFolder
from benchyard.results.samples import SampledSource, read_sources

#: Bytes of samples that are read anew each time, in some 30 ms.
_SMALL = 1_000_000
#: Bytes that all kept columns may have together.
_ROOM = 2 * 2**30
_TIMEOUT = 300.0
_NAMES = "sources.json"

_reading = threading.Lock()


def sources_of(folder: Path, interval_s: float, kept: Path) -> list[SampledSource]:
    """Return the sources of a run, read from its files or mapped from what is kept of them.

    Args:
        kept: Folder for what is kept; it is made, and old things in it are removed.

    Raises:
        RecordError: If the samples cannot be read.
    """
    run = RunFolder(folder)
    try:
        states = [file.stat() for file in (run.metrics, run.resources) if file.exists()]
        if sum(state.st_size for state in states) < _SMALL:
            return read_sources(folder, interval_s)
        told = [os.fspath(folder), interval_s, *((s.st_mtime_ns, s.st_size) for s in states)]
        place = kept / hashlib.sha256(repr(told).encode()).hexdigest()[:32]
        if not (place / _NAMES).is_file():
            with _reading:
                if not (place / _NAMES).is_file():
                    _read_apart(folder, interval_s, place)
                    with suppress(FileNotFoundError):  # another server may make room, too
                        _make_room(kept, place)
        os.utime(place)
        return [*_mapped(place)]
    except (OSError, ValueError) as error:
        raise RecordError(f"{folder}: its curves cannot be read: {error}") from error


def _read_apart(folder: Path, interval_s: float, place: Path) -> None:
    arguments = [os.fspath(folder), repr(interval_s), os.fspath(place)]
    ended = subprocess.run(
        [sys.executable, "-m", __name__, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_TIMEOUT,
        check=False,
    )
    if ended.returncode:
        said = ended.stderr.decode(errors="replace").strip().splitlines()
        raise OSError(said[-1] if said else f"exit code {ended.returncode}")


def _mapped(place: Path) -> Iterator[SampledSource]:
    names: list[str] = json.loads((place / _NAMES).read_bytes())
    for number, name in enumerate(names):
        yield SampledSource(name, np.load(place / f"{number}.npy", mmap_mode="r"))


def _make_room(kept: Path, newest: Path) -> None:
    """Remove what was looked at least recently, if all together is too much."""
    places = sorted(kept.iterdir(), key=lambda place: -place.stat().st_mtime)
    size = 0
    for place in places:
        size += sum(file.stat().st_size for file in place.iterdir())
        if size > _ROOM and place != newest:
            remove_tree(place)


def _keep(folder: Path, interval_s: float, place: Path) -> None:
    beside = place.with_name(f".{place.name}.{os.getpid()}")
    beside.mkdir(parents=True)
    try:
        sources = read_sources(folder, interval_s)
        for number, source in enumerate(sources):
            np.save(beside / f"{number}.npy", source.table)
        write_json(beside / _NAMES, [source.name for source in sources])
        beside.rename(place)
    finally:
        if beside.exists():
            remove_tree(beside)


if __name__ == "__main__":
    os.nice(10)
    _keep(Path(sys.argv[1]), float(sys.argv[2]), Path(sys.argv[3]))
