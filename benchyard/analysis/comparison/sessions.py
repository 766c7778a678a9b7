"""Runs of two sessions: whether they were, and what they are held against beside their own spread.

A session is one execution of a command in which the compared took turns. Runs of one session share
its state of the host, so their spread says nothing of what two sessions differ by
(``benchyard.statistics.pairs``). That is known from earlier campaigns: of the case itself and of
the host's other cases.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import islice, pairwise
from pathlib import Path
from typing import NamedTuple

from benchyard.analysis.comparison.levels import (
    Level,
    SampledCampaign,
    home_of,
    level_groups,
    level_of,
    levels_of,
    read_campaigns,
    sampled,
)
from benchyard.analysis.comparison.run_sets import RunSet, host_of
from benchyard.core.model import Json
from benchyard.results.campaigns import earlier_campaigns, with_earlier
from benchyard.results.record import RunRecord
from benchyard.statistics import mean
from benchyard.statistics.comparison import Difference
from benchyard.statistics.intervals import Interval
from benchyard.statistics.pairs import (
    OWN_ALONE,
    OWN_FROM,
    PRIOR_SD,
    SessionSpread,
    level_variance,
    session_spreads,
)

#: So many campaigns are read of a case, and of each other one; so many other cases. Newest first.
OWN_CAMPAIGNS, _OTHER_CAMPAIGNS, _OTHER_CASES = 50, 10, 20
#: Order of a session in which its cases did not take turns.
_IN_BLOCKS = "case"


@dataclass(frozen=True, slots=True)
class SessionRelation:
    """How the runs of two sides lie in time.

    Args:
        in_turns: Whether the sides took turns in the same sessions.
        apart_s: Seconds between the last run of one side and the first of the other; None in turns,
            and where their times overlap.
    """

    in_turns: bool
    apart_s: float | None = None


IN_TURNS = SessionRelation(in_turns=True)


def relation(baseline: RunSet, candidate: RunSet) -> SessionRelation:
    """Tell whether two sides were measured in turns, from their records."""
    sides = (baseline.records, candidate.records)
    if baseline.is_of_same_runs(candidate):
        return SessionRelation(in_turns=baseline.in_turns is not False)
    if all(sides) and _took_turns(*sides):
        return IN_TURNS
    # Files of other tools need not tell when something was measured.
    spans = [_span(records) for records in sides if records and all(r.started_at for r in records)]
    if len(spans) < 2:
        return SessionRelation(in_turns=False)
    first, second = sorted(spans)
    apart = (second[0] - first[1]).total_seconds()
    return SessionRelation(in_turns=False, apart_s=apart if apart >= 0 else None)


def _span(records: Sequence[RunRecord]) -> tuple[datetime, datetime]:
    return min(one.began for one in records), max(one.ended for one in records)


def _took_turns(baseline: Sequence[RunRecord], candidate: Sequence[RunRecord]) -> bool:
    """Tell whether each session has as many runs of both sides, but for one, and they alternate.

    An interruption makes two sessions of one. Copies of a record are no turns.
    """
    counts = [Counter(_turns_of(one) for one in side) for side in (baseline, candidate)]
    if counts[0].keys() != counts[1].keys() or None in counts[0]:
        return False
    if len(counts[0]) > 1 and any(abs(n - counts[1][name]) > 1 for name, n in counts[0].items()):
        return False
    return all(
        _alternate(*([r for r in side if _turns_of(r) == name] for side in (baseline, candidate)))
        for name in counts[0]
    )


def _turns_of(record: RunRecord) -> Json:
    """Return the id of the session in which a run was a turn; None if it was none."""
    order = record.session.get("order", _IN_BLOCKS)
    return None if order == _IN_BLOCKS else record.session.get("id")


def _alternate(baseline: Sequence[RunRecord], candidate: Sequence[RunRecord]) -> bool:
    if {one.started_at for one in baseline} & {one.started_at for one in candidate}:
        return False
    ordered = sorted([(r.began, at) for at, side in enumerate((baseline, candidate)) for r in side])
    changes = sum(one != other for (_, one), (_, other) in pairwise(ordered))
    return changes > 1 or min(len(baseline), len(candidate)) == 1


class ComparedSteps(NamedTuple):
    """Steps of a case whose mean level is compared, one step or all; their ids on each side.

    Args:
        in_turns: Whether the sides took turns.
    """

    baseline: RunSet
    candidate: RunSet
    in_turns: bool
    baseline_steps: tuple[str, ...]
    candidate_steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BetweenSessions:
    """A difference between two sessions, held against what sessions vary by.

    Args:
        difference: Of the levels: of logarithms of values above 0, otherwise of the values.
        relative: Whether it is of logarithms.
        spreads: What it must exceed, each; empty if too little is known.
        campaigns: How many earlier campaigns of the case are known.
        cases: How many other cases of the host lend their campaigns.
        inside_p: The p-value of the test inside the sessions.
        baseline_sessions: How many campaigns the baseline's level is the mean of.
        level: That mean, where campaigns are compared and not their runs; else None.
    """

    difference: float
    relative: bool
    spreads: tuple[SessionSpread, ...]
    campaigns: int
    cases: int
    inside_p: float
    baseline_sessions: int = 1
    level: float | None = None

    @property
    def p_value(self) -> float:
        """Probability of so large a difference between equal sessions; 1 if that is not known."""
        values = (one.p_value(self.difference, self.baseline_sessions) for one in self.spreads)
        return max(values, default=1.0)

    def explains(self, needed_p: float) -> bool:
        """Tell whether only this keeps a difference from being called at an unadjusted p-value."""
        return bool(self.spreads) and self.inside_p <= needed_p < self.p_value

    def held_against(self, inside: Difference) -> Difference:
        """Give the difference inside the sessions the larger of both p-values.

        Where campaigns are compared, return the difference of the candidate from their level.
        """
        if self.level is not None:
            return self._from_level(self.level, inside)
        found = replace(inside, p_value=max(inside.p_value, self.p_value))
        return found if self.spreads else replace(found, reachable_p=1.0)

    def _from_level(self, level: float, inside: Difference) -> Difference:
        most = max(one.margin(inside.level, self.baseline_sessions) for one in self.spreads)
        apart = [self.difference - most, self.difference, self.difference + most]
        before, ratios = level, list[float | None]([None] * 3)
        if self.relative:
            before, ratios = math.exp(level), [math.exp(one) for one in apart]
            apart = [before * math.expm1(one) for one in apart]
        low, shift, high = apart
        return replace(
            inside,
            baseline_n=self.baseline_sessions,
            candidate_n=1,
            baseline_median=before,
            shift=shift,
            shift_interval=Interval(low, high, 1 - inside.level),
            ratio=ratios[1],
            ratio_interval=Interval(ratios[0], ratios[2], 1 - inside.level),
            p_value=self.p_value,
            reachable_p=0.0,
            exact=False,
        )

    def margin(self, level: float) -> float | None:
        """Return how far equal sessions differ at most, but for a probability of ``level``.

        Returns:
            Relative (0.03 is 3 %) where values are above 0, otherwise in their unit.
        """
        if not self.spreads:
            return None
        most = max(one.margin(level, self.baseline_sessions) for one in self.spreads)
        return math.expm1(min(most, 700.0)) if self.relative else most


@dataclass(frozen=True)
class SessionHistory:
    """The earlier campaigns that differences between sessions are held against; read when needed.

    Args:
        prior_sd: Standard deviation between sessions that is expected beforehand, relative. None
            takes ``PRIOR_SD``; that of single processes, which it is not from, is then unknown.
        other_results: Returns results folders of the host's other cases.
        compared: Results folders of the cases that are compared.
        metrics: That are compared, names or globs over them.
        campaigns: From ``OWN_FROM`` campaigns on about the present level of a case, a candidate is
            compared with the mean of so many instead of with the runs of one; 0 never does so.
    """

    prior_sd: float | None = None
    other_results: Callable[[], Iterable[Path]] = tuple
    compared: tuple[Path, ...] = ()
    metrics: tuple[str, ...] = ()
    campaigns: int = 0
    _read: dict[object, list[SampledCampaign]] = field(
        default_factory=dict[object, list[SampledCampaign]]
    )

    def between(
        self,
        parts: Sequence[ComparedSteps],
        metric: str,
        values: Sequence[Sequence[float]],
        inside: Difference,
    ) -> BetweenSessions | None:
        """Hold the difference of two sides against what sessions of this host vary by.

        Args:
            parts: What is compared, of one case or of several.
            values: Of baseline and candidate, one a run.
            inside: The difference inside the sessions.

        Returns:
            None in turns, where the test inside the sessions shows no difference that matters, and
            where each side has one value only, such as a count: no session changes it.
        """
        single = any(part.baseline.one_process or part.candidate.one_process for part in parts)
        if (all(part.in_turns for part in parts) and not single) or not all(values):
            return None
        shown = inside.p_value <= inside.level and inside.matters
        if not (shown or self.campaigns or single) or all(len(set(side)) == 1 for side in values):
            return None
        relative = min(map(min, values)) > 0
        before, after = (level_of(side, relative=relative) for side in values)
        own = [group for part in parts for group in self._own(part, metric, relative=relative)]
        ask_others = relative and level_variance(own)[1] < OWN_ALONE
        others = self._others(parts, metric) if ask_others else []
        prior = PRIOR_SD if self.prior_sd is None and not single else self.prior_sd
        spreads = session_spreads(own, others, prior if relative else None)
        known = (relative, spreads, sum(map(len, own)), len(others))
        group = own[-1][-self.campaigns :] if self.campaigns and own else []
        if len(group) >= OWN_FROM:
            level = mean(group)
            return BetweenSessions(after - level, *known, 1.0, len(group), level)
        if single and spreads:  # its rounds say nothing of other processes
            return BetweenSessions(after - before, *known, 1.0, level=before)
        return BetweenSessions(after - before, *known, inside.p_value) if shown or single else None

    def _own(self, part: ComparedSteps, metric: str, *, relative: bool) -> list[list[float]]:
        """Return the levels of the case's earlier campaigns, in groups about one level each."""
        candidate, until = part.candidate.folder.resolve(), _newest([part])
        series = {
            (home_of(part.baseline.folder), part.baseline_steps): part.baseline,
            (home_of(part.candidate.folder), part.candidate_steps): part.candidate,
        }
        read = {
            key: self._campaigns(key[0], host_of(side), OWN_CAMPAIGNS, until, candidate)
            for key, side in series.items()
        }
        return [
            group
            for (home, steps), found in read.items()
            for group in level_groups(home, found, steps, metric, relative=relative)
        ]

    def levels(self, part: ComparedSteps, metric: str) -> tuple[list[Level], bool]:
        """Return the levels of the candidate's case on its host by time, and if of logarithms.

        The campaigns before it are those that ``between`` has read.
        """
        side, until = part.candidate, _newest([part])
        folder, home = side.folder.resolve(), home_of(side.folder)
        before = self._campaigns(home, host_of(side), OWN_CAMPAIGNS, until, folder)
        campaigns = sorted([*before, *sampled(side)], key=lambda one: one.began)
        levels = levels_of(campaigns, part.candidate_steps, metric, relative=True)
        if len(levels) == len(campaigns):
            return levels, True
        whole = levels_of(campaigns, part.candidate_steps, metric, relative=False)
        return (levels, True) if len(levels) == len(whole) else (whole, False)

    def _others(self, parts: Sequence[ComparedSteps], metric: str) -> list[tuple[float, int]]:
        """Return the variance of each other case's levels; of its steps, which share nights, mean.

        Its degrees of freedom are those of the step that is known best.
        """
        own = {home_of(side.folder) for part in parts for side in (part.baseline, part.candidate)}
        host, until = host_of(parts[0].candidate), _newest(parts)
        lent: list[tuple[float, int]] = []
        for home in self._homes:
            if home not in own:
                found = self._campaigns(home, host, _OTHER_CAMPAIGNS, until)
                steps = dict.fromkeys(step for one in found for step in one.steps)
                known = [level_variance(level_groups(home, found, [id_], metric)) for id_ in steps]
                told = [one for one in known if one[1]]
                if told:
                    variance = mean([variance for variance, _ in told])
                    lent.append((variance, max(freedom for _, freedom in told)))
        return lent

    @cached_property
    def _homes(self) -> list[Path]:
        """The results folders that have earlier campaigns."""
        homes = dict.fromkeys(map(home_of, (*self.compared, *self.other_results())))
        return list(islice(filter(earlier_campaigns, homes), _OTHER_CASES))

    def _campaigns(
        self, home: Path, host: Json, most: int, until: datetime, without: Path | None = None
    ) -> list[SampledCampaign]:
        """Return the campaigns of a host in a results folder, oldest first.

        Those after the compared ones are left out: a comparison stays as it is when others follow.
        """
        key = (home, host, until, without)
        if key not in self._read:
            folders = (one for one in with_earlier(home) if one.resolve() != without)
            found = islice(read_campaigns(folders, host, self.metrics, until), most)
            self._read[key] = list(found)[::-1]
        return self._read[key]


def _newest(parts: Iterable[ComparedSteps]) -> datetime:
    """Return when the newest of the compared runs began."""
    sides = (side for part in parts for side in (part.baseline, part.candidate))
    return max(record.began for side in sides for record in side.records)
