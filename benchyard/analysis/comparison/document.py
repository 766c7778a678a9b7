"""A comparison as one JSON document, as Markdown and as CSV.

The document, format ``benchyard-comparison``:

sides: what is compared, as the user wrote it or what tells it from the others; the reference first.
rule: metrics, steps, threshold, level, suspect, include_suspect (whether any suspect execution
  counts), other_work, session_sd (null: as expected of any host), in_turns; relative numbers, 0.01
  is 1 %.
verdict: ``regression``, or ``no regression shown``. summary: the whole as a sentence.
cases: each pair of cases with
  case: title. baseline_side, candidate_side: which of the sides.
  baseline, candidate: title, results (folder), runs, failed_runs, other_version_runs.
  mismatches: weight (``other work``, ``warning``, ``change``), what, values of both sides, text,
    steps (ids; empty if it is about all).
  findings: about failing and missing steps: step (id or null), verdict, text.
  in_turns: whether both sides took turns in the same sessions. sessions_apart_s: seconds between
    the sides' sessions; null in turns, and where that is not known.
unjudged: why ``--strict`` exits with 5 where nothing is worse; empty if it does not.
tested: how many of the comparisons that are asked for have values on both sides; the level holds
  for these together. explaining: how many of those that explain; it holds for these by themselves.
comparisons: each step and metric, in the order that was asked for, with
  baseline_side, candidate_side: which of the sides.
  case, step (id of the candidate), baseline_step, name, index, metric, unit, direction (as in
    summary.json).
  baseline, candidate: n, median, values (one a run), executed, failed, left_out, suspect (how many
    suspect executions count).
  difference, difference_interval: candidate minus baseline, in the unit.
  ratio, ratio_interval: candidate by baseline. interval_level: what each interval covers, alone.
  p_value: two-sided, of this one alone; between sessions the larger of that inside and between.
  between_sessions: null in turns, and where the test inside the sessions shows nothing; else
    inside_p_value, p_value, margin (how far equal sessions differ at most: relative, or in the
    unit where values are not all above 0; null if unknown), campaigns, other_cases,
    baseline_campaigns (whose mean is the baseline; 0: its runs are).
  p_exact: whether it was counted out.
  explains: whether it is shown to explain what is asked for, and is never better or worse.
  adjusted_p_value: for all comparisons of its family; null where there was nothing to test.
  needed_p_value, reachable_p_value: how small it had to be, and how small it could have been.
  busy_host: whether suspect executions count, of both sides alike.
  other_work: whether the step does not do the same on both sides.
  paired: whether both sides are of the same runs, and were tested in pairs.
  verdict: ``regression``, ``improvement``, ``change`` (neither is better, or it is other work),
    ``no change shown`` or ``cannot tell``. words: the same for people. reason: why not to tell.
  rule: of ``check``, that the limit is of: text, and owner; null without one.
overall: of each two sides and metric the geometric mean over the steps: baseline_side,
  candidate_side, metric, steps (how many), left_out (names), n of both, ratio, ratio_interval,
  interval_level, p_value, adjusted_p_value (for all lines over the steps together), verdict,
  busy_host, words.
unpaired: cases that are not compared: case, side that has it, the side that has not.

Versions of the format:
1: the first; two sides, ``baseline`` and ``candidate`` as the user wrote them, and titles in
  ``baseline_only`` and ``candidate_only``; rule had ``force``.
2: several sides, other work, geometric means.
3: sessions.
"""

from collections.abc import Iterator, Sequence

from benchyard.analysis.comparison.facts import Weight
from benchyard.analysis.comparison.gate import unjudged
from benchyard.analysis.comparison.rows import CasePair, Comparison, Overall, Row
from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.analysis.comparison.samples import StepSample
from benchyard.analysis.comparison.tables import MARKS, overall, table
from benchyard.analysis.comparison.wording import (
    notes,
    reason,
    remarks,
    summary,
    verdict_in_full,
)
from benchyard.core.model import Json, JsonObject
from benchyard.core.table import SIGNS, csv_text
from benchyard.core.wording import inline
from benchyard.statistics.intervals import Interval

FORMAT = "benchyard-comparison"
VERSION = 3


def document(comparison: Comparison, sides: Sequence[str]) -> JsonObject:
    """Return the document.

    Args:
        sides: What was compared, as the user wrote it; the reference first.
    """
    rule = comparison.rule
    return {
        "format": FORMAT,
        "version": VERSION,
        "sides": list(sides),
        "rule": {
            "metrics": list(rule.metrics),
            "steps": list(rule.steps),
            **_of(rule, "threshold", "level", "other_work", "session_sd", "in_turns"),
            "suspect": rule.suspect.value,
            "include_suspect": any(row.busy for row in comparison.rows),
        },
        "verdict": "regression" if comparison.regressions else "no regression shown",
        "summary": summary(comparison),
        "cases": [_case(pair) for pair in comparison.pairs],
        "unjudged": list[Json](unjudged(comparison)),
        **_of(comparison, "tested", "explaining"),
        "comparisons": [_row(row, comparison.family_of(row)) for row in comparison.rows],
        "overall": [_overall(one) for one in overall(comparison)],
        "unpaired": [
            {"case": one.title, "side": one.there, "against": one.against}
            for one in comparison.unpaired
        ],
    }


def _of(one: object, *names: str) -> JsonObject:
    """Return attributes that the document has as they are."""
    return {name: getattr(one, name) for name in names}


def _case(pair: CasePair) -> JsonObject:
    return {
        "case": pair.title,
        **_of(pair, "baseline_side", "candidate_side"),
        "baseline": _side(pair.baseline),
        "candidate": _side(pair.candidate),
        "mismatches": [mismatch.to_json() for mismatch in pair.mismatches],
        "findings": [finding.to_json() for finding in pair.findings],
        "in_turns": pair.sessions.in_turns,
        "sessions_apart_s": pair.sessions.apart_s,
    }


def _overall(one: Overall) -> JsonObject:
    return {
        **_judged(one),
        **_of(one, "metric", "steps"),
        "left_out": list(one.left_out),
        **_of(one.difference, "baseline_n", "candidate_n", "p_value"),
        "adjusted_p_value": one.judgement.p_value,
    }


def _judged(one: Row | Overall) -> JsonObject:
    """Return the members that a step's row and the row of all steps both have."""
    return {
        **_of(one.pair, "baseline_side", "candidate_side"),
        "ratio": one.difference.ratio,
        "ratio_interval": _interval(one.difference.ratio_interval),
        "interval_level": one.difference.ratio_interval.level,
        "busy_host": one.busy,
        "verdict": one.verdict.value,
        "words": verdict_in_full(one),
    }


def _side(side: RunSet) -> JsonObject:
    return {
        "title": side.title,
        "results": str(side.folder),
        "runs": list(side.numbers),
        "failed_runs": [record.run for record in side.failed],
        "other_version_runs": [record.run for record in side.others],
    }


def _row(row: Row, comparisons: int) -> JsonObject:
    one = row.difference
    return {
        **_judged(row),
        "step": row.candidate.id,
        "baseline_step": row.baseline.id,
        **_of(row.candidate, "name", "index"),
        **_of(row, "case", "metric", "unit", "direction", "explains"),
        "baseline": _values(row.baseline, row.metric, one.baseline_median),
        "candidate": _values(row.candidate, row.metric, one.candidate_median),
        "difference": one.shift,
        "difference_interval": _interval(one.shift_interval),
        "p_value": one.p_value if row.tested else None,
        "p_exact": one.exact,
        "adjusted_p_value": row.judgement.p_value if row.tested else None,
        "needed_p_value": row.judgement.needed_p,
        "reachable_p_value": one.reachable_p,
        "between_sessions": _between(row),
        "other_work": row.pair.is_other_work(row.paired_by),
        "paired": row.pair.paired,
        "reason": reason(row, comparisons) or None,
        "rule": row.limit and _of(row.limit, "text", "owner"),
    }


def _between(row: Row) -> Json:
    one = row.between
    return one and {
        "inside_p_value": one.inside_p,
        "p_value": one.p_value,
        "margin": one.margin(row.judgement.needed_p),
        "campaigns": one.campaigns,
        "baseline_campaigns": row.campaigns,
        "other_cases": one.cases,
    }


def _values(side: StepSample, metric: str, median: float | None) -> JsonObject:
    values = side.values.get(metric, ())
    return {
        "n": len(values),
        "median": median,
        "values": list(values),
        **_of(side, "executed", "failed", "suspect"),
        "left_out": dict(side.left_out),
    }


def _interval(interval: Interval) -> Json:
    if interval.low is None or interval.high is None:
        return None
    return [interval.low, interval.high]


# -- Markdown

_WEIGHTS = (
    (Weight.OTHER_WORK, "other work: "),
    (Weight.WARNING, "⚠️ "),
    (Weight.CHANGE, "changed: "),
)


def markdown(comparison: Comparison, *sides: str) -> str:
    """Return the comparison as Markdown, for a pull request.

    Args:
        sides: What was compared, as the user wrote it; the reference first.
    """
    first, *others = (f"`{side}`" for side in sides)
    what = f"{', '.join(others)} against {first}"
    if len(others) == 1:
        what = f"Candidate {others[0]} against baseline {first}"
    head = f"**{what}:** {summary(comparison)}"
    many = len(comparison.pairs) > 1
    about = [f"- {line}" for pair in comparison.pairs for line in _about(pair, named=many)]
    rows = table(comparison).markdown().splitlines() if comparison.rows else []
    below = [f"- {inline(note)}" for note in notes(comparison)]
    sections = ([head], list(dict.fromkeys(about)), rows, below)
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _about(pair: CasePair, *, named: bool) -> Iterator[str]:
    title = f"{inline(pair.title)}: " if named else ""
    for weight, mark in _WEIGHTS:
        for text in remarks(pair, weight):
            yield f"{mark}{title}{inline(text)}"
    for finding in pair.findings:
        yield f"{SIGNS.get(MARKS[finding.verdict], '')}{title}{inline(finding.text)}"


# -- CSV

_COLUMNS = (
    *("baseline_side", "candidate_side", "case", "baseline_step", "step", "name", "metric", "unit"),
    *("baseline_n", "candidate_n", "baseline_median", "candidate_median", "difference"),
    *("difference_low", "difference_high", "ratio", "ratio_low", "ratio_high", "interval_level"),
    *("p_value", "adjusted_p_value", "explains", "busy_host", "other_work", "verdict", "words"),
)


def comparison_csv(comparison: Comparison) -> str:
    """Return the comparisons as CSV with heads; numbers are not rounded."""
    return csv_text(comparison_rows(comparison))


def comparison_rows(comparison: Comparison) -> list[tuple[Json, ...]]:
    """Return the names of columns, and below a row for each comparison; None is unknown.

    The means over all steps come last, without a step.
    """
    rows = [
        *(_flat(_row(row, comparison.family_of(row))) for row in comparison.rows),
        *(_flat(_overall(one)) for one in overall(comparison)),
    ]
    return [_COLUMNS, *(tuple(map(row.get, _COLUMNS)) for row in rows)]


def _flat(row: JsonObject) -> dict[str, Json]:
    found = dict(row)
    for side in ("baseline", "candidate"):
        about = row.get(side)
        if isinstance(about, dict):
            found |= {f"{side}_n": about["n"], f"{side}_median": about["median"]}
    for name in ("difference", "ratio"):
        ends = row.get(f"{name}_interval")
        if isinstance(ends, list):
            found |= {f"{name}_low": ends[0], f"{name}_high": ends[1]}
    return found
