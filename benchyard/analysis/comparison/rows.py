"""What a comparison is made of: its rule, the cases of each two sides, a row for each metric."""

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, NamedTuple

from benchyard.analysis.comparison.comparability import Mismatch
from benchyard.analysis.comparison.facts import Difficulty, Weight
from benchyard.analysis.comparison.limits import Limit
from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.analysis.comparison.samples import DURATION, StepSample
from benchyard.analysis.comparison.sessions import (
    IN_TURNS,
    BetweenSessions,
    ComparedSteps,
    SessionHistory,
    SessionRelation,
)
from benchyard.core.fields import Share
from benchyard.results.trust import Suspect
from benchyard.statistics.comparison import LEVEL, THRESHOLD, Difference, Judgement, Verdict


@dataclass(frozen=True, slots=True)
class Pairs:
    """Cases that are on both sides, and those that are on one.

    Args:
        both: Baseline and candidate of each case.
        baseline_only: Titles.
        candidate_only: Titles.
        baseline: How that side is called; likewise ``candidate``.
        keys: What each of both is called where several sides are compared; in order of ``both``.
    """

    both: tuple[tuple[RunSet, RunSet], ...]
    baseline_only: tuple[str, ...] = ()
    candidate_only: tuple[str, ...] = ()
    baseline: str = "baseline"
    candidate: str = "candidate"
    keys: tuple[str, ...] = ()


#: Stands for every metric there is.
ALL_METRICS = "all"


@dataclass(frozen=True, slots=True)
class Rule:
    """What is compared, and what counts as a difference.

    Args:
        metrics: Metrics to compare, by names or globs such as resource_*. The level holds for all
            of them together: each more makes the others harder to show. all shows every other one
            too, to explain.
        threshold: Smallest relative change that is called.
        level: Chance of even one false call, over all comparisons together.
        suspect: What becomes of executions whose numbers are not to be trusted.
        other_work: Compare other work too; what differs then is a change, never a regression.
        steps: Only these steps, by ids or globs over ids.
        session_sd: Standard deviation between sessions of one host that is expected beforehand,
            relative; None takes ``statistics.pairs.PRIOR_SD``.
        in_turns: Take all for measured in turns, in one session, whatever the records say.
        other_results: Returns results folders of the host's other cases, when they are needed.
        campaigns: Compare with the level of so many campaigns, where there are enough; 0 never.
        strict: Whether a comparison without a row is a result; else it is wrong input.
        rules: 'CASE:STEP METRIC LIMIT OWNER', with globs: how much more (+5%), less (-20MB) or
            worse (3ms) than before a metric may be, and who is asked; the last that matches holds.
    """

    metrics: tuple[str, ...] = (DURATION,)
    threshold: float = THRESHOLD
    level: Annotated[float, Share()] = LEVEL
    suspect: Suspect = Suspect.AUTO
    other_work: bool = False
    steps: tuple[str, ...] = ()
    session_sd: float | None = None
    in_turns: bool = False
    other_results: Callable[[], Iterable[Path]] = tuple
    campaigns: int = 0
    strict: bool = False
    rules: tuple[Limit, ...] = ()

    def limit_of(self, case: str, step: StepSample, metric: str) -> Limit | None:
        """Return the last rule that matches a row and fits its metric.

        A rule asks for the metric that it names; one of all metrics for none.
        """
        kind = step.unit_and_direction(metric)
        matching = [one for one in self.rules if one.matches(case, step.id, metric)]
        fitting = [one for one in matching if not one.misfit(metric, *kind)]
        asked = self.asks(metric, step.kinds) or any(one.metric != "*" for one in fitting)
        return fitting[-1] if fitting and asked else None

    def asks(self, metric: str, declared: Container[str]) -> bool:
        """Tell whether a metric is asked for; any other that is shown only explains.

        ``all`` alone asks for the time and what the step declares: nobody has a question about
        each counter, and each would take its share of the level away from the others.

        Args:
            declared: Names of the metrics that the step declares.
        """
        named = [one for one in self.metrics if one != ALL_METRICS]
        if not named:
            return metric == DURATION or metric in declared
        return any(fnmatchcase(metric, one) for one in named)

    @property
    def main_metric(self) -> str:
        """The metric of pictures: the first that is named, or else the time."""
        return next((one for one in self.metrics if one != ALL_METRICS), DURATION)

    def history(self, folders: Iterable[Path]) -> SessionHistory:
        """Return what differences between sessions are held against.

        Args:
            folders: Results folders of the cases that are compared.
        """
        named = (*self.metrics, *(one.metric for one in self.rules if one.metric != "*"))
        metrics = tuple("*" if name == ALL_METRICS else name for name in named)
        lent = (self.other_results, tuple(folders))
        return SessionHistory(self.session_sd, *lent, metrics, self.campaigns)


@dataclass(frozen=True, slots=True)
class CasePair:
    """One case on both sides, before anything is judged.

    Args:
        mismatches: What is not comparable, and what changed.
        findings: What there is beside numbers.
        baseline_side: How the side is called; likewise ``candidate_side``.
        key: What the case is called on all sides, where there are more than two.
        neutral: Neither side is the reference, so none of them is better or worse.
        sessions: Whether the sides took turns.
        gone: What the baseline measured and the candidate did not, in words.
    """

    baseline: RunSet
    candidate: RunSet
    mismatches: tuple[Mismatch, ...]
    findings: tuple[Difficulty, ...]
    baseline_side: str = "baseline"
    candidate_side: str = "candidate"
    key: str = ""
    neutral: bool = False
    sessions: SessionRelation = IN_TURNS
    gone: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Title of the case, as the candidate calls it."""
        return self.candidate.title

    def is_other_work(self, step: str | None = None) -> bool:
        """Tell whether a step does not do the same on both sides.

        Args:
            step: The id that it is paired by; None asks for any of them.
        """
        found = [one.steps for one in self.mismatches if one.weight is Weight.OTHER_WORK]
        return self.of_same_runs or any(
            step is None or not steps or step in steps for steps in found
        )

    def steps(self, baseline: Iterable[str], candidate: Iterable[str]) -> ComparedSteps:
        """Return steps whose level is compared, by their ids on each side."""
        in_turns = self.sessions.in_turns
        sides = (self.baseline, self.candidate)
        return ComparedSteps(*sides, in_turns, tuple(baseline), tuple(candidate))

    @property
    def of_same_runs(self) -> bool:
        """Whether both sides are of the very same runs, which then come in pairs."""
        return self.baseline.is_of_same_runs(self.candidate)

    @property
    def paired(self) -> bool:
        """Whether the two values of each run belong together."""
        return self.of_same_runs and self.baseline.in_turns is None


class _Judged:
    """A difference with its verdict: of one step (``Row``), or over all steps (``Overall``)."""

    difference: Difference
    judgement: Judgement
    between: BetweenSessions | None
    limit: Limit | None = None

    @property
    def verdict(self) -> Verdict:
        """What the difference comes to."""
        return self.judgement.verdict

    @property
    def owner(self) -> str:
        """Who is asked, as it is worse by a rule; empty otherwise."""
        return self.limit.owner if self.limit and self.verdict is Verdict.REGRESSION else ""

    @property
    def differs_as_sessions_do(self) -> bool:
        """Whether only what sessions vary by keeps a difference from being called."""
        return self.between is not None and self.between.explains(self.judgement.needed_p)

    @property
    def compares_levels(self) -> bool:
        """Whether the levels of campaigns or processes were compared, and not runs."""
        return self.between is not None and self.between.level is not None

    @property
    def campaigns(self) -> int:
        """How many campaigns the candidate was compared with as one level; 0 if with one side."""
        level_of = self.difference.baseline_n if self.compares_levels else 0
        return level_of if level_of > 1 else 0

    @property
    def tested(self) -> bool:
        """Whether there are values on both sides; without them nothing can be tested."""
        return 0 not in (self.difference.baseline_n, self.difference.candidate_n)


@dataclass(frozen=True, slots=True)
class Row(_Judged):
    """One step and metric on both sides.

    Args:
        pair: The case and the sides.
        paired_by: The id that the step is paired by.
        baseline: The step on that side, as is ``candidate``.
        unit: Of the values; None where the metric's name tells none.
        direction: As in ``summary.json``; None where neither is better.
        difference: Of this row alone.
        judgement: Among all rows of its family that are tested.
        explains: Whether it is of the family that is shown to explain, not of what is asked.
        between: What a difference between two sessions is held against; None in turns, and where
            the test inside the sessions shows no difference.
        limit: What takes the place of the threshold.
    """

    pair: CasePair
    paired_by: str
    baseline: StepSample
    candidate: StepSample
    metric: str
    unit: str | None
    direction: str | None
    difference: Difference
    judgement: Judgement
    explains: bool
    between: BetweenSessions | None = None
    limit: Limit | None = None

    @property
    def case(self) -> str:
        """Title of the case, as the candidate calls it."""
        return self.pair.title

    @property
    def busy(self) -> bool:
        """Whether suspect values count: both sides are then those of a busy host."""
        return bool(self.baseline.suspect or self.candidate.suspect)


class Unpaired(NamedTuple):
    """A case that one side has, and the side it is compared with has not."""

    title: str
    there: str
    against: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of a comparison.

    Args:
        pairs: Of each two sides their cases.
        rows: In the order of the pairs, and of the baseline's steps.
        unpaired: Cases that are not compared.
        tested: How many rows that are asked for were judged together, those of other comparisons
            too: the family that the level holds for.
        explaining: How many rows that explain were: a family of their own.
        history: What differences between sessions are held against.
    """

    rule: Rule
    pairs: tuple[CasePair, ...]
    rows: tuple[Row, ...]
    unpaired: tuple[Unpaired, ...] = ()
    tested: int = 0
    explaining: int = 0
    history: SessionHistory = field(default_factory=SessionHistory)

    @property
    def regressions(self) -> int:
        """How many rows and findings are regressions."""
        return self.count(Verdict.REGRESSION)

    @property
    def asked(self) -> list[Row]:
        """The rows that are asked for: they alone decide what the comparison comes to."""
        return [row for row in self.rows if not row.explains]

    def family_of(self, row: Row) -> int:
        """Return how many rows are judged together with one."""
        return self.explaining if row.explains else self.tested

    @property
    def side_pairs(self) -> tuple[tuple[str, str], ...]:
        """The two sides of each pair of sides, by how they are called."""
        return tuple(dict.fromkeys((one.baseline_side, one.candidate_side) for one in self.pairs))

    def count(self, verdict: Verdict) -> int:
        """Return how many rows that are asked for, and findings, come to a verdict."""
        beside = [finding for pair in self.pairs for finding in pair.findings]
        return sum(one.verdict is verdict for one in (*self.asked, *beside))


_UNJUDGED = Judgement(Verdict.CANNOT_TELL, 1.0, 0.0)


@dataclass(frozen=True, slots=True)
class Overall(_Judged):
    """One metric over all steps of two sides.

    Args:
        pair: The first pair of cases; it has the names of both sides.
        unit: Of the medians of the runs' geometric means.
        steps: How many steps it is the mean of.
        left_out: Names of the steps without values above 0 in half of the runs of a side or more.
        difference: Of the runs' geometric means; its interval is for this one alone.
        judgement: Among all lines over the steps.
        between: As of a row.
        busy: Whether suspect values count.
    """

    pair: CasePair
    metric: str
    unit: str | None
    steps: int
    left_out: tuple[str, ...]
    difference: Difference
    judgement: Judgement = _UNJUDGED
    between: BetweenSessions | None = None
    busy: bool = False
