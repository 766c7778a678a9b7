"""A small process that outlives its parent just long enough to kill what the parent started.

It sleeps in a read of a pipe whose other end the parent holds. When the parent dies, whatever
killed it, the read ends, and everything that carries the parent's owner label is killed. A process
that winds up by itself, as the sampler does with its last samples, gets a moment for it. The guard
costs nothing while the parent lives.
"""

import os
import subprocess
import sys
import threading
from pathlib import Path

from benchyard.process.labels import kill_family, this_owner

_lock = threading.Lock()
# A bare descriptor: closed by the kernel when this process ends, and by nothing before.
_pipes: dict[str, int] = {}


def ensure_guard() -> None:
    """Start this process's guard unless it has one."""
    owner = this_owner()
    with _lock:
        if owner not in _pipes:
            _pipes[owner] = _start(owner)


def _start(owner: str) -> int:
    """Start the guard of ``owner`` and return the end of the pipe that it listens to."""
    heard, held = os.pipe()
    try:
        process = subprocess.Popen([*python("guard"), owner], stdin=heard, start_new_session=True)
    finally:
        os.close(heard)
    # It is meant to outlive this process: nobody waits for it, and that is no mistake.
    process.returncode = 0
    return held


def python(module: str) -> list[str]:
    """Return what executes the main function of a module of this room, and imports little."""
    root = str(Path(__file__).resolve().parents[2])
    path = f"import sys; sys.path.insert(0, {root!r})"
    code = f"{path}; from benchyard.process.{module} import main; main()"
    return [sys.executable, "-I", "-S", "-c", code]


def main() -> None:
    """Wait for the parent's end, then kill what it left."""
    owner = sys.argv[1]
    sys.stdin.buffer.read()
    kill_family(lambda value: value == owner)
