"""The command line: errors become one sentence and an exit code here, and nowhere else."""

import os
import sys
from io import BufferedWriter, FileIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchyard.cli.group import cli
from benchyard.cli.terminal import say
from benchyard.core.errors import BenchyardError, ExitCode
from benchyard.run.interrupts import ending, leave

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

#: Set to show tracebacks of internal errors.
DEBUG = "BENCHYARD_DEBUG"
_INTERRUPTED = "interrupted"


def main() -> None:
    """Run the command line and exit."""
    _open_streams()
    _bypass_proxies_for_loopback()
    with ending():
        code = call(sys.argv[1:])
    leave(code)


class _Outflow(FileIO):
    """A standard stream; what its reader, such as ``head``, no longer takes goes nowhere."""

    def write(self, text: "Buffer") -> int:
        """Write to the descriptor, or from a broken pipe on to /dev/null."""
        try:
            return super().write(text)
        except BrokenPipeError:
            with Path(os.devnull).open("wb") as nowhere:
                os.dup2(nowhere.fileno(), self.fileno())
            return memoryview(text).nbytes


def _open_streams() -> None:
    """Make stdout and stderr outlast their readers.

    Where a shell closed one of the three standard streams (``2>&-``) it becomes /dev/null: another
    file would be opened under that number, and get what is meant for a terminal.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free: this one
            if not number:
                sys.stdin = open(number, encoding="utf-8", closefd=False)  # noqa: SIM115
        if number:
            old = getattr(sys, name)
            stream = BufferedWriter(_Outflow(number, "w", closefd=False))
            encoding, at_once = (old.encoding, old.line_buffering) if old else ("utf-8", False)
            setattr(sys, name, TextIOWrapper(stream, encoding, line_buffering=at_once))


def _bypass_proxies_for_loopback() -> None:
    """Let requests to this host's loopback interface use no proxy, in children too.

    The lower-case variable wins in urllib, httpx, requests, gRPC and curl; a lone ``*`` already
    bypasses every proxy.
    """
    excluded = os.environ.get("no_proxy", os.environ.get("NO_PROXY", ""))
    if excluded != "*" and any(name.lower().endswith("_proxy") for name in os.environ):
        hosts = ",".join(filter(None, [excluded, "localhost,127.0.0.1,::1"]))
        os.environ["no_proxy"] = os.environ["NO_PROXY"] = hosts


def call(arguments: list[str]) -> int:
    """Run the command line with ``arguments`` and return the exit code."""
    try:
        return int(cli.main(arguments, "benchyard", standalone_mode=False) or 0)
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except click.ClickException as error:
        shown = StringIO()
        error.show(shown)
        say(shown.getvalue(), err=True, end="")
        return ExitCode.WRONG_INPUT
    except Exception as error:  # noqa: BLE001 - told, and with DEBUG raised
        code, message = _told(error)
    except SystemExit:
        raise
    except BaseException:  # noqa: BLE001 - Ctrl-C, or a signal as Prefect tells of it
        code, message = ExitCode.INTERRUPTED, _INTERRUPTED
    say(f"benchyard: {message}", err=True)
    return code


def _told(error: Exception) -> tuple[ExitCode, str]:
    if isinstance(error, click.Abort):
        return ExitCode.INTERRUPTED, _INTERRUPTED
    from benchyard.lab.trouble import trouble_with_server  # noqa: PLC0415 - guards Prefect: 4 ms

    trouble = trouble_with_server(error)
    if trouble is not None:
        return ExitCode.CASE_FAILED, trouble
    if isinstance(error, BenchyardError):
        return error.exit_code, str(error)
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return ExitCode.CASE_FAILED, f"{where}{error.strerror or error}"
    if os.environ.get(DEBUG):
        raise error
    what = f"{type(error).__name__}: {error}".partition("\n")[0]
    told = f"internal error, not your fault: {what}; {DEBUG}=1 shows where, please report it"
    return ExitCode.INTERNAL, told
