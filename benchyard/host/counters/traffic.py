"""What the network namespace of processes carried."""

import os
from functools import cache
from typing import NamedTuple

from benchyard.host.counters import parsing
from benchyard.host.counters.kernel import read_once


class Traffic(NamedTuple):
    """What a network namespace other than the lab's own carried so far.

    Args:
        name: Tells it from others; "" if there is none but the lab's.
        net_dev: Its file of that name.
        problem: Why it could not be read.
    """

    name: str = ""
    net_dev: bytes = b""
    problem: str | None = None


def read_network(pid: int | None) -> Traffic:
    """Return what the network namespace of a process carried so far.

    No file is kept open: an open one keeps a namespace alive whose processes have ended.
    """
    if pid is None:
        return Traffic()
    try:
        name, own = _namespace(pid), _own_namespace()
    except PermissionError:
        return Traffic(problem="the network namespace of its processes may not be read")
    except OSError:
        return Traffic(problem="the process whose network namespace counts has ended")
    if name == own:
        return Traffic()
    content = read_once(f"/proc/{pid}/net/dev")
    if content is None:
        return Traffic(problem="the traffic of its network namespace may not be read")
    return Traffic(name, content)


def why_unknown(start: Traffic, end: Traffic) -> str:
    """Say why ``carried`` returned None."""
    if start.problem or end.problem:
        return end.problem or start.problem or ""
    if not end.name:
        return "it has no network namespace of its own"
    return "its network namespace changed meanwhile"


def carried(start: Traffic, end: Traffic, *, began_inside: bool) -> tuple[int, int] | None:
    """Return the bytes received and sent between two readings, loopback left out.

    Args:
        began_inside: Whether a namespace that is new at the end was made in between.

    Returns:
        None if there is no namespace, or one whose counters at the start are not known.
    """
    is_new = began_inside and not start.name
    if not end.name or not (is_new or start.name == end.name):
        return None
    before, after = _bytes_of(start.net_dev), _bytes_of(end.net_dev)
    received, sent = (a - b for a, b in zip(after, before, strict=True))
    return (received, sent) if received >= 0 and sent >= 0 else None


def _bytes_of(net_dev: bytes) -> tuple[int, int]:
    lines = [line for line in net_dev.splitlines() if line.partition(b":")[0].strip() != b"lo"]
    found = parsing.network(b"\n".join(lines))
    return found.received_bytes or 0, found.sent_bytes or 0


def _namespace(pid: int | str) -> str:
    """Return the inode of a process's net/dev: each namespace has its own, everybody may read it.

    Where the link ``ns/net`` leads to, only root and the process's own user may see.
    """
    return str(os.stat(f"/proc/{pid}/net/dev").st_ino)  # noqa: PTH116 - a boundary waits for it


@cache
def _own_namespace() -> str:
    return _namespace("self")
