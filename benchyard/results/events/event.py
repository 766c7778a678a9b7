"""One performance event."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from benchyard.core.model import Json


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened on a node.

    Args:
        at: When, with a time zone.
        node: Where: the host's name, or a node's id.
        source: What told it, in lower case: ``benchyard``, ``cascade``.
        name: What happened, in lower case: ``run-start``, ``pull-end``.
        message: What is said of it; the values are numbers, texts, booleans or null.
    """

    at: datetime
    node: str
    source: str
    name: str
    message: Mapping[str, Json] = field(default_factory=dict[str, Json])
