"""Performance events: what happened on a node, and when; in the manner of Batch Shipyard.

making: from a run's record. lines: as JSON lines. message: what is said of one, as a text.
"""

from benchyard.results.events.lines import Event, dump, load
from benchyard.results.events.making import events_of

__all__ = ["Event", "dump", "events_of", "load"]
