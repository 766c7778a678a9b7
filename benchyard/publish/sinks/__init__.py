"""Where results are published, and how they are read back."""

from benchyard.publish.sinks.contract import (
    Kind,
    NotesArchiving,
    Reader,
    Sink,
    Spooled,
    Stored,
    Timing,
)
from benchyard.publish.sinks.opening import NAMES, open_reader, open_sink

__all__ = [
    "NAMES",
    "Kind",
    "NotesArchiving",
    "Reader",
    "Sink",
    "Spooled",
    "Stored",
    "Timing",
    "open_reader",
    "open_sink",
]
