"""Where turns can be executed: testbeds, what waits there already, and which have room."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchyard.case.testbeds import Testbed, unmet
from benchyard.core.model import Requires

#: One flow run that is executed, and one that waits: a queue that is seen and stays short.
MOST_OUTSTANDING = 2
#: The testbed of what is executed nowhere.
NOWHERE = Testbed("")


@dataclass(frozen=True, slots=True)
class Place:
    """One testbed, or a queue whose testbed nobody knows.

    Args:
        name: Of the testbed; "" for one that nobody knows.
        queue: Work queue that is its own; None for the one of the deployment.
        outstanding: Turns that are executed or wait on its host.
        seconds: How long these will still take; unknown ones count as nothing.
    """

    name: str
    testbed: Testbed
    queue: str | None = None
    outstanding: int = 0
    seconds: float = 0.0

    @property
    def host(self) -> str:
        """What it shares with other testbeds: only one run at a time is executed on a host."""
        return self.testbed.host or self.name

    def why_not(self, requires: Requires) -> list[str]:
        """Say what of the requirements it does not meet; nothing is known of the unknown one."""
        return unmet(requires, self.testbed)


def with_room(places: Sequence[Place], left: int) -> list[Place]:
    """Return the places that may be given another turn, the idlest first.

    A second one is only put behind another while there are turns enough for all hosts: at the end
    of a suite it would wait for one host while another has nothing to do.

    Args:
        left: Turns that are still to be given away.
    """
    hosts = len({place.host for place in places})
    most = MOST_OUTSTANDING if left > hosts else 1
    free = [place for place in places if place.outstanding < most]
    return sorted(free, key=lambda place: (place.outstanding, place.seconds, place.name))


def why_nowhere(requires: Requires, places: Sequence[Place]) -> str:
    """Say why no testbed will do, testbed by testbed."""
    if not places:
        return "no testbed is there"
    told = [
        f"{place.name or place.host or 'the testbed'}: {', '.join(place.why_not(requires))}"
        for place in places
    ]
    return f"no testbed is what it requires: {'; '.join(told)}"
