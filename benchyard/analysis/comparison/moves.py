"""Since when a step is at its level: the changes in the history of its campaigns."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import pairwise

import numpy as np

from benchyard.analysis.comparison.levels import Level
from benchyard.analysis.comparison.rows import Comparison, Row
from benchyard.core.model import JsonObject
from benchyard.core.quantity import moment, number, percent, plural
from benchyard.core.wording import printable
from benchyard.results.subject import Subject, differences, in_words
from benchyard.statistics.changes import FEWEST, SHORTEST, Detector, LevelChange, changes


@dataclass(frozen=True, slots=True)
class Move:
    """A change of level.

    Args:
        change: Its place, its size and how sure it is.
        since: When the first campaign at the new level began.
        campaigns: How many there have been since, that one included.
        subject: In what that campaign's subject differs from the one before, in words.
        ratio: New level by the old one; None where not all values are above 0.
        unit: Of the values.
        near: When the campaigns around the first began: its place may be off by one.
        versions: Subjects of the old level, surely before the change, and of the newest campaign.
    """

    change: LevelChange
    since: datetime
    campaigns: int
    subject: str
    ratio: float | None
    unit: str | None
    near: tuple[datetime, datetime]
    versions: tuple[Subject, Subject]

    def __str__(self) -> str:
        """Say it as a clause: "+5.2 % since …"."""
        size = f"{self.change.size:+.4g} {self.unit or ''}".rstrip()
        if self.ratio is not None:
            size = ("+" if self.ratio > 1 else "") + percent(self.ratio - 1, 3)
        what = f", when this changed: {self.subject}" if self.subject else ""
        often = number(self.change.points_a_false_one, 1)
        return printable(
            f"{size} since {moment(self.since)} ({plural(self.campaigns, 'campaign')}){what}; "
            f"noise does so once in {often} campaigns"
        )

    def to_json(self) -> JsonObject:
        """Return it for a document."""
        return {
            "since": self.since.isoformat(),
            "campaigns": self.campaigns,
            "ratio": self.ratio,
            "difference": None if self.ratio is not None else self.change.size,
            "subject": self.subject or None,
            "campaigns_a_false_one": self.change.points_a_false_one,
        }


@dataclass(frozen=True)
class LevelHistory:
    """The levels of a step on one host, and where they change.

    Args:
        levels: One a campaign that counts, oldest first.
        relative: Whether they are logarithms.
        unit: Of the values.
    """

    levels: Sequence[Level]
    relative: bool
    unit: str | None = None

    @cached_property
    def moves(self) -> list[Move]:
        """The changes of level, oldest first."""
        return [self._move(one) for one in changes(self._values)]

    @property
    def _values(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.array([one.value for one in self.levels])

    def _move(self, one: LevelChange) -> Move:
        before, first, after = self.levels[one.place - 1 : one.place + 2]
        return Move(
            one,
            first.began,
            len(self.levels) - one.place,
            in_words(differences(before.subject, first.subject)),
            math.exp(one.size) if self.relative else None,
            self.unit,
            (before.began, after.began),
            (self.levels[max(0, one.place - FEWEST)].subject, self.levels[-1].subject),
        )

    def suspicion(self, threshold: float, base: datetime | None = None) -> Move | None:
        """Return the change that the newest campaign makes suspected.

        Args:
            threshold: |z| above which one is suspected.
            base: When the first campaign of the level began that all are held against.
        """
        start = sum(base is not None and one.began < base for one in self.levels)
        *values, newest = self._values[start:].tolist() or [math.nan]
        found = Detector(threshold, values=values, seen=start + len(values)).append(newest)
        return self._move(found) if found else None

    def __str__(self) -> str:
        """Say since when the present level is: its change, or that there was none."""
        if self.moves:
            return str(self.moves[-1])
        known = len(self.levels)
        if known < SHORTEST:
            more = plural(SHORTEST - known, "more campaign")
            return f"{plural(known, 'campaign')}: {more} can show a change of level"
        return f"steady over {plural(known, 'campaign')} since {moment(self.levels[0].began)}"

    def steps(self) -> Iterator[tuple[datetime, datetime, float]]:
        """Yield when each level began and was last seen, and its value, oldest first."""
        places = [0, *(one.change.place for one in self.moves), len(self.levels)]
        for start, end in pairwise(places):
            if part := self.levels[start:end]:
                value = float(np.median(self._values[start:end]))
                yield part[0].began, part[-1].began, math.exp(value) if self.relative else value


def moves(comparison: Comparison) -> list[tuple[Row, Move]]:
    """Return the changes of level in the candidates' histories, step by step, oldest first."""
    return [(row, move) for row in comparison.asked for move in history_of(comparison, row).moves]


def history_of(comparison: Comparison, row: Row) -> LevelHistory:
    """Return the levels of a row's candidate, that of the newest campaign last."""
    part = row.pair.steps([row.baseline.id], [row.candidate.id])
    return LevelHistory(*comparison.history.levels(part, row.metric), row.unit)


def move_in_words(row: Row, move: Move) -> str:
    """Say which step moved, and how."""
    return printable(f"{row.case}: {row.metric} of {row.candidate.name} ") + str(move)


def move_document(row: Row, move: Move) -> JsonObject:
    """Return it with its step, for a document."""
    about: JsonObject = {"case": row.case, "step": row.candidate.id, "metric": row.metric}
    return about | move.to_json()
