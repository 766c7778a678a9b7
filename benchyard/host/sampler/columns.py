"""From raw kernel files to KROWN's columns of the host."""

from collections.abc import Callable, Iterable, Mapping

from benchyard.host.counters import parsing
from benchyard.host.counters.values import sum_of
from benchyard.host.sampler.rows import LENGTHS, Values

_CPU, _MEMORY, _DISKS, _NETWORK = range(len(LENGTHS))


def _cpu(stat: bytes) -> Values:
    return parsing.cpu_times(stat)[:4]


def _memory(meminfo: bytes) -> Values:
    return tuple(parsing.memory(meminfo))


#: Name of a file to the part of a row that it tells, and how.
_PARTS: Mapping[str, tuple[int, Callable[[bytes], Values]]] = {
    "stat": (_CPU, _cpu),
    "meminfo": (_MEMORY, _memory),
}


class _Growing:
    """Counters of things that come and go; their sum never falls.

    One that vanished keeps what it had, for what it did was done. If one of its name comes with
    less than that, it is another one and begins anew.
    """

    def __init__(self) -> None:
        self._now: dict[str, Values] = {}
        self._before: list[Values] = []

    def update(self, name: str, values: Values) -> None:
        known = self._now.get(name)
        if known is not None and _fell(known, values):
            self._before.append(known)
        self._now[name] = values

    def total(self) -> Values:
        return _total([*self._now.values(), *self._before])


class HostColumns:
    """The host's columns as the last tick left them."""

    def __init__(self) -> None:
        #: CPU, memory, disks, network; None where nothing is known.
        self.parts: list[Values] = [(None,) * length for length in LENGTHS]
        self._disks = _Growing()
        self._interfaces = _Growing()
        self._lines: dict[str, bytes] = {}

    def update(self, name: str, content: bytes | None) -> None:
        """Take in what a file holds now; None if it is there no more."""
        if name.startswith("disk/"):
            if content is not None:
                self._disks.update(name, parsing.disk(content))
                self.parts[_DISKS] = self._disks.total()
        elif name == "network":
            self._update_network(content or b"")
        elif name in _PARTS:
            at, parse = _PARTS[name]
            self.parts[at] = (None,) * LENGTHS[at] if content is None else parse(content)

    def _update_network(self, net_dev: bytes) -> None:
        # Most interfaces are idle from one sample to the next: only lines that changed are read.
        changed = False
        for line in net_dev.splitlines():
            name, colon, _ = line.rpartition(b":")
            word = name.strip().decode(errors="replace")
            if colon and self._lines.get(word) != line:
                self._lines[word] = line
                self._interfaces.update(word, parsing.network(line))
                changed = True
        # The same object tells that nothing is to be written anew.
        if changed:
            self.parts[_NETWORK] = self._interfaces.total()


def _fell(before: Values, now: Values) -> bool:
    pairs = zip(before, now, strict=True)
    return any(a is not None and b is not None and b < a for a, b in pairs)


def _total(each: Iterable[Values]) -> Values:
    """Add up columns; one that lacks a value is None."""
    return tuple(map(sum_of, zip(*each, strict=True)))
