"""Daemons that nobody recognises by label, session, name or parent; a program and its callers.

``python daemons.py FILE WAY`` ends when the daemon runs and has written its pid to FILE.
"""

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

#: All leave their session, and their parent ends.
WAYS = ("cleared", "overwritten", "stubborn", "family", "env -i")


def daemon(way: str, file: Path) -> list[str]:
    """Return the arguments of a program that leaves a daemon."""
    if way == "env -i":
        sleeps = f"echo $$ > {file}.new; mv {file}.new {file}; exec sleep 300"
        begins = f"env -i setsid sh -c '{sleeps}' </dev/null >/dev/null 2>&1 &"
        return ["sh", "-c", f"{begins} until [ -e {file} ]; do sleep 0.01; done"]
    return [sys.executable, "-I", "-S", __file__, str(file), way]


def pids(folder: Path) -> list[int]:
    """Return the daemons that wrote files there."""
    return [int(pid) for file in folder.glob("*.pid") for pid in file.read_text().split()]


def _main(file: Path, way: str) -> None:
    heard, told = os.pipe()
    if os.fork():
        os.close(told)
        os.read(heard, 1)  # its end: the daemon runs
        os._exit(0)
    os.setsid()
    if os.fork():
        os._exit(0)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    _live(file, way, told)


def _live(file: Path, way: str, told: int) -> None:
    if way == "cleared":
        _write(file, [os.getpid()])
        os.execve("/bin/sleep", ["sleep", "300"], {})  # noqa: S606
    _overwrite()
    if way == "stubborn":
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
    known = [os.getpid()]
    if way == "family":
        known.append(_fork(told))
    _write(file, known)
    os.close(told)
    time.sleep(300)


def _fork(told: int) -> int:
    child = os.fork()
    if not child:
        os.close(told)
        os.setsid()
        time.sleep(300)
    return child


def _write(file: Path, known: list[int]) -> None:
    new = file.with_suffix(".new")
    new.write_text(" ".join(map(str, known)))
    new.rename(file)


def _overwrite() -> None:
    """Do as setproctitle does: write another name over arguments and environment."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    begin, end = int(fields[45]), int(fields[48])
    with Path("/proc/self/mem").open("r+b", 0) as memory, suppress(OSError):
        memory.seek(begin)
        memory.write(b"innocent".ljust(end - begin, b"\0"))
    Path("/proc/self/comm").write_text("innocent")


if __name__ == "__main__":
    _main(Path(sys.argv[1]), sys.argv[2])
