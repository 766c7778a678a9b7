"""Where tests let servers listen."""

import os
import socket
from contextlib import suppress
from itertools import count

#: Below those that the kernel gives out, so that nobody gets one of them by chance before it is
#: used; each process of tests begins elsewhere.
_numbers = count(12_000 + os.getpid() % 400 * 50)


def free_port() -> int:
    """Return a port of loopback that nobody listens at, and each only once."""
    for port in _numbers:
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError
