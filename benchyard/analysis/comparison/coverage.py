"""What a comparison leaves unjudged although it was known before: a gate must not pass over it."""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

from benchyard.analysis.comparison.rows import ALL_METRICS, CasePair, Comparison, Rule
from benchyard.analysis.comparison.samples import StepSample
from benchyard.analysis.comparison.wording import reason
from benchyard.core.wording import printable
from benchyard.statistics.comparison import Verdict


def gone(
    baseline: Mapping[str, StepSample], candidate: Mapping[str, StepSample], rule: Rule
) -> Iterator[str]:
    """Yield the measured steps, and their metrics, that the baseline has and the candidate has not.

    Metrics are those that are compared, and those that the step declares: what the kernel counts
    depends on the host.

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
