"""The ports of this host that a case relies on, read from the addresses among its parameters."""

import re
from collections.abc import Iterable, Iterator

from benchyard.core.model import Json, Step

#: An address on this host with its port, within a longer text such as a URL.
_LOCAL = re.compile(r"(?<![\w.-])(?:localhost|127\.0\.0\.1|\[::1\]):(\d{1,5})(?!\d)")


def local_ports(steps: Iterable[Step]) -> frozenset[int]:
    """Return the ports at which steps expect something on this host.

    So a case that says ``http://localhost:8890/sparql`` gets its container's port 8890 there.
    """
    texts = (text for step in steps for text in _texts(dict(step.parameters)))
    found = (int(port) for text in texts for port in _LOCAL.findall(text))
    return frozenset(port for port in found if 0 < port < 65536)


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
