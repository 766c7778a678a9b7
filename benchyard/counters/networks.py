"""Traffic of network namespaces other than the lab's own."""

import os
from collections.abc import Mapping
from functools import cache

from benchyard.counters import parsing
from benchyard.counters.kernel import read_once


def read_network(pid: int | None) -> dict[str, bytes]:
    """Return the namespace that a process is in to its ``net/dev``; nothing if it is the lab's.

    No file is kept open: an open one keeps a namespace alive whose processes have ended.
    """
    name = _namespace(pid) if pid is not None else None
    if not name or name == _own_namespace():
        return {}
    content = read_once(f"/proc/{pid}/net/dev")
    return {} if content is None else {name: content}


def carried(
    start: Mapping[str, bytes], end: Mapping[str, bytes], *, began_inside: bool
) -> tuple[int, int] | None:
    """Return the bytes received and sent between two readings, loopback left out.

    Args:
        began_inside: Whether namespaces that are new at the end were made in between.

    Returns:
        None if there is no namespace, or one whose counters at the start are not known.
    """
    if not end or (end.keys() - start.keys() and not began_inside) or start.keys() - end.keys():
        return None
    before = [_total(content) for content in start.values()]
    after = [_total(content) for content in end.values()]
    received, sent = (sum(a[i] for a in after) - sum(b[i] for b in before) for i in (0, 1))
    return (received, sent) if received >= 0 and sent >= 0 else None


def _total(net_dev: bytes) -> tuple[int, int]:
    lines = [line for line in net_dev.splitlines() if line.partition(b":")[0].strip() != b"lo"]
    found = parsing.network(b"\n".join(lines))
    return found.received_bytes or 0, found.sent_bytes or 0


def _namespace(pid: int) -> str | None:
    try:
        return os.readlink(f"/proc/{pid}/ns/net")  # noqa: PTH115 - a boundary waits for it
    except OSError:
        return None


@cache
def _own_namespace() -> str | None:
    return _namespace(os.getpid())
