"""Which events there are, in all years, and what is done with each.

Source: Azure/batch-shipyard, cascade/ and scripts/, 2016 to 2019.
"""

from enum import Enum

PULL_START, PULL_END = "cascade:pull-start", "cascade:pull-end"
SAVE_START, SAVE_END = "cascade:save-start", "cascade:save-end"
TORRENT_START = "cascade:torrent-start"
LOAD_START, LOAD_END = "cascade:load-start", "cascade:load-end"
NODE_START, NODE_END = "nodeprep:start", "nodeprep:end"
REGISTRY_START, REGISTRY_END = "privateregistry:start", "privateregistry:end"
CONTAINER_START, CONTAINER_END = "shipyard:pull-start", "shipyard:pull-end"
CASCADE_START, CASCADE_END = "cascade:start", "cascade:gr-done"

#: The name that 2016 had for a few days.
OLD_NAMES = {
    "cascade:docker-run-pull-start": CONTAINER_START,
    "cascade:docker-run-pull-end": CONTAINER_END,
}
#: What runs of ours tell a start and an end of.
OURS = ("run", "initialize", "start", "ready", "stop", "pull", "attempt", "upload", "archive")


class Use(Enum):
    """What is done with an event."""

    IMAGE = "of an image: into the ledger"
    START = "start of what a node does once"
    END = "end of it"
    OURS = "of a run of ours"
    NONE = "counted"


_USES = {
    **dict.fromkeys(
        (PULL_START, PULL_END, SAVE_START, SAVE_END, TORRENT_START, LOAD_START, LOAD_END),
        Use.IMAGE,
    ),
    **dict.fromkeys((NODE_START, REGISTRY_START, CONTAINER_START, CASCADE_START), Use.START),
    **dict.fromkeys((NODE_END, REGISTRY_END, CONTAINER_END, CASCADE_END), Use.END),
    **{f"benchyard:{what}-{edge}": Use.OURS for what in OURS for edge in ("start", "end")},
}


def use_of(event: str) -> Use:
    """Return what is done with an event, under its present name."""
    return _USES.get(event, Use.NONE)


class EventNumbers(dict[str, int]):
    """Events to numbers: those of images from 1 on, all others 0."""

    IMAGES = tuple(event for event, use in _USES.items() if use is Use.IMAGE)

    def __missing__(self, event: str) -> int:
        """Look at an event that is new."""
        number = self.IMAGES.index(event) + 1 if event in self.IMAGES else 0
        if len(self) < 1000:
            self[event] = number
        return number
