"""From raw kernel files to KROWN's columns of the host."""

from collections.abc import Callable, Iterable, Mapping

from benchyard.counters import parsing
from benchyard.samplers.rows import LENGTHS, Values

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


class HostColumns:
    """The host's columns as the last tick left them."""

    def __init__(self) -> None:
        #: CPU, memory, disks, network; None where nothing is known.
        self.parts: list[Values] = [(None,) * length for length in LENGTHS]
        self._disks: dict[str, Values] = {}
        self._interfaces: dict[bytes, Values] = {}

    def update(self, name: str, content: bytes | None) -> None:
        """Take in what a file holds now; None if it is there no more."""
        if name.startswith("disk/"):
            self._update_disk(name, content)
        elif name == "network":
            self._update_network(content or b"")
        elif name in _PARTS:
            at, parse = _PARTS[name]
            self.parts[at] = (None,) * LENGTHS[at] if content is None else parse(content)

    def _update_disk(self, name: str, content: bytes | None) -> None:
        # One that was taken out stays in the sum: what it did was done.
        if content is not None:
            self._disks[name] = parsing.disk(content)
        if len(self._disks) == 1:
            self.parts[_DISKS] = self._disks[name]
        elif self._disks:
            self.parts[_DISKS] = _total(self._disks.values())

    def _update_network(self, net_dev: bytes) -> None:
        # Most interfaces are idle from one sample to the next: only lines that changed are read.
        known = self._interfaces
        lines = [line for line in net_dev.splitlines() if b":" in line]
        self._interfaces = {
            line: known[line] if line in known else parsing.network(line) for line in lines
        }
        total = _total(self._interfaces.values()) or (None,) * LENGTHS[_NETWORK]
        # The same object tells that nothing is to be written anew.
        if total != self.parts[_NETWORK]:
            self.parts[_NETWORK] = total


def _total(each: Iterable[Values]) -> Values:
    """Add up columns; one that lacks a value is None."""
    columns = zip(*each, strict=True)
    return tuple([_sum(column) for column in columns])


def _sum(column: Values) -> float | None:
    total: float = 0
    for value in column:
        if value is None:
            return None
        total += value
    return total
