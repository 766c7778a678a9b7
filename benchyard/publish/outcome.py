"""The events of publishing, its result, and texts of errors without secrets."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from urllib.parse import unquote

from benchyard.core.errors import BenchyardError
from benchyard.core.model import JsonObject
from benchyard.core.quantity import plural, shorten
from benchyard.core.wording import printable

#: ``user:password@`` of an address, and its query, in which signatures and keys are.
_IN_ADDRESS = re.compile(r"(?<=://)[^/@\s]*@|\?\S*")
_PARTS = re.compile(r"[:@?&=;/]")
_TELLING = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|CONNECTION|SAS|SIGNATURE", re.IGNORECASE)
_MASK = "******"
#: Shorter values are no secrets, and masking them would spoil any text.
_SHORTEST = 5
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Begun:
    """Publishing begins.

    Args:
        sink: The sink's name.
        files: How many files wait.
    """

    sink: str
    files: int


@dataclass(frozen=True, slots=True)
class Published:
    """A file was confirmed by the sink and is in the archive.

    Args:
        name: The file's name in the spool.
        where: Its place in the archive.
        new: False if it was archived before.
        warning: What went wrong after that; empty if nothing did.
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
    """A file stays in the spool.

    Args:
        name: The file's name in the spool, or the path of a run without a document.
        reason: Why; empty if its turn did not come.
    """

    name: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Another publisher has taken a file."""

    name: str


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A sink has all of a file; it waits to be archived.

    Args:
        name: The file's name in the spool.
        mark: Device, inode, size and time of the file whose content was confirmed.
    """

    name: str
    mark: tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Retrying:
    """A sink does not answer; it is asked again.

    Args:
        name: The file's name in the spool.
        reason: What the sink said.
        seconds: How long from now.
    """

    name: str
    reason: str
    seconds: float


Ending = Published | Rejected | Left | Elsewhere | Confirmed
Happening = Begun | Retrying | Ending
Listener = Callable[[Happening], None]


def reason_of(error: BenchyardError | OSError) -> str:
    """Return what an error says; of the disk's without the number and the file."""
    return getattr(error, "strerror", None) or str(error)


@dataclass(frozen=True, slots=True)
class PublishResult:
    """The result of publishing to one sink.

    Args:
        sink: The sink's name.
        published: Confirmed and archived.
        confirmed: Uploaded, and not archived yet.
        rejected: In ``rejected/`` now.
        waiting: Still in the spool.
        elsewhere: How many files another publisher has or had.
        left_alone: How many entries of the spool are no documents.
        error: Why it ended early; None if it did not.
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

    def joined(self, later: "PublishResult") -> "PublishResult":
        """Return one result for uploading and the archiving after it."""
        return replace(
            later,
            rejected=self.rejected + later.rejected,
            waiting=self.waiting + later.waiting,
            elsewhere=self.elsewhere + later.elsewhere,
            error=self.error or later.error,
        )

    def to_json(self) -> JsonObject:
        """Return a document of it."""
        warned = [one for one in self.published if one.warning]
        return {
            "sink": self.sink,
            "published": [one.name for one in self.published if one.new],
            "already_archived": [one.name for one in self.published if not one.new],
            "rejected": list(map(asdict, self.rejected)),
            "waiting": list(map(asdict, self.waiting)),
            "warnings": [{"name": one.name, "warning": one.warning} for one in warned],
            "elsewhere": self.elsewhere,
            "left_alone": self.left_alone,
            "error": self.error,
            "interrupted": self.interrupted,
        }


def summary(outcome: PublishResult) -> str:
    """Return one line: ``local: 3 documents published, 1 waits``."""
    counts = [
        (len(outcome.published), "published"),
        (sum(1 for one in outcome.published if not one.new), "of them archived before"),
        (len(outcome.confirmed), "uploaded, to be archived"),
        (len(outcome.rejected), "rejected"),
        (len(outcome.waiting), "waiting"),
        (outcome.elsewhere, "taken by another publisher"),
    ]
    told = [f"{number:,} {what}" for number, what in counts if number]
    if not told:
        told = ["nothing waits"]
    if outcome.left_alone:
        told.append(f"{plural(outcome.left_alone, 'other file')} left alone")
    return f"{outcome.sink}: {', '.join(told)}{'; interrupted' if outcome.interrupted else ''}"


def advice(outcome: PublishResult) -> Iterator[str]:
    """Yield which command publishes what was left; for commands that did more than publish."""
    command = f"benchyard publish --sink {outcome.sink}"
    # What has a path is a run that no document could be made of.
    waiting = sum(1 for one in outcome.waiting if "/" not in one.name)
    for count, state, does in (
        (waiting, "waiting", f"'{command}' brings {{}}"),
        (len(outcome.rejected), "rejected", f"'{command} --force' offers {{}} once more"),
    ):
        if count:
            said = does.format("it" if count == 1 else "them")
            yield printable(f"{outcome.sink}: {plural(count, 'document')} {state}; {said}")


def problems(outcome: PublishResult) -> Iterator[str]:
    """Yield a sentence for everything that did not go well."""
    if outcome.error:
        yield printable(f"{outcome.sink}: {outcome.error}")
    for rejected in outcome.rejected:
        yield printable(f"{rejected.name}: rejected: {rejected.reason}")
    for left in outcome.waiting:
        if left.reason and left.reason != outcome.error:
            yield printable(f"{left.name}: waits: {left.reason}")
    for published in outcome.published:
        if published.warning:
            yield printable(f"{published.name}: published, but: {published.warning}")


def without_credentials(address: str) -> str:
    """Return an address without user, password and query."""
    return _IN_ADDRESS.sub("", address)


def scrubbed(text: str, address: str = "") -> str:
    """Return a text in one line, shortened, without secrets.

    Variables of the environment with names such as ``…_KEY`` have secrets as values.

    Args:
        text: The text.
        address: The address, with credentials, that the library was connecting to.
    """
    secrets = {*_of_address(address), *_of(os.environ)}
    text = " ".join(text.split())
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, _MASK)
    text = without_credentials(text)
    return shorten(text, _LONGEST)


def _of_address(address: str) -> Iterator[str]:
    for found in _IN_ADDRESS.findall(address):
        for part in _PARTS.split(found):
            yield from (form for form in (part, unquote(part)) if len(form) >= _SHORTEST)


def _of(environment: Mapping[str, str]) -> Iterator[str]:
    for name, value in environment.items():
        if _TELLING.search(name):
            # A connection string is several values; a file's path is none.
            parts = (part.partition("=")[2] for part in value.split(";"))
            yield from (one for one in (value, *parts) if len(one) >= _SHORTEST)
