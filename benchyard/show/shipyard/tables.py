"""What was told of each node beside images, and of each run of ours: starts and ends by name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from benchyard.core.model import Json
from benchyard.show.shipyard.matching import End
from benchyard.show.shipyard.sizes import NO_SIZE, Sizes

#: No pull and no run takes longer; what is was no length (s).
LONGEST = 1e12
#: What events tell beside times: of a node's system, and of how a run ended.
_FACTS = ("offer", "sku", "nglobalresources", "outcome")


@dataclass(slots=True)
class Told:
    """What was told of one node, or of one run.

    Args:
        pool: Partition that it is of; empty where there are none.
        node: The node's id, or the host's name.
        case: Title of the case, for a run.
        run: Its number.
        starts: Event to name to when, seconds since 1970.
        ends: Event to name to when, how long and how large.
        facts: What was told beside times: ``offer``, ``sku``, ``outcome``, ….
    """

    pool: str
    node: str
    case: str | None = None
    run: int | None = None
    starts: dict[str, dict[str, list[float]]] = field(
        default_factory=dict[str, dict[str, list[float]]]
    )
    ends: dict[str, dict[str, list[End]]] = field(default_factory=dict[str, dict[str, list[End]]])
    facts: dict[str, Json] = field(default_factory=dict[str, Json])

    def begin(self, event: str, name: str, at: float) -> None:
        """Note that something began."""
        self.starts.setdefault(event, {}).setdefault(name, []).append(at)

    def end(self, event: str, name: str, end: End) -> None:
        """Note that something ended."""
        self.ends.setdefault(event, {}).setdefault(name, []).append(end)

    def note(self, message: Mapping[str, Any]) -> None:
        """Keep what a message tells beside times; what was told first holds."""
        for name in _FACTS:
            if name in message:
                self.facts.setdefault(name, message[name])


def end_of(at: float, message: Mapping[str, Any], sizes: Sizes) -> End:
    """Return an end with what its message tells of length and size; unreadable is not told."""
    size = sizes.of(message.get("size"))
    return at, length_of(message), None if size == NO_SIZE else size


def length_of(message: Mapping[str, Any]) -> float | None:
    """Return the length that a message tells (s), or None."""
    try:
        length = float(message["diff"])
    except (KeyError, TypeError, ValueError):
        return None
    return length if 0.0 <= length < LONGEST else None


def name_of(message: Mapping[str, Any]) -> str:
    """Return what parts one step, phase or pull of a run from the others."""
    if "img" in message:
        return str(message["img"])
    if "attempt" in message:
        again = message["attempt"]
        return f"{message.get('step')}" + (f", attempt {again}" if again != 1 else "")
    if "resource" in message:
        step = message.get("step")
        return f"{message['resource']}" + ("" if step is None else f", step {step}")
    return str(message.get("sink", ""))
