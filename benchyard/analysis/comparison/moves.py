"""Since when a step is at its level: the changes in the history of its campaigns."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from benchyard.analysis.comparison.rows import Comparison, Row
from benchyard.analysis.comparison.sessions import SessionHistory
from benchyard.core.model import JsonObject
from benchyard.core.quantity import moment, number, percent, plural
from benchyard.core.wording import printable
from benchyard.results.subject import differences, in_words
from benchyard.statistics.changes import LevelChange, changes


@dataclass(frozen=True, slots=True)
class Move:
    """A change of a step's level.

    Args:
        row: The step and metric.
        change: Its place, its size and how sure it is.
        since: When the first campaign at the new level began.
        campaigns: How many there have been since, that one included.
        subject: In what that campaign's subject differs from the one before, in words.
        ratio: New level by the old one; None where not all values are above 0.
    """

    row: Row
    change: LevelChange
    since: datetime
    campaigns: int
    subject: str
    ratio: float | None

    def __str__(self) -> str:
        """Say it as a sentence."""
        size = f"{self.change.size:+.4g} {self.row.unit or ''}".rstrip()
        if self.ratio is not None:
            size = ("+" if self.ratio > 1 else "") + percent(self.ratio - 1, 3)
        what = f", when this changed: {self.subject}" if self.subject else ""
        often = number(self.change.points_a_false_one, 1)
        return printable(
            f"{self.row.case}: {self.row.metric} of {self.row.candidate.name} {size} since "
            f"{moment(self.since)} ({plural(self.campaigns, 'campaign')}){what}; noise does so "
            f"once in {often} campaigns"
        )

    def to_json(self) -> JsonObject:
        """Return it for a document."""
        return {
            "case": self.row.case,
            "step": self.row.candidate.id,
            "metric": self.row.metric,
            "since": self.since.isoformat(),
            "campaigns": self.campaigns,
            "ratio": self.ratio,
            "difference": None if self.ratio is not None else self.change.size,
            "subject": self.subject or None,
            "campaigns_a_false_one": self.change.points_a_false_one,
        }


def moves(comparison: Comparison) -> list[Move]:
    """Return the changes of level in the candidates' histories, step by step, oldest first."""
    return [move for row in comparison.asked for move in _moves(row, comparison.history)]


def _moves(row: Row, history: SessionHistory) -> Iterator[Move]:
    part = row.pair.steps([row.baseline.id], [row.candidate.id])
    levels, relative = history.levels(part, row.metric)
    for one in changes(np.array([level.value for level in levels])):
        before, first = levels[one.place - 1 : one.place + 1]
        yield Move(
            row,
            one,
            first.began,
            len(levels) - one.place,
            in_words(differences(before.subject, first.subject)),
            math.exp(one.size) if relative else None,
        )
