#!/usr/bin/python3 -IS
"""Writes down how it was called, as one line of JSON, and does what its environment says.

The line has ``program`` (the name it was called by), ``arguments`` (those after it),
``environment``, ``mounts`` (where to type, options and whether it is read-only), ``host_name``,
``user``, ``group``, ``working_folder``, and ``stdin`` where it was asked for. Variables:

- ``RECORDER_OUTPUT``: ``-o`` (or another option: the file is what follows it), ``last`` (the last
  argument), or a path: where the line is written, too. By default what follows ``-o``, if
  anything. A folder gets a file ``1``. ``none``: nowhere.
- ``RECORDER_TEXT``: what is written there instead of the line.
- ``RECORDER_LOG``: a file to which the line is appended.
- ``RECORDER_SAY``, ``RECORDER_SAY_<PROGRAM>``: what is written to stdout instead of the line;
  ``RECORDER_ERROR``, ``RECORDER_ERROR_<PROGRAM>``: what is written to stderr.
- ``RECORDER_EXIT``, ``RECORDER_EXIT_<PROGRAM>``: the exit code.
- ``RECORDER_STDIN``: if set, stdin is read to its end and is part of the line.
- ``RECORDER_PORTS``: such as ``8890,1111``: it listens there until SIGTERM, answers each HTTP
  request and writes it down as a line with ``method``, ``path``, ``headers`` and ``body``.
- ``RECORDER_STATUS``, ``RECORDER_ANSWER``, ``RECORDER_TYPE``: of these answers; by default 200,
  the line, and ``application/json``.
- ``RECORDER_READY``: a line for stdout once it listens, or once it has written the line.
- ``RECORDER_STAY``: if set, it stays until SIGTERM even without ports.
- ``RECORDER_DELAY``: seconds before it listens and says that it is ready.

In ``<PROGRAM>``, letters are capital and what is neither letter nor digit is ``_``. Ports, the
ready line and staying are for the container's own process, never for one executed in it.
"""

import json
import os
import pwd
import re
import signal
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

PROGRAM = Path(sys.argv[0]).name
_writing = threading.Lock()


def setting(name: str) -> str | None:
    """Return a variable, that of this very program first."""
    own = f"RECORDER_{name}_{re.sub(r'[^A-Z0-9]', '_', PROGRAM.upper())}"
    return os.environ.get(own, os.environ.get(f"RECORDER_{name}"))


def call() -> dict[str, Any]:
    """Return how this process was called."""
    found: dict[str, Any] = {
        "program": PROGRAM,
        "arguments": sys.argv[1:],
        "environment": dict(os.environ),
        "mounts": dict(map(_mount, Path("/proc/self/mounts").read_text().splitlines())),
        "host_name": socket.gethostname(),
        "user": _user(),
        "group": os.getgid(),
        "working_folder": str(Path.cwd()),
    }
    if setting("STDIN"):
        found["stdin"] = sys.stdin.read()
    return found


def _mount(line: str) -> tuple[str, dict[str, Any]]:
    _, target, kind, options, *_ = line.split()
    # Where the engine keeps an overlay's layers says nothing about the call.
    parted = [option for option in options.split(",") if "dir=" not in option]
    return target, {"type": kind, "options": parted, "read_only": "ro" in parted}


def _user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def output() -> Path | None:
    """Return the file that the arguments or the environment name, if any."""
    asked = setting("OUTPUT") or "-o"
    if asked == "none":
        return None
    if asked == "last":
        return _file(sys.argv[-1]) if sys.argv[1:] else None
    if not asked.startswith("-"):
        return _file(asked)
    before = [index for index, each in enumerate(sys.argv[:-1]) if each == asked]
    return _file(sys.argv[before[-1] + 1]) if before else None


def _file(name: str) -> Path:
    return Path(name, "1") if Path(name).is_dir() else Path(name)


def write_down(line: str) -> None:
    """Write a line to stdout, unless other words are asked for, and to the log."""
    with _writing:
        said = setting("SAY")
        sys.stdout.write(f"{line}\n" if said is None else said)
        sys.stdout.flush()
        log = setting("LOG")
        if log:
            with Path(log).open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")


class Answering(BaseHTTPRequestHandler):
    """Answers every request and writes it down."""

    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        """Answer one request."""
        body = self._body()
        asked = {"method": self.command, "path": self.path, "headers": dict(self.headers.items())}
        line = json.dumps({**asked, "body": body.decode(errors="replace")})
        write_down(line)
        answer = (os.environ.get("RECORDER_ANSWER") or line).encode()
        self.send_response(int(os.environ.get("RECORDER_STATUS", "200")))
        self.send_header("Content-Type", os.environ.get("RECORDER_TYPE", "application/json"))
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = answer  # noqa: N815 - the library's names

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Keep stderr for what is asked for."""


def serve() -> None:
    """Listen where it is asked for, say that it is ready, and stay if there is a reason to."""
    time.sleep(float(setting("DELAY") or 0))
    ports = [int(port) for port in (setting("PORTS") or "").split(",") if port]
    for port in ports:
        # Bound and listening once it is made: the ready line comes after.
        server = ThreadingHTTPServer(("", port), Answering)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    ready = setting("READY")
    if ready:
        with _writing:
            sys.stdout.write(f"{ready}\n")
            sys.stdout.flush()
    if ports or setting("STAY"):
        signal.sigwait([signal.SIGTERM, signal.SIGINT])


def main() -> int:
    """Write down the call, do what the environment says, and return the exit code."""
    # Blocked from the start, so that the signal is not lost before it is waited for.
    own_process = os.getpid() == 1
    if own_process:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGINT])
    line = json.dumps(call())
    file = output()
    if file is not None:
        text = setting("TEXT")
        file.write_text(f"{line}\n" if text is None else text, encoding="utf-8")
    write_down(line)
    sys.stderr.write(setting("ERROR") or "")
    if own_process:
        serve()
    return int(setting("EXIT") or 0)


if __name__ == "__main__":
    sys.exit(main())
