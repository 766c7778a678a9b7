"""A comparison in words and figures: for its tables and its documents."""

from collections.abc import Iterable

from benchyard.analysis.comparison.control import control_notes
from benchyard.analysis.comparison.facts import Weight
from benchyard.analysis.comparison.rows import CasePair, Comparison, Overall, Row
from benchyard.analysis.comparison.samples import (
    DURATION,
    StepSample,
    cannot_tell,
    pairs_cannot_tell,
)
from benchyard.analysis.comparison.sessions import BetweenSessions
from benchyard.core.quantity import UNKNOWN, amount, number, percent, plural
from benchyard.core.wording import in_short, printable, some
from benchyard.results.summary_metrics import SUSPECT
from benchyard.results.trust import BUSY, Suspect, causes
from benchyard.statistics.comparison import Difference, Verdict
from benchyard.statistics.pairs import OWN_FROM, PRIOR_SD

_REASONS = {
    "timed_out": "timed out",
    "no_duration": "without a duration",
    "unfinished_run": "in runs that failed elsewhere",
}


def signed(value: float | None, unit: str | None) -> str:
    """Write a difference, with its sign."""
    text = amount(value, unit)
    return f"+{text}" if value is not None and value > 0 else text


#: Up to this relative difference a ratio of medians is what is shown for it.
_AGREES = 0.005


def change(ratio: float | None) -> str:
    """Write a ratio as a change: 1.02 is ``+2.0 %``, 12.0 ``12-fold``; ``-`` for none."""
    if ratio is None:
        return UNKNOWN
    if ratio >= 10:
        return f"{number(ratio, 3)}-fold"
    # The 0 takes the sign from a change that is rounded away.
    return f"{round(100 * (ratio - 1), 1) + 0.0:+.1f} %"


def change_between(ratio: float | None, before: float | None, after: float | None) -> str:
    """Write the change beside two medians, and what it is where it is not that of these medians.

    Args:
        ratio: The median of all ratios between a run of the one side and one of the other.
        before: Median of the one side.
        after: Of the other.
    """
    agrees = not (ratio and before and after) or abs(after / before / ratio - 1) < _AGREES
    return change(ratio) + ("" if agrees else " of pairs")


def p_value(value: float) -> str:
    """Write a p-value with two digits that count."""
    return "<0.0001" if value < 0.0001 else f"{value:.2g}"


# -- rows

WORDS = {Verdict.NO_CHANGE_SHOWN: "no difference shown", Verdict.CANNOT_TELL: "cannot tell"}
#: From this ratio on a change is told as a ratio, too: of percentages nobody sees that -93 % and
#: -97 % are twice apart.
_MANIFOLD = 2.0


def verdict_words(row: Row | Overall) -> str:
    """Return the verdict as a reader would say it."""
    return _words(row) + (", on a busy host" if row.busy else "")


def verdict_in_full(row: Row | Overall) -> str:
    """Return the verdict, and how many times where it is twice as much or more."""
    times = "" if row.verdict in WORDS else _times(row.difference)
    return times + verdict_words(row) + (f"; ask {row.owner}" if row.owner else "")


def _words(row: Row | Overall) -> str:
    difference = row.difference
    if row.verdict is Verdict.NO_CHANGE_SHOWN and row.differs_as_sessions_do:
        return _as_sessions_do(row)
    if row.verdict in WORDS:
        significant = row.judgement.p_value <= difference.level
        if row.verdict is Verdict.NO_CHANGE_SHOWN and significant and row.limit:
            return f"within {row.limit.limit}"
        if row.verdict is Verdict.NO_CHANGE_SHOWN and significant and not difference.matters:
            return f"differs by less than {percent(difference.threshold, 4)}"
        return WORDS[row.verdict]
    more = (difference.shift or 0) > 0
    if row.metric == DURATION:
        return "slower" if more else "faster"
    return "more" if more else "less"


def _times(difference: Difference) -> str:
    """Say how many times more or less it is, from twice on."""
    below = (difference.baseline_median or 0) < 0  # "11 times less" would be no answer
    times = 1.0 if below else difference.ratio or 1.0
    times = times if times >= 1 else 1 / times if times > 0 else 1.0
    return f"{number(times, 3)} times " if times >= _MANIFOLD else ""


def _as_sessions_do(row: Row | Overall) -> str:
    """Say by how much something differs, and how far equal sessions differ at most."""
    between, one = row.between, row.difference
    margin = between and between.margin(row.judgement.needed_p)
    if between is None or margin is None:
        return WORDS[row.verdict]
    apart, most = signed(one.shift, row.unit).lstrip("+-"), amount(margin, row.unit)
    if between.relative:
        apart, most = percent(abs(one.change or 0), 2), percent(margin, 2)
    who = "sessions on this host do" if between.campaigns or between.cases else "two sessions may"
    return f"differs by {apart}, as {who} (± {most}, {_known(between)})"


def _known(between: BetweenSessions) -> str:
    """Say what the spread of sessions is known from."""
    known = [plural(between.campaigns, "campaign")] * bool(between.campaigns)
    known += [plural(between.cases, "other case")] * bool(between.cases)
    return " and ".join(known) or "no campaign before"


def reason(row: Row, comparisons: int) -> str:
    """Say why nothing can be told of a row; nothing where something can.

    Args:
        comparisons: How many are tested together with it.
    """
    if row.verdict is not Verdict.CANNOT_TELL:
        return ""
    sides = (("baseline", row.baseline), ("candidate", row.candidate))
    empty = [
        _without(name, side, row.metric) for name, side in sides if not side.values.get(row.metric)
    ]
    if empty:
        return "; ".join(empty)
    if row.between is not None and not row.between.spreads and row.between.relative:
        return "one process does not tell how far processes differ; --session-sd PERCENT can say it"
    if row.between is not None and not row.between.spreads:
        return (
            f"between sessions, values that are not all above 0 need {OWN_FROM} earlier campaigns; "
            f"there are {row.between.campaigns}"
        )
    one = row.difference
    # The same number as in the words: Holm asks less of some only because others were called.
    if row.pair.paired:
        return pairs_cannot_tell(one.baseline_n, one.level, comparisons)
    return cannot_tell(one.baseline_n, one.candidate_n, one.level, comparisons)


def _without(name: str, side: StepSample, metric: str) -> str:
    why = left_out(side) or f"{metric} is not known there"
    return f"no value in the {name}: {why}"


def left_out(side: StepSample) -> str:
    """Count the executions that do not count, by their reason; empty if all count."""
    return ", ".join(f"{n} {_REASONS.get(why, why)}" for why, n in side.left_out.items())


def arrow(difference: Difference) -> str:
    """Draw the size of a change that is called: one mark, two from 5 % on, three from 25 % on."""
    ratio = difference.ratio
    if ratio is None:
        return ""
    size = max(ratio, 1 / ratio) - 1 if ratio > 0 else 1.0
    marks = 1 + (size >= 0.05) + (size >= 0.25)
    return ("▲" if (difference.shift or 0) > 0 else "▼") * marks


# -- around the table


def remarks(pair: CasePair, weight: Weight) -> list[str]:
    """Return what is to be said of a pair's comparability."""
    return [mismatch.text for mismatch in pair.mismatches if mismatch.weight is weight]


def notes(comparison: Comparison) -> list[str]:
    """Return the lines around the table: sessions, why nothing can be told, what was left out."""
    return [*session_notes(comparison), *untold(comparison), *uncounted(comparison)]


def _busy_note(rows: Iterable[Row]) -> str:
    """Say once why figures carry the mark of a busy host; empty if none does."""
    sides = {id(side): side for row in rows for side in (row.baseline, row.candidate)}.values()
    doubted = sum(side.suspect for side in sides)
    if not doubted:
        return ""
    number = f"{doubted} of {plural(sum(side.counted for side in sides), 'execution')} suspect"
    reasons = "; ".join(causes(reason for side in sides for reason in side.doubts))
    return printable(
        f"{BUSY} on a busy host: {number} ({reasons}), and counted; quieten the host (benchyard "
        f"doctor says how), or leave them out with --suspect {Suspect.LEAVE_OUT}"
    )


def session_notes(comparison: Comparison) -> list[str]:
    """Say whether the sides took turns, and what to do where sessions hide a difference."""
    relations = dict.fromkeys(map(session_words, comparison.pairs))
    levels = sorted({row.campaigns for row in comparison.rows} - {0})
    said = [f"compared with the mean of {in_short(levels)} campaigns"] if levels else []
    said += [" and ".join(relations)] if relations and not levels else []
    if any(row.differs_as_sessions_do for row in comparison.rows):
        prior = comparison.rule.session_sd
        declared = ", or give --session-sd PERCENT" if prior is None else ""
        expected = percent(PRIOR_SD if prior is None else prior, 4)
        said.append(
            f"sessions are expected to vary by {expected} (standard deviation) until campaigns "
            "tell; to see smaller differences, measure both in turns with one benchyard run A B, "
            f"make more campaigns (benchyard run --new){declared}"
        )
    return [*said, *control_notes(comparison.pairs, to_level=bool(levels))]


def session_words(pair: CasePair) -> str:
    """Say how the runs of both sides lie in time."""
    if pair.sessions.in_turns:
        return "measured in turns"
    if pair.of_same_runs:
        return "measured one after the other"
    apart = pair.sessions.apart_s
    return f"measured in two sessions{'' if apart is None else f', {_apart(apart)} apart'}"


def _apart(seconds: float) -> str:
    for length, noun in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= 2 * length:
            return plural(round(seconds / length), noun)
    return plural(round(seconds), "second")


def untold(comparison: Comparison) -> list[str]:
    """Say of which steps nothing can be told, why, and how many runs could tell."""
    found: dict[str, list[str]] = {}
    for row in comparison.rows:
        why = reason(row, comparison.family_of(row))
        if why:
            found.setdefault(why, []).append(_name(comparison, row))
    every = len(comparison.rows)
    return [
        f"{'all' if len(names) == every > 1 else some(names, 5)}: {why}"
        for why, names in found.items()
    ]


def lacks_suspect(comparison: Comparison) -> bool:
    """Tell whether a row has no value on a side where something suspect was left out."""
    empty = [row for row in comparison.rows if not row.tested]
    return any(SUSPECT in side.left_out for row in empty for side in (row.baseline, row.candidate))


def uncounted(comparison: Comparison) -> list[str]:
    """Say why figures are of a busy host, and how many executions of which steps do not count."""
    counted: dict[str, dict[str, None]] = {}
    for row in comparison.rows:
        for side, sample in (("baseline", row.baseline), ("candidate", row.candidate)):
            if sample.left_out and sample.values:
                why = f"left out of the {side}: {left_out(sample)}"
                counted.setdefault(why, {})[_step(comparison, row)] = None
    busy = _busy_note(comparison.rows)
    return [busy] * bool(busy) + [f"{some([*of], 5)}: {why}" for why, of in counted.items()]


def _step(comparison: Comparison, row: Row) -> str:
    sides = comparison.side_pairs
    several = len(comparison.pairs) > len(sides)
    case = f"{row.pair.key if len(sides) > 1 else row.case} " if several else ""
    side = f" ({row.pair.candidate_side})" if len(sides) > 1 else ""
    return printable(case + step_name(row) + side)


def step_name(row: Row) -> str:
    """Return the name of the step; of two steps of one case those of both."""
    one, other = row.baseline, row.candidate
    if row.pair.of_same_runs:
        return f"{other.name} against {one.name}"
    return other.name


def _name(comparison: Comparison, row: Row) -> str:
    metric = "" if row.metric == DURATION else f" {row.metric}"
    return _step(comparison, row) + metric


def summary(comparison: Comparison) -> str:
    """Return the whole in a sentence."""
    asked = comparison.asked
    changed = sum(row.verdict is Verdict.CHANGE for row in asked)
    counts = [
        (comparison.count(Verdict.REGRESSION), "regression", "regressions"),
        (comparison.count(Verdict.IMPROVEMENT), "improvement", "improvements"),
        (changed, "difference", "differences"),
        (comparison.count(Verdict.NO_CHANGE_SHOWN), *("without a difference shown",) * 2),
        (comparison.count(Verdict.CANNOT_TELL), *("that cannot be told",) * 2),
    ]
    judged = any(row.difference.smaller_is_better is not None for row in asked)
    told = [
        f"{n:,} {one if n == 1 else more}"
        for n, one, more in counts
        if n or (one == "regression" and judged)
    ]
    rule, many = comparison.rule, comparison.tested
    over = f"{many:,} comparison{'s' * (many != 1)}"
    counted = ", ".join(told) or "nothing is compared"
    left = " without a rule" if any(row.limit for row in comparison.rows) else ""
    return (
        f"{counted}; {over} at the {percent(rule.level, 4)} level together, "
        f"changes below {percent(rule.threshold, 4)} are not called{left}{_explaining(comparison)}"
    )


def _explaining(comparison: Comparison) -> str:
    """Say how many rows explain, and how many of these differ; nothing without any."""
    if not comparison.explaining:
        return ""
    differ = sum(row.explains and row.verdict is Verdict.CHANGE for row in comparison.rows)
    return f"; of {comparison.explaining:,} that explain, a family of their own, {differ:,} differ"
