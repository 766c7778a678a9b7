"""The comparison itself: every step and metric of every pair of cases, judged together."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import islice
from shlex import quote

from benchyard.analysis.comparison.comparability import check
from benchyard.analysis.comparison.facts import Difficulty, Weight
from benchyard.analysis.comparison.gate import findings, gone
from benchyard.analysis.comparison.limits import Limit
from benchyard.analysis.comparison.rows import (
    ALL_METRICS,
    CasePair,
    Comparison,
    Pairs,
    Row,
    Rule,
    Unpaired,
)
from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.analysis.comparison.samples import (
    DURATION,
    Samples,
    StepSample,
    sampled,
)
from benchyard.analysis.comparison.sessions import (
    IN_TURNS,
    SessionHistory,
    relation,
)
from benchyard.core.errors import InputError
from benchyard.core.wording import hint, printable
from benchyard.results.summary_metrics import SMALLER
from benchyard.results.trust import FEWEST_TRUSTED
from benchyard.statistics.comparison import (
    Judgement,
    Verdict,
    compare_pairs,
    compare_samples,
    judge_families,
)
from benchyard.statistics.pairs import smallest_paired_p
from benchyard.statistics.ranks import smallest_p


def compare(pairs: Pairs, rule: Rule, history: SessionHistory | None = None) -> Comparison:
    """Compare the candidate with the baseline of every pair; see ``compare_sides``."""
    return compare_sides([pairs], rule, history)


def compare_sides(
    sides: Sequence[Pairs], rule: Rule, history: SessionHistory | None = None
) -> Comparison:
    """Compare the cases of each two sides, and judge all of them together.

    Args:
        sides: The cases of each two sides; the baseline of the first is the reference.
        history: What differences between sessions are held against; None makes one of these cases.

    Raises:
        InputError: If cases are not comparable and the rule does not allow it, or no step has a
            metric that is asked for, or no step is on both sides.
    """
    made, drafts = list[CasePair](), list[_Draft]()
    # A side may be in many pairs. All of them live as long as this, so no id is another's.
    named = {id(one): one for two in sides for of in two.both for one in of}
    _refuse_unknown_steps(named.values(), rule.steps)
    taken = {key: _only(one, rule.steps) for key, one in named.items()}
    samples = {key: sampled(one, rule.suspect) for key, one in taken.items()}
    for two in sides:
        neutral = two.baseline != sides[0].baseline
        for at, both in enumerate(two.both):
            one, other = (samples[id(side)] for side in both)
            baseline, candidate = (taken[id(side)] for side in both)
            key = two.keys[at] if two.keys else candidate.title
            pair = CasePair(
                *(baseline, candidate, check(baseline, candidate), ()),
                *(two.baseline, two.candidate, key, neutral),
                IN_TURNS if rule.in_turns else relation(baseline, candidate),
            )
            found = findings(baseline, candidate, one.every, other.every)
            judged = tuple(_of_pair(pair, finding) for finding in found)
            missing = tuple(gone(candidate.title, one.every, other.every, rule))
            made.append(replace(pair, findings=judged, gone=missing))
            drafts += _drafts(made[-1], one, other, rule)
    _refuse_incomparable(made, rule)
    wanted = choose_metrics(list(dict.fromkeys(draft.metric for draft in drafts)), rule.metrics)
    history = history or rule.history(
        side.folder for pair in made for side in (pair.baseline, pair.candidate)
    )
    rows = _rows([one for one in drafts if one.metric in wanted or one.limit], rule, history)
    unjudged = Comparison(rule, tuple(made), rows, tuple(_unpaired(sides)), history=history)
    (compared,) = judged_together([unjudged])
    if not (rows or compared.regressions or rule.strict):
        raise InputError(_nothing_in_common(made))
    return compared


def judged_together(comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Judge the rows of several comparisons, and return these in their order.

    What is asked for is one family, and what explains another, at the same level: the latter takes
    nothing from the former. Where a side has no value nothing is tested: it must not make the
    others harder to show.

    Args:
        comparisons: All by one rule; their own verdicts do not count any more.
    """
    tested = [row for one in comparisons for row in one.rows if row.tested]
    explains = [row.explains for row in tested]
    judged = iter(judge_families([row.difference for row in tested], explains))
    return tuple(
        replace(
            one,
            rows=tuple(
                replace(row, judgement=_limited(row, next(judged))) if row.tested else row
                for row in one.rows
            ),
            tested=explains.count(False),
            explaining=explains.count(True),
        )
        for one in comparisons
    )


def _limited(row: Row, judged: Judgement) -> Judgement:
    """Call no change that a rule allows."""
    allowed = row.limit is not None and row.limit.allows(row.difference, row.unit)
    called = judged.verdict is not Verdict.CANNOT_TELL
    return replace(judged, verdict=Verdict.NO_CHANGE_SHOWN) if allowed and called else judged


def joined(comparisons: Sequence[Comparison]) -> Comparison | None:
    """Return one comparison of all that were judged together; None of none."""
    if not comparisons:
        return None
    return replace(
        comparisons[0],
        pairs=tuple(pair for one in comparisons for pair in one.pairs),
        rows=tuple(row for one in comparisons for row in one.rows),
    )


def _unpaired(sides: Sequence[Pairs]) -> Iterator[Unpaired]:
    for two in sides:
        yield from (Unpaired(title, two.baseline, two.candidate) for title in two.baseline_only)
        yield from (Unpaired(title, two.candidate, two.baseline) for title in two.candidate_only)


def _of_pair(pair: CasePair, found: Difficulty) -> Difficulty:
    """Make of a step that fails a mere difference where it is other work."""
    neutral = pair.neutral or pair.is_other_work(found.paired_by)
    return replace(found, verdict=Verdict.CHANGE) if neutral else found


def _refuse_incomparable(pairs: Sequence[CasePair], rule: Rule) -> None:
    refused = {Weight.MUST_MATCH} if rule.other_work else {Weight.MUST_MATCH, Weight.OTHER_WORK}
    reasons = [
        f"{printable(pair.title)}: {mismatch.text}"
        for pair in pairs
        for mismatch in pair.mismatches
        if mismatch.weight in refused
    ]
    if reasons:
        listed = "\n".join(f"  {reason}" for reason in reasons)
        raise InputError(f"not comparable:\n{listed}")


def _nothing_in_common(pairs: Sequence[CasePair]) -> str:
    foreign = (
        pair for pair in pairs if set(pair.baseline.step_ids).isdisjoint(pair.candidate.step_ids)
    )
    one = next(foreign, None)
    if one is None:
        why = "; ".join(text for pair in pairs for text in pair.gone)
        return f"there is nothing to compare: {why or 'no measured step is on both sides'}"
    listed = [", ".join(side.step_ids) for side in (one.baseline, one.candidate)]
    first = [side.step_ids[0] for side in (one.baseline, one.candidate)]
    return printable(
        f"there is nothing to compare: {one.baseline.title} has the steps {listed[0]}, "
        f"{one.candidate.title} has {listed[1]}; pair them by their ids, such as "
        f"--pair {quote('='.join(first))}"
    )


@dataclass(frozen=True, slots=True)
class _Draft:
    """A row before anything is calculated.

    Args:
        every: Baseline and candidate with all their values.
        trusted: Both with their trusted values alone.
        explains: As of a row, as is ``limit``.
    """

    pair: CasePair
    step: str
    every: tuple[StepSample, StepSample]
    trusted: tuple[StepSample, StepSample]
    metric: str
    explains: bool
    limit: Limit | None


def _drafts(pair: CasePair, one: Samples, other: Samples, rule: Rule) -> Iterator[_Draft]:
    for step_id, before in one.every.items():
        after = other.every.get(step_id)
        if after is None or not (before.measured and after.measured):
            continue
        trusted = one.trusted[step_id], other.trusted[step_id]
        # A step that never succeeded still has a duration that could have been measured.
        for metric in dict.fromkeys([DURATION, *before.values, *after.values]):
            limit = rule.limit_of(pair.title, after, metric)
            explains = not (limit or rule.asks(metric, {*before.kinds, *after.kinds}))
            yield _Draft(pair, step_id, (before, after), trusted, metric, explains, limit)


def _refuse_unknown_steps(sets: Iterable[RunSet], patterns: Sequence[str]) -> None:
    records = (record for one in sets for record in one.everything) if patterns else ()
    known = list(dict.fromkeys(s.id for record in records for s in record.steps if s.measure))
    unknown = [p for p in patterns if known and not any(fnmatchcase(i, p) for i in known)]
    if unknown:
        raise InputError("; ".join(f"no step is {p!r}{hint(p, known)}" for p in unknown))


def _only(runs: RunSet, patterns: Sequence[str]) -> RunSet:
    """Return runs with the steps alone whose id, or that of their partner, is meant."""
    if not patterns:
        return runs
    paired = runs.compared_as or {step: step for step in runs.step_ids}
    meant = {
        own: other
        for own, other in paired.items()
        if any(fnmatchcase(own, one) or fnmatchcase(other, one) for one in patterns)
    }
    return replace(runs, compared_as=meant)


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


def _rows(drafts: Sequence[_Draft], rule: Rule, history: SessionHistory) -> tuple[Row, ...]:
    families = Counter(
        one.explains for one in drafts if all(one.metric in side.values for side in one.every)
    )
    each = {family: rule.level / many for family, many in families.items()}
    return tuple(_row(one, rule, each.get(one.explains, rule.level), history) for one in drafts)


def _row(draft: _Draft, rule: Rule, level: float, history: SessionHistory) -> Row:
    """Calculate a row; the trusted values count alone where enough are left on both sides.

    Args:
        level: Of this row: its share of the level of all (Bonferroni).
    """
    pair, metric = draft.pair, draft.metric
    one, other = sides = draft.trusted if _trusted_suffice(draft, level) else draft.every
    unit, direction = other.unit_and_direction(metric)
    better = draft.limit.better(direction) if draft.limit else direction
    neutral = better is None or draft.explains or pair.neutral or pair.is_other_work(draft.step)
    how = compare_samples
    values = [side.by_run.get(metric, {}) for side in sides]
    if pair.paired and values[0].keys() & values[1].keys():
        how = compare_pairs
        values = [{n: of[n] for n in of if n in values[0] and n in values[1]} for of in values]
    inside = how(
        *(tuple(of.values()) for of in values),
        smaller_is_better=None if neutral else better == SMALLER,
        level=rule.level,
        # A limit is held against what is left of a change between sessions, not before.
        threshold=0.0 if draft.limit else rule.threshold,
    )
    known = [side.values.get(metric, ()) for side in sides]
    between = history.between([pair.steps([one.id], [other.id])], metric, known, inside)
    difference = between.held_against(inside) if between else inside
    untested = Judgement(Verdict.CANNOT_TELL, 1.0, rule.level)
    about = (pair, draft.step, one, other, metric, unit, direction)
    return Row(*about, difference, untested, draft.explains, between, draft.limit)


def _trusted_suffice(draft: _Draft, level: float) -> bool:
    one, other = (side.by_run.get(draft.metric, {}).keys() for side in draft.trusted)
    if draft.pair.paired:
        both = len(one & other)
        return both >= FEWEST_TRUSTED and smallest_paired_p(both) <= level
    fewest = min(len(one), len(other))
    return fewest >= FEWEST_TRUSTED and smallest_p(len(one), len(other)) <= level
