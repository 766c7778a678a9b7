"""Performance events: what happened on a node, and when; in the manner of Batch Shipyard.

making: from a run's record. lines: as JSON lines. message: what is said of one, as a text.
"""

from benchyard.results.events.convert import events_of
from benchyard.results.events.lines import Event, dump, load

__all__ = ["Event", "dump", "events_of", "load"]
