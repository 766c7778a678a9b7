"""What decides a gate: what is worse, what fails, and what is unjudged although it was known.

Whether a step fails is not left to a test of significance. A step that fails where it never failed
before has to be looked at, however often it still succeeds.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from typing import cast

from benchyard.analysis.comparison.facts import Difficulty
from benchyard.analysis.comparison.limits import Limit
from benchyard.analysis.comparison.rows import (
    ALL_METRICS,
    CasePair,
    Comparison,
    Row,
    Rule,
)
from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.analysis.comparison.samples import FAILURES, StepSample, sample
from benchyard.analysis.comparison.wording import change, change_between, reason, verdict_words
from benchyard.core.model import JsonObject
from benchyard.core.quantity import amount, percent
from benchyard.core.wording import hint, in_short, printable
from benchyard.statistics.comparison import Verdict


@dataclass(frozen=True, slots=True)
class Regression:
    """One thing that is worse than in the baseline.

    Args:
        step: Id of the step; None if it is about whole runs.
        text: The whole of it as a sentence.
        metric: None, like all members below, where a step fails instead of being slower.
        unit: Of both medians.
        ratio: Candidate by baseline; 1.02 is 2 % more.
        interval_level: What the interval covers with, from 0 to 1.
        runs: Number of values in the baseline and in the candidate.
        p_value: Of this one alone.
    """

    case: str
    step: str | None
    name: str | None
    text: str
    metric: str | None = None
    unit: str | None = None
    baseline_median: float | None = None
    candidate_median: float | None = None
    ratio: float | None = None
    ratio_interval: tuple[float | None, ...] | None = None
    interval_level: float | None = None
    runs: tuple[int, ...] | None = None
    p_value: float | None = None

    def to_json(self) -> JsonObject:
        """Return it for an event."""
        return cast("JsonObject", asdict(self))


def regressions_of(compared: Comparison) -> Iterator[Regression]:
    """Yield what is worse in a comparison: the worst numbers first, then what fails."""
    worse = [row for row in compared.rows if row.verdict is Verdict.REGRESSION]
    for row in sorted(worse, key=_badness, reverse=True):
        yield regression_of(row, compared.rule.level)
    for pair in compared.pairs:
        for finding in pair.findings:
            if finding.verdict is Verdict.REGRESSION:
                yield Regression(pair.title, finding.step, None, finding.text)


def _badness(row: Row) -> float:
    change = row.difference.change or 0.0
    return -change if row.difference.smaller_is_better is False else change


def regression_of(row: Row, level: float) -> Regression:
    """Return a row that is worse, as a sentence and in numbers."""
    one = row.difference
    low, high = one.ratio_interval.low, one.ratio_interval.high
    medians = (amount(value, row.unit) for value in (one.candidate_median, one.baseline_median))
    inside = "" if row.pair.sessions.in_turns or row.compares_levels else " inside the sessions"
    compared = f"{one.candidate_n} against {one.baseline_n} runs"
    if row.compares_levels:
        compared = "one process each"
    if row.campaigns:
        compared = f"against {row.campaigns} campaigns"
    asks = f"; ask {row.owner}" if row.owner else ""
    text = (
        f"{row.case}: step {row.candidate.name} is {verdict_words(row)}: {row.metric} "
        f"{' instead of '.join(medians)}, "
        f"{change_between(one.ratio, one.baseline_median, one.candidate_median)} "
        f"({percent(1 - level, 4)} interval{inside} {change(low)} … {change(high)}; "
        f"{compared}){asks}"
    )
    return Regression(
        case=row.case,
        step=row.candidate.id,
        name=row.candidate.name,
        text=printable(text),
        metric=row.metric,
        unit=row.unit,
        baseline_median=one.baseline_median,
        candidate_median=one.candidate_median,
        ratio=one.ratio,
        ratio_interval=(low, high),
        interval_level=one.ratio_interval.level,
        runs=(one.baseline_n, one.candidate_n),
        p_value=one.p_value,
    )


def gone(
    case: str, baseline: Mapping[str, StepSample], candidate: Mapping[str, StepSample], rule: Rule
) -> Iterator[str]:
    """Yield the measured steps, and their metrics, that the baseline has and the candidate has not.

    Metrics are those that are compared, or have a limit, and those that the step declares: what
    the kernel counts depends on the host.

    Args:
        baseline: Its steps by the id that they are paired by.
    """
    for step_id, step in baseline.items():
        if not step.measured or not _is_meant(step.id, rule.steps or ("*",)):
            continue
        after = candidate.get(step_id)
        if after is None or not after.measured:
            yield printable(f"step {step.name} is measured in the baseline only")
            continue
        for metric, values in step.values.items():
            is_wanted = metric in step.kinds or _is_meant(metric, rule.metrics)
            is_wanted = is_wanted or rule.limit_of(case, after, metric)
            if is_wanted and values and not after.values.get(metric):
                yield printable(f"{metric} of step {step.name} is known in the baseline only")


def _is_meant(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns) or ALL_METRICS in patterns


def unjudged(comparison: Comparison) -> list[str]:
    """Return why a strict gate does not pass although nothing is worse; empty if it passes.

    Something was known before, or was named, and is not judged; or a case has no row that is.
    """
    sides = comparison.side_pairs
    lost = [one for one in comparison.unpaired if (one.there, one.against) in sides]
    found = [
        *(printable(f"{one.title} is in {one.there} only") for one in lost),
        *(text for pair in comparison.pairs for text in _of_pair(pair, comparison)),
    ]
    return found or list(_of_names(comparison))


def _of_pair(pair: CasePair, comparison: Comparison) -> Iterator[str]:
    several = len(comparison.pairs) > 1
    case = printable(f"{pair.title}: ") if several else ""
    yield from (f"{case}{text}" for text in pair.gone)
    rows = [row for row in comparison.asked if row.pair is pair]
    if rows and not pair.gone and all(row.verdict is Verdict.CANNOT_TELL for row in rows):
        why = dict.fromkeys(reason(row, comparison.family_of(row)) for row in rows)
        yield f"{case}nothing can be told: {'; '.join(why)}"


def _of_names(comparison: Comparison) -> Iterator[str]:
    """Yield the named metrics and steps without a row that has values on both sides."""
    rule, tested = comparison.rule, [row for row in comparison.rows if row.tested]
    metrics, steps = [row.metric for row in tested], [row.baseline.id for row in tested]
    for what, patterns, names in (("metric", rule.metrics, metrics), ("step", rule.steps, steps)):
        for pattern in patterns:
            if not any(_is_meant(name, (pattern,)) for name in names):
                yield printable(f"no {what} {pattern} has values on both sides")


def idle_rules(comparison: Comparison, found: Iterable[RunSet], *, every: bool) -> list[str]:
    """Say of each rule that can never fire why.

    Args:
        found: The candidates, compared or not.
        every: Whether these are all cases: only then a rule of another case is wrong.
    """
    rule = comparison.rule
    known = [
        (runs.title, step)
        for runs in (found if rule.rules else ())
        for step in sample(runs, include_suspect=True).values()
        if step.measured and _is_meant(step.id, rule.steps or ("*",))
    ]
    firing = {id(row.limit) for row in comparison.rows if row.baseline.values.get(row.metric)}
    meant = [one for one in rule.rules if every or any(one.is_about(title) for title, _ in known)]
    why = [(one, _why_idle(one, comparison, known)) for one in meant if id(one) not in firing]
    return [printable(f"rule '{one.text}' never fires: {text}") for one, text in why if text]


def _why_idle(limit: Limit, comparison: Comparison, known: Sequence[tuple[str, StepSample]]) -> str:
    of_case = [step for title, step in known if limit.is_about(title)]
    steps = [step for step in of_case if fnmatchcase(step.id, limit.step)]
    metrics = {name: step.unit_and_direction(name) for step in steps for name in step.values}
    misfits = [limit.misfit(m, *metrics[m]) for m in metrics if fnmatchcase(m, limit.metric)]
    if not of_case:
        titles = {title for title, _ in known}
        return f"no case is '{limit.case}'{hint(limit.case, titles)}"
    if not steps:
        ids = {step.id for step in of_case}
        return "" if comparison.rule.steps else f"no step is '{limit.step}'{hint(limit.step, ids)}"
    if not misfits:
        return f"no metric there is '{limit.metric}'{hint(limit.metric, metrics)}"
    if all(misfits):
        return misfits[0]
    rows = [row for row in comparison.rows if row.limit and row.baseline.values.get(row.metric)]
    covered = (limit.matches(row.case, row.candidate.id, row.metric) for row in rows)
    return "a later rule covers it" if any(covered) else "it has no history"


@dataclass(frozen=True, slots=True)
class _Failures:
    """Numbers of executions and of failures on one side."""

    failed: int
    tried: int

    def __str__(self) -> str:
        return f"{self.failed} of {self.tried} run{'s' * (self.tried != 1)}"


def findings(
    baseline: RunSet,
    candidate: RunSet,
    one: Mapping[str, StepSample],
    other: Mapping[str, StepSample],
) -> tuple[Difficulty, ...]:
    """Return what there is to say about failures and about steps without a partner.

    Args:
        one: The baseline's steps by id.
        other: The candidate's.
    """
    return (
        *_broken_runs(baseline, candidate),
        *(
            replace(found, paired_by=i)
            for i in one
            if i in other
            for found in _of_step(one[i], other[i])
        ),
        *(_alone(step, "baseline", "candidate") for i, step in one.items() if i not in other),
        *(_alone(step, "candidate", "baseline") for i, step in other.items() if i not in one),
    )


def _broken_runs(baseline: RunSet, candidate: RunSet) -> Iterator[Difficulty]:
    before, after = (
        _Failures(len(_broken_off(side)), len(side.everything)) for side in (baseline, candidate)
    )
    runs = in_short(_broken_off(candidate) or _broken_off(baseline))
    what = f"the lab or a resource could not go on (run {runs})"
    yield from _changed(None, what, before, after)


def _broken_off(side: RunSet) -> list[int]:
    """Return the failed runs without a failed step: the lab or a resource could not go on."""
    return [
        record.run
        for record in side.failed
        if not any(step.outcome in FAILURES for step in record.steps)
    ]


def _of_step(one: StepSample, other: StepSample) -> Iterator[Difficulty]:
    before, after = (_Failures(side.failed, side.executed) for side in (one, other))
    yield from _changed(other.id, f"step {other.name} fails", before, after)
    for name, here, there in (("candidate", other, one), ("baseline", one, other)):
        if there.executed and not here.executed:
            text = f"step {other.name} was never executed in the {name}: skipped each time"
            yield Difficulty(other.id, Verdict.CHANGE, printable(text))


def _changed(
    step: str | None, what: str, before: _Failures, after: _Failures
) -> Iterator[Difficulty]:
    if not (before.failed or after.failed):
        return
    text = f"{what} in {after} of the candidate, in {before} of the baseline"
    yield Difficulty(step, _verdict(before, after), printable(text))


def _verdict(before: _Failures, after: _Failures) -> Verdict:
    """Tell whether failing began or ended; in between lies chance, which is not judged here."""
    if not (before.tried and after.tried):
        return Verdict.CHANGE
    if not before.failed or (before.failed < before.tried and after.failed == after.tried):
        return Verdict.REGRESSION
    if not after.failed or (after.failed < after.tried and before.failed == before.tried):
        return Verdict.IMPROVEMENT
    return Verdict.CHANGE


def _alone(step: StepSample, here: str, there: str) -> Difficulty:
    text = f"step {step.name} is in the {here} only; the {there} has no step with the id {step.id}"
    return Difficulty(step.id, Verdict.CHANGE, printable(text))
