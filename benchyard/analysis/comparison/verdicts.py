"""The comparison itself: every step and metric of every pair of cases, judged together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import islice

from benchyard.analysis.comparison.comparability import Mismatch, check
from benchyard.analysis.comparison.facts import Weight
from benchyard.analysis.comparison.findings import Difficulty, findings
from benchyard.analysis.comparison.run_sets import Pairs, RunSet
from benchyard.analysis.comparison.samples import DURATION, StepSample, sample
from benchyard.core.errors import InputError
from benchyard.core.wording import hint, printable
from benchyard.results.summary_metrics import SMALLER, unit_and_direction
from benchyard.statistics.comparison import (
    LEVEL,
    THRESHOLD,
    Difference,
    Judgement,
    Verdict,
    compare_samples,
    judge,
)

#: Stands for every metric there is.
ALL_METRICS = "all"


@dataclass(frozen=True, slots=True)
class Rule:
    """What is compared, and what counts as a difference.

    Args:
        metrics: Names, or globs over names such as ``resource_*``; ``all`` for every one. They
            are the family that the level holds for: each more makes all the others harder to show.
        threshold: Smallest relative change that is called.
        level: Probability of calling even one difference where there is none.
        include_suspect: Take executions in whose numbers are not to be trusted.
        force: Compare what is not comparable.
    """

    metrics: tuple[str, ...] = (DURATION,)
    threshold: float = THRESHOLD
    level: float = LEVEL
    include_suspect: bool = False
    force: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One step and metric on both sides.

    Args:
        case: Title of the case, as the candidate calls it.
        baseline: The step on that side, as is ``candidate``.
        unit: Of the values; None where the metric's name tells none.
        direction: As in ``summary.json``; None where neither is better.
        difference: Of this row alone.
        judgement: Among all rows that are tested.
    """

    case: str
    baseline: StepSample
    candidate: StepSample
    metric: str
    unit: str | None
    direction: str | None
    difference: Difference
    judgement: Judgement

    @property
    def verdict(self) -> Verdict:
        """What the row comes to."""
        return self.judgement.verdict

    @property
    def tested(self) -> bool:
        """Whether there are values on both sides; without them nothing can be tested."""
        return _is_tested(self.difference)


@dataclass(frozen=True, slots=True)
class CasePair:
    """One case on both sides, before anything is judged.

    Args:
        mismatches: What is not comparable, and what changed.
        findings: What there is beside numbers.
    """

    baseline: RunSet
    candidate: RunSet
    mismatches: tuple[Mismatch, ...]
    findings: tuple[Difficulty, ...]

    @property
    def title(self) -> str:
        """Title of the case, as the candidate calls it."""
        return self.candidate.title


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of a comparison.

    Args:
        rows: The worst first.
        baseline_only: Titles of the cases that only the baseline has.
        candidate_only: Titles of the cases that only the candidate has.
        family: How many rows were judged together, those of other comparisons too; None for its
            own alone.
    """

    rule: Rule
    pairs: tuple[CasePair, ...]
    rows: tuple[Row, ...]
    baseline_only: tuple[str, ...] = ()
    candidate_only: tuple[str, ...] = ()
    family: int | None = None

    @property
    def regressions(self) -> int:
        """How many rows and findings are regressions."""
        return self.count(Verdict.REGRESSION)

    @property
    def tested(self) -> int:
        """How many rows are tested: the family that the level holds for."""
        own = sum(row.tested for row in self.rows)
        return own if self.family is None else self.family

    def count(self, verdict: Verdict) -> int:
        """Return how many rows and findings come to a verdict."""
        beside = [finding for pair in self.pairs for finding in pair.findings]
        return sum(one.verdict is verdict for one in (*self.rows, *beside))


def compare(pairs: Pairs, rule: Rule) -> Comparison:
    """Compare the candidate with the baseline of every pair.

    Raises:
        InputError: If cases are not comparable and the rule does not force it, or no step has a
            metric that is asked for, or no step is on both sides.
    """
    made, drafts = list[CasePair](), list[_Draft]()
    for baseline, candidate in pairs.both:
        one = sample(baseline, include_suspect=rule.include_suspect)
        other = sample(candidate, include_suspect=rule.include_suspect)
        beside = findings(baseline, candidate, one, other)
        made.append(CasePair(baseline, candidate, check(baseline, candidate), beside))
        drafts += _drafts(candidate.title, one, other)
    if not rule.force:
        _refuse_incomparable(made)
    wanted = choose_metrics([draft.metric for draft in drafts], rule.metrics)
    rows = _judged([draft for draft in drafts if draft.metric in wanted], rule)
    compared = Comparison(rule, tuple(made), rows, pairs.baseline_only, pairs.candidate_only)
    if not (rows or compared.regressions):
        raise InputError("there is nothing to compare: no measured step is on both sides")
    return compared


def judged_together(comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Judge the rows of several comparisons as one family, and return these in their order.

    Args:
        comparisons: All by one rule; their own verdicts do not count any more.
    """
    tested = [row for one in comparisons for row in one.rows if row.tested]
    if not tested:
        return tuple(comparisons)
    judged = iter(judge([row.difference for row in tested], comparisons[0].rule.level))
    return tuple(
        replace(
            one,
            rows=tuple(sorted((_rejudged(row, judged) for row in one.rows), key=_badness)),
            family=len(tested),
        )
        for one in comparisons
    )


def joined(comparisons: Sequence[Comparison]) -> Comparison | None:
    """Return one comparison of all that were judged together; None of none."""
    if not comparisons:
        return None
    return replace(
        comparisons[0],
        pairs=tuple(pair for one in comparisons for pair in one.pairs),
        rows=tuple(sorted((row for one in comparisons for row in one.rows), key=_badness)),
    )


def _rejudged(row: Row, judged: Iterator[Judgement]) -> Row:
    return replace(row, judgement=next(judged)) if row.tested else row


def _refuse_incomparable(pairs: Sequence[CasePair]) -> None:
    reasons = [
        f"{printable(pair.title)}: {mismatch.text}"
        for pair in pairs
        for mismatch in pair.mismatches
        if mismatch.weight is Weight.MUST_MATCH
    ]
    if reasons:
        listed = "\n".join(f"  {reason}" for reason in reasons)
        raise InputError(f"not comparable; --force compares all the same:\n{listed}")


@dataclass(frozen=True, slots=True)
class _Draft:
    """A row before anything is calculated."""

    case: str
    baseline: StepSample
    candidate: StepSample
    metric: str


def _drafts(
    title: str, one: dict[str, StepSample], other: dict[str, StepSample]
) -> Iterator[_Draft]:
    for step_id, after in other.items():
        before = one.get(step_id)
        if before is None or not (before.measured and after.measured):
            continue
        # A step that never succeeded still has a duration that could have been measured.
        for metric in dict.fromkeys([DURATION, *before.values, *after.values]):
            yield _Draft(title, before, after, metric)


def choose_metrics(known: Sequence[str], patterns: Sequence[str]) -> set[str]:
    """Return the metrics that are meant by names and globs.

    Raises:
        InputError: If a pattern means none of those that are known.
    """
    wanted: set[str] = set()
    for pattern in patterns:
        found = [name for name in known if pattern == ALL_METRICS or fnmatchcase(name, pattern)]
        if known and not found:
            raise InputError(_unknown(pattern, list(dict.fromkeys(known))))
        wanted.update(found)
    return wanted


def _unknown(pattern: str, known: Sequence[str]) -> str:
    some = ", ".join(islice(known, 8))
    more = f" and {len(known) - 8} more; --metric all shows them" if len(known) > 8 else ""
    return f"no step has a metric {pattern!r}{hint(pattern, known)}; there is {some}{more}"


def _judged(drafts: Sequence[_Draft], rule: Rule) -> tuple[Row, ...]:
    differences = [_difference(draft, rule) for draft in drafts]
    # Where a side has no value nothing is tested: it must not make the others harder to show.
    tested = [one for one in differences if _is_tested(one)]
    judged = iter(judge(tested, rule.level))
    untested = Judgement(Verdict.CANNOT_TELL, 1.0, rule.level)
    rows = [
        Row(
            draft.case,
            draft.baseline,
            draft.candidate,
            draft.metric,
            *unit_and_direction(draft.metric),
            one,
            next(judged) if _is_tested(one) else untested,
        )
        for draft, one in zip(drafts, differences, strict=True)
    ]
    return tuple(sorted(rows, key=_badness))


def _is_tested(difference: Difference) -> bool:
    return bool(difference.baseline_n and difference.candidate_n)


def _difference(draft: _Draft, rule: Rule) -> Difference:
    _, direction = unit_and_direction(draft.metric)
    return compare_samples(
        draft.baseline.values.get(draft.metric, ()),
        draft.candidate.values.get(draft.metric, ()),
        smaller_is_better=None if direction is None else direction == SMALLER,
        level=rule.level,
        threshold=rule.threshold,
    )


_ORDER = (
    Verdict.REGRESSION,
    Verdict.CANNOT_TELL,
    Verdict.CHANGE,
    Verdict.NO_CHANGE_SHOWN,
    Verdict.IMPROVEMENT,
)


def _badness(row: Row) -> tuple[int, float]:
    """Sort by verdict, and inside by how much worse the candidate is."""
    ratio = row.difference.ratio
    worse = 0.0 if ratio is None else ratio - 1
    if row.difference.smaller_is_better is False:
        worse = -worse
    return _ORDER.index(row.verdict), -worse
