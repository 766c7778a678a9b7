"""Since when a step is at its level: the changes in the history of its campaigns."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchyard.analysis.comparison.levels import Level, home_of
from benchyard.analysis.comparison.rows import Comparison, Row
from benchyard.analysis.comparison.run_sets import host_of
from benchyard.core.model import JsonObject
from benchyard.core.quantity import moment, number, percent, plural
from benchyard.core.wording import printable
from benchyard.results.subject import Subject, differences, in_words
from benchyard.statistics import describe
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

    @property
    def size(self) -> str:
        """How far the level moved: "+5.2 %"."""
        if self.ratio is None:
            return printable(f"{self.change.size:+.4g} {self.unit or ''}".rstrip())
        return ("+" if self.ratio > 1 else "") + percent(self.ratio - 1, 3)

    @property
    def in_short(self) -> str:
        """It without why: "+5.2 % since … (9 campaigns)"."""
        return f"{self.size} since {moment(self.since)} ({plural(self.campaigns, 'campaign')})"

    def __str__(self) -> str:
        """Say it as a clause: "+5.2 % since …"."""
        what = printable(f", when this changed: {self.subject}") if self.subject else ""
        often = number(self.change.points_a_false_one, 1)
        return f"{self.in_short}{what}; noise does so once in {often} campaigns"

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


class SteadyLevel(NamedTuple):
    """A level between two changes.

    Args:
        since: When its first campaign began.
        last: When its last campaign began.
        value: Median of the campaigns.
        low: End of its 95 % interval, as ``high``; None if it has none.
    """

    since: datetime
    last: datetime
    campaigns: int
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class LevelHistory:
    """The levels of a step on one host, and where they change.

    Args:
        levels: One a campaign that counts, oldest first.
        relative: Whether they are logarithms.
        unit: Of the values.
        moving: Whether changes are looked for; else they are taken for one level.
    """

    levels: Sequence[Level]
    relative: bool
    unit: str | None = None
    moving: bool = True

    @cached_property
    def moves(self) -> list[Move]:
        """The changes of level, oldest first."""
        values = np.array([one.value for one in self.levels])
        return [self._move(one) for one in changes(values)] if self.moving else []

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
        values = [one.value for one in self.levels[start:]]
        if not values:
            return None
        detector = Detector(threshold, values=values[:-1], seen=len(self.levels) - 1)
        found = detector.append(values[-1])
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

    def steps(self) -> Iterator[SteadyLevel]:
        """Yield the levels between the changes, oldest first."""
        places = [0, *(one.change.place for one in self.moves), len(self.levels)]
        for start, end in pairwise(places):
            if part := self.levels[start:end]:
                values = [math.exp(one.value) if self.relative else one.value for one in part]
                told = describe(values)
                ends = told.median_interval
                yield SteadyLevel(
                    *(part[0].began, part[-1].began, len(part)),
                    *(told.median or 0.0, ends.low, ends.high),
                )


@dataclass(frozen=True, slots=True)
class StepMove:
    """A change of level of one metric of a step.

    Args:
        case: Its title.
        step: Id of the step.
        name: Of the step.
        home: Results folder of the case.
        host: Name of the host; empty if it is not known.
    """

    case: str
    step: str
    name: str
    metric: str
    home: Path
    host: str
    move: Move

    @property
    def what(self) -> str:
        """What moved: "duration_s of Load"."""
        return printable(f"{self.metric} of {self.name}")

    def __str__(self) -> str:
        """Say which step moved, and how."""
        return f"{printable(self.case)}: {self.what} {self.move}"

    def to_json(self) -> JsonObject:
        """Return it for a document."""
        about: JsonObject = {"case": self.case, "step": self.step, "metric": self.metric}
        return about | {"host": self.host or None} | self.move.to_json()


def moves(comparison: Comparison) -> Iterator[StepMove]:
    """Yield the changes of level in the candidates' histories, step by step, oldest first."""
    for row in comparison.asked:
        yield from (step_move(row, move) for move in history_of(comparison, row).moves)


def step_move(row: Row, move: Move) -> StepMove:
    """Return a change of level of a row's candidate."""
    side = row.pair.candidate
    known = row.case, row.candidate.id, row.candidate.name, row.metric
    return StepMove(*known, home_of(side.folder), str(host_of(side) or ""), move)


def history_of(comparison: Comparison, row: Row) -> LevelHistory:
    """Return the levels of a row's candidate, that of the newest campaign last."""
    part = row.pair.steps([row.baseline.id], [row.candidate.id])
    return LevelHistory(*comparison.history.levels(part, row.metric), row.unit)
