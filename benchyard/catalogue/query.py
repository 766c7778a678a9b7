"""What is asked of the catalogue, and a page of the answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from benchyard.catalogue.entry import Entry
from benchyard.core.model import Json


class Operator(StrEnum):
    """How a parameter is compared."""

    IS = "="
    IS_NOT = "!="
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="
    CONTAINS = "~"


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a parameter, such as ``threads >= 4``."""

    parameter: str
    operator: Operator
    value: Json


#: What entries may be sorted by, beside ``parameter:NAME``; a ``-`` before it means descending.
#: ``started_s`` is when it began, or else changed. What is not known comes first, ascending.
SORTS = (
    "started_s",
    "updated_s",
    "created_s",
    "title",
    "run",
    "outcome",
    "duration_s",
    "host",
    "host_quality",
    "path",
)
#: Shorter names of them, which addresses may have.
SORT_NAMES = {name.removesuffix("_s"): name for name in SORTS if name.endswith("_s")}


@dataclass(frozen=True, slots=True)
class EntryQuery:
    """Which entries, in what order, from where.

    Conditions hold together; values of one field are alternatives; an empty field asks nothing.

    Args:
        text: Words to be found in case, point, tags, host, commit, versions, outcome, path; a word
            matches its beginnings.
        results: Ids of cases (``CaseEntry.id``).
        commits: Whole, or their beginnings.
        versions: ``RESOURCE=VERSION``, or a version alone.
        broken: None asks for both.
        since_s: Began, or else changed, at or after it; seconds since the epoch.
        until_s: The same before it.
        sort: One of ``SORTS`` or ``parameter:NAME``, with ``-`` before it for descending.
        offset: Entries to skip.
        limit: At most so many; None is all.
        after: Cursor of another page (``Page.next`` or ``Page.previous``); replaces the offset,
            and costs the same at any depth.
    """

    text: str = ""
    formats: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()
    host_qualities: tuple[str, ...] = ()
    parameters: tuple[Condition, ...] = ()
    broken: bool | None = None
    under_way: bool | None = None
    since_s: float | None = None
    until_s: float | None = None
    sort: str = "-started_s"
    offset: int = 0
    limit: int | None = 10
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Some entries of an answer.

    Args:
        total: How many entries the whole answer has.
        next: Cursor of what follows; None at the end.
        previous: Cursor of what comes before; None at the beginning.
    """

    entries: Sequence[Entry]
    total: int
    next: str | None = None
    previous: str | None = None
