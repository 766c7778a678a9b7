"""What people say of changes of level: ``annotations.jsonl`` beside the runs of a case.

Each line is an ``Annotation``, with a ``version``. Of two about the same change the later counts.
The file is the user's: no command removes or moves it.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path

from benchyard.core.quantity import moment
from benchyard.results.folders import ANNOTATIONS_FILE
from benchyard.results.lines import append_line, check_moments, parse_line, read_lines

VERSION = 1


class AnnotationKind(StrEnum):
    """What a person, or a confirmation, says of a change."""

    ACCEPTED = "accepted"
    ON_PURPOSE = "on purpose"
    IGNORED = "ignored"
    CONFIRMED = "confirmed"
    NOT_CONFIRMED = "not confirmed"
    #: By its history alone, since its versions cannot be executed again.
    ALARM = "alarm raised"


@dataclass(frozen=True, slots=True)
class Annotation:
    """What is said of a change.

    Args:
        kind: It, in a word.
        since: When the first campaign at the new level began.
        noted_at: When it was said.
        who: By whom.
        reason: Why; may be empty.
        step: Id of the steps that it is about, or a glob; likewise the ``metric``.
        host: Name of the host; empty means each.
        until: Until when it holds; None for ever.
    """

    kind: AnnotationKind
    since: str
    noted_at: str
    who: str
    reason: str = ""
    step: str = "*"
    metric: str = "*"
    host: str = ""
    until: str | None = None

    @property
    def accepts(self) -> bool:
        """Whether the new level is right."""
        return self.kind in (AnnotationKind.ACCEPTED, AnnotationKind.ON_PURPOSE)

    @property
    def alarms(self) -> bool:
        """Whether an alarm was raised."""
        return self.kind in (AnnotationKind.CONFIRMED, AnnotationKind.ALARM)

    @property
    def closes(self) -> bool:
        """Whether the change is no longer open."""
        return self.accepts or self.kind is AnnotationKind.IGNORED

    def is_about(self, step: str, metric: str, host: str) -> bool:
        """Tell whether it is about a series."""
        named = fnmatchcase(step, self.step) and fnmatchcase(metric, self.metric)
        return named and self.host in ("", host)

    def holds(self, now: datetime) -> bool:
        """Tell whether it still holds."""
        return self.until is None or now < datetime.fromisoformat(self.until)

    def __str__(self) -> str:
        """Say it as a clause: "accepted by Ada: new compiler"."""
        until = f" until {moment(datetime.fromisoformat(self.until))}" if self.until else ""
        why = f": {self.reason}" if self.reason else ""
        return f"{self.kind}{until} by {self.who}{why}"


def annotate(results: Path, annotation: Annotation) -> None:
    """Add an annotation to the results of a case.

    Raises:
        OSError: If the file cannot be written.
    """
    append_line(results / ANNOTATIONS_FILE, VERSION, annotation)


def annotations_of(results: Path, step: str, metric: str, host: str) -> list[Annotation]:
    """Return the annotations of one series, oldest first; unreadable lines are left out."""
    return [one for one in read_annotations(results)[0] if one.is_about(step, metric, host)]


def read_annotations(results: Path) -> tuple[list[Annotation], list[str]]:
    """Return the annotations of a case, oldest first, and a sentence for each unreadable line."""
    found: list[Annotation] = []

    def take(line: bytes) -> None:
        made = parse_line(line, VERSION, Annotation)
        check_moments(made.since, made.noted_at, made.until)
        found.append(made)

    problems = read_lines(results / ANNOTATIONS_FILE, take)
    return found, problems
