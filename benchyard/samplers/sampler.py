"""The parent's end of the sampling process: started, heard, ended, accounted for."""

import contextlib
import json
import os
import select
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from benchyard.children import TAIL, Child, spawn
from benchyard.errors import CommandFailedError, MeasurementError
from benchyard.samplers import process

#: Seconds until the first sample must be there: a loaded machine needs some to start a Python.
START_TIMEOUT = 30.0
#: Seconds that the sampler may take to end once its input has ended.
END_TIMEOUT = 10.0


@dataclass(frozen=True, slots=True)
class Account:
    """What became of a sampler.

    Args:
        missed: Deadlines without a sample; None if it did not live to tell.
        cpu_s: CPU seconds that it took, by the kernel's account.
        error: Why it ended before it was asked to; None if it did not.
    """

    missed: int | None
    cpu_s: float
    error: str | None


class Sampler:
    """One sampling process. Made by ``start_sampler``."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self._account: Account | None = None

    def wait_until_ready(self, timeout: float) -> None:
        """Wait for the first sample.

        Raises:
            MeasurementError: If it does not come in time; the process is gone then.
        """
        line = _first_line(_pipe(self._child.process.stdout), timeout)
        if line != b"ready":
            self._child.kill()
            account = self.end()
            reason = account.error or f"it wrote '{line.decode(errors='replace')}'"
            raise MeasurementError(f"the sampler took no sample within {timeout:g} s: {reason}")

    def end(self) -> Account:
        """Let it take its last sample, and wait until it is gone; again returns the same."""
        if self._account is None:
            self._account = self._end()
        return self._account

    def _end(self) -> Account:
        popen = self._child.process
        with contextlib.suppress(BrokenPipeError):
            _pipe(popen.stdin).close()
        killer = threading.Timer(END_TIMEOUT, self._child.kill)
        killer.daemon = True
        killer.start()
        try:
            ended = self._child.wait()
        finally:
            killer.cancel()
        with _pipe(popen.stdout) as out, _pipe(popen.stderr) as complaints:
            said, stderr = out.read(), complaints.read()
        missed = _missed(said)
        told = stderr[-TAIL:].decode(errors="replace").strip()
        error = None if missed is not None else f"{ended.describe()}; {told or 'it said nothing'}"
        return Account(missed, ended.user_s + ended.system_s, error)


def start_sampler(raw: Path, interval: float) -> Sampler:
    """Start the sampling process, and wait for its first sample.

    Args:
        raw: Where its lines go.
        interval: Seconds between two samples.

    Raises:
        MeasurementError: If it cannot be started or yields no sample.
    """
    arguments = [sys.executable, "-P", process.__file__, str(raw.absolute()), repr(interval)]
    pipe = subprocess.PIPE
    try:
        child = spawn(arguments, folder=raw.parent, stdin=pipe, stdout=pipe, stderr=pipe)
    except CommandFailedError as error:
        raise MeasurementError(f"no sampler: {error}") from error
    sampler = Sampler(child)
    try:
        sampler.wait_until_ready(START_TIMEOUT)
    except MeasurementError:
        raise
    except BaseException:
        child.kill()
        sampler.end()
        raise
    return sampler


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise RuntimeError("a pipe was asked for and not given")
    return stream


def _first_line(stream: IO[bytes], timeout: float) -> bytes:
    """Read a line without its end; less of it if the time is over or the other end is closed."""
    deadline = time.monotonic() + timeout
    line = b""
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([stream], [], [], left)[0]:
            break
        # Past the stream's buffer, a byte at a time: what follows the line stays in the pipe, and
        # ``select`` tells the truth.
        byte = os.read(stream.fileno(), 1)
        if byte in (b"", b"\n"):
            break
        line += byte
    return line


def _missed(said: bytes) -> int | None:
    """Find the account in what the process said; None if it did not get that far."""
    try:
        return int(json.loads(said)["missed"])
    except (ValueError, KeyError, TypeError):
        return None
