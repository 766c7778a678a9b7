"""What happens while publishing, and what came of it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from benchyard.core.model import JsonObject


@dataclass(frozen=True, slots=True)
class Begun:
    """Publishing begins.

    Args:
        size: Bytes of all files that wait, as they lie.
    """

    sink: str
    files: int
    size: int


@dataclass(frozen=True, slots=True)
class Published:
    """A file was confirmed by the sink and is in the archive.

    Args:
        where: Its place in the archive.
        new: False if the archive had it already.
        warning: What went wrong after that; empty is right.
    """

    name: str
    where: str
    new: bool
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A file that can never be published is in ``rejected/``."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Left:
    """A file goes on waiting.

    Args:
        reason: Why; empty if its turn did not come.
    """

    name: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Another publisher has or had a file."""

    name: str


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A sink has all of a file; it waits to be archived.

    Args:
        mark: Device, inode, size and time of the file whose content was confirmed.
    """

    name: str
    mark: tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Retrying:
    """A sink does not answer; it is asked again.

    Args:
        seconds: How long from now.
    """

    name: str
    reason: str
    seconds: float


Ending = Published | Rejected | Left | Elsewhere | Confirmed
Happening = Begun | Retrying | Ending
Listener = Callable[[Happening], None]


def silent(_: Happening) -> None:
    """Listen and say nothing."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of publishing to one sink.

    Args:
        sink: The sink's name.
        published: Confirmed and archived.
        confirmed: Confirmed, and not archived yet: what lies between uploading and archiving.
        waiting: Still in the spool.
        elsewhere: How many files another publisher has or had.
        left_alone: How many entries of the spool are no documents.
        error: Why it ended before its time; None is right.
        interrupted: Whether the user stopped it.
    """

    sink: str
    published: tuple[Published, ...] = ()
    confirmed: tuple[Confirmed, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    waiting: tuple[Left, ...] = ()
    elsewhere: int = 0
    left_alone: int = 0
    error: str | None = None
    interrupted: bool = False

    @property
    def is_clean(self) -> bool:
        """Whether nothing waits, nothing was rejected and nothing went wrong."""
        return not (self.waiting or self.rejected or self.error or self.interrupted)

    def joined(self, later: "Outcome") -> "Outcome":
        """Return what both came to: uploading, and the archiving after it."""
        return replace(
            later,
            published=self.published + later.published,
            rejected=self.rejected + later.rejected,
            waiting=self.waiting + later.waiting,
            elsewhere=self.elsewhere + later.elsewhere,
            left_alone=self.left_alone + later.left_alone,
            error=self.error or later.error,
            interrupted=self.interrupted or later.interrupted,
        )

    def to_json(self) -> JsonObject:
        """Return a document of it."""
        warned = [one for one in self.published if one.warning]
        return {
            "sink": self.sink,
            "published": [one.name for one in self.published if one.new],
            "already_archived": [one.name for one in self.published if not one.new],
            "rejected": [{"name": one.name, "reason": one.reason} for one in self.rejected],
            "waiting": [{"name": one.name, "reason": one.reason} for one in self.waiting],
            "warnings": [{"name": one.name, "warning": one.warning} for one in warned],
            "elsewhere": self.elsewhere,
            "left_alone": self.left_alone,
            "error": self.error,
            "interrupted": self.interrupted,
        }
