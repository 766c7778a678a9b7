"""Ports of this host's loopback."""

import socket

#: Servers that a case starts are there for this host alone.
LOOPBACK = "127.0.0.1"


def is_port(text: str) -> bool:
    """Tell whether a text is the number of a port."""
    return text.isascii() and text.isdigit() and len(text) <= 5 and 0 < int(text) < 65536


def is_free(port: int) -> bool:
    """Tell whether a server could listen at a port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """Return a port that the kernel chose; it is free until somebody takes it."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])
