"""What taking documents from the spool to the archive costs, with a sink that confirms at once.

Beside ours TensorFlow's way, which locks, reads, stores and moves, and brings nothing to disk; and
the floor: what the disk takes for one name in the archive and one less in the spool, each synced.
"""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.table import Figure, Size, run_program
from benchyard.core.files import sync_folder
from benchyard.publish.archive import LocalArchive
from benchyard.publish.compression import Compression
from benchyard.publish.publisher import publish
from benchyard.publish.sinks.contract import DocumentKind, Spooled
from benchyard.publish.spool import put

FILES, BYTES = 500, 90_000
ROUNDS = 7
#: A limit of this project's own making: a sink with a network behind it takes longer for one file.
FILE_SECONDS = 0.01


class _Confirming:
    """A sink that confirms at once."""

    name = "none"
    kind = DocumentKind.RESULTS
    parallel = 1

    def check(self) -> None:
        """Find nothing."""

    def store(self, spooled: Spooled) -> None:
        """Keep nothing."""

    def close(self) -> None:
        """Have nothing."""


def measure(size: Size) -> list[Figure]:
    """Measure every way in turn."""
    files = size.of(FILES, 5)
    ways: dict[str, Callable[[Path, Path], None]] = {
        "ours": _ours(Compression.NONE),
        "ours, gz": _ours(Compression.GZ),
        "ours, zst": _ours(Compression.ZST),
        "TensorFlow's uploader, nothing synced": _as_uploader,
        "floor: link, unlink, sync": _floor,
    }
    putting: list[float] = []
    took: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(size.of(ROUNDS)):
        for name, way in ways.items():
            with tempfile.TemporaryDirectory() as folder:
                spool, archive = Path(folder, "spool"), Path(folder, "archive")
                archive.mkdir()
                putting.append(_seconds(lambda spool=spool: _fill(spool, files)) / files)
                took[name].append(_seconds(lambda w=way, s=spool, a=archive: w(s, a)) / files)
    title = f"{BYTES // 1000} kB each, of {files} files"
    limits = {"ours": FILE_SECONDS}
    return [
        Figure(f"put into the spool, {title}", putting, "ms"),
        *(
            Figure(f"publish, {title}: {name}", values, "ms", limits.get(name))
            for name, values in took.items()
        ),
    ]


def _seconds(act: Callable[[], None]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def _fill(spool: Path, files: int) -> None:
    content = b"".join(b'{"wallTime": %d.5}\n' % number for number in range(BYTES // 19))
    for number in range(files):
        put(spool, f"{number}.json", content + b"%d" % number)


def _ours(how: Compression) -> Callable[[Path, Path], None]:
    def act(spool: Path, archive: Path) -> None:
        outcome = publish(spool, _Confirming(), LocalArchive(archive, how))
        if not outcome.is_clean or any(spool.iterdir()):
            raise RuntimeError(f"not all was published: {outcome.error}")

    return act


def _as_uploader(spool: Path, archive: Path) -> None:
    """Do what upload_test_benchmarks.py does with files, but for its calls of the client."""
    for path in sorted(spool.iterdir(), key=lambda one: one.stat().st_mtime):
        with path.open(encoding="utf-8") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            stream.read()
            shutil.move(path, archive / path.name)


def _floor(spool: Path, archive: Path) -> None:
    for path in list(spool.iterdir()):
        path.read_bytes()
        os.link(path, archive / path.name)
        sync_folder(archive)
        path.unlink()
        sync_folder(spool)


if __name__ == "__main__":
    run_program(__doc__, measure)
