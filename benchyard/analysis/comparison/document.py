"""A comparison as one JSON document and as Markdown.

The document, format ``benchyard-comparison``:

baseline, candidate: what was compared, as the user wrote it.
rule: metrics, threshold, level, include_suspect, force; relative numbers, 0.01 is 1 %.
verdict: ``regression``, or ``no regression shown``. summary: the whole as a sentence.
cases: each pair of cases with
  case: title.
  baseline, candidate: title, results (folder), runs, failed_runs, other_version_runs.
  mismatches: weight (``must match``, ``warning``, ``change``), what, values of both sides, text.
  findings: about failing and missing steps: step (id or null), verdict, text.
tested: how many of the comparisons have values on both sides; the level holds for these together.
comparisons: each step and metric, the worst first, with
  case, step (id), name, index, metric, unit, direction (as in summary.json).
  baseline, candidate: n, median, values (one a run), executed, failed, left_out.
  difference, difference_interval: candidate minus baseline, in the unit.
  ratio, ratio_interval: candidate by baseline. interval_level: what each interval covers, alone.
  p_value: two-sided, of this one alone. p_exact: whether it was counted out.
  adjusted_p_value: for all comparisons together; null where there was nothing to test.
  needed_p_value, reachable_p_value: how small it had to be, and how small it could have been.
  verdict: ``regression``, ``improvement``, ``change`` (neither direction is better),
    ``no change shown`` or ``cannot tell``. words: the same for people. reason: why not to tell.
baseline_only, candidate_only: titles of cases without a partner.

Versions of the format:
1: the first.
"""

from collections.abc import Iterator
from dataclasses import replace

from benchyard.analysis.comparison.facts import Weight
from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.analysis.comparison.samples import StepSample
from benchyard.analysis.comparison.verdicts import CasePair, Comparison, Row
from benchyard.analysis.comparison.wording import (
    notes,
    reason,
    remarks,
    summary,
    table,
    verdict_words,
)
from benchyard.core.model import Json, JsonObject
from benchyard.statistics.comparison import Verdict
from benchyard.statistics.intervals import Interval

FORMAT = "benchyard-comparison"
VERSION = 1


def document(comparison: Comparison, baseline: str, candidate: str) -> JsonObject:
    """Return the document.

    Args:
        baseline: What was compared, as the user wrote it; likewise ``candidate``.
    """
    rule = comparison.rule
    return {
        "format": FORMAT,
        "version": VERSION,
        "baseline": baseline,
        "candidate": candidate,
        "rule": {
            "metrics": list(rule.metrics),
            "threshold": rule.threshold,
            "level": rule.level,
            "include_suspect": rule.include_suspect,
            "force": rule.force,
        },
        "verdict": "regression" if comparison.regressions else "no regression shown",
        "summary": summary(comparison),
        "cases": [_case(pair) for pair in comparison.pairs],
        "tested": comparison.tested,
        "comparisons": [_row(row, comparison.tested) for row in comparison.rows],
        "baseline_only": list(comparison.baseline_only),
        "candidate_only": list(comparison.candidate_only),
    }


def _case(pair: CasePair) -> JsonObject:
    return {
        "case": pair.title,
        "baseline": _side(pair.baseline),
        "candidate": _side(pair.candidate),
        "mismatches": [mismatch.to_json() for mismatch in pair.mismatches],
        "findings": [finding.to_json() for finding in pair.findings],
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
        "case": row.case,
        "step": row.candidate.id,
        "name": row.candidate.name,
        "index": row.candidate.index,
        "metric": row.metric,
        "unit": row.unit,
        "direction": row.direction,
        "baseline": _values(row.baseline, row.metric, one.baseline_median),
        "candidate": _values(row.candidate, row.metric, one.candidate_median),
        "difference": one.shift,
        "difference_interval": _interval(one.shift_interval),
        "ratio": one.ratio,
        "ratio_interval": _interval(one.ratio_interval),
        "interval_level": one.ratio_interval.level,
        "p_value": one.p_value if row.tested else None,
        "p_exact": one.exact,
        "adjusted_p_value": row.judgement.p_value if row.tested else None,
        "needed_p_value": row.judgement.needed_p,
        "reachable_p_value": one.reachable_p,
        "verdict": row.verdict.value,
        "words": verdict_words(row),
        "reason": reason(row, comparisons) or None,
    }


def _values(side: StepSample, metric: str, median: float | None) -> JsonObject:
    values = side.values.get(metric, ())
    return {
        "n": len(values),
        "median": median,
        "values": list(values),
        "executed": side.executed,
        "failed": side.failed,
        "left_out": dict(side.left_out),
    }


def _interval(interval: Interval) -> Json:
    if interval.low is None or interval.high is None:
        return None
    return [interval.low, interval.high]


# -- Markdown

_WEIGHTS = (
    (Weight.MUST_MATCH, "⚠️ not comparable: "),
    (Weight.WARNING, "⚠️ "),
    (Weight.CHANGE, "changed: "),
)
_MARKS = {Verdict.REGRESSION: "❌ ", Verdict.IMPROVEMENT: "✅ "}


def markdown(comparison: Comparison, baseline: str, candidate: str) -> str:
    """Return the comparison as Markdown, for a pull request."""
    head = f"**Candidate `{candidate}` against baseline `{baseline}`:** {summary(comparison)}"
    many = len(comparison.pairs) > 1
    about = [f"- {line}" for pair in comparison.pairs for line in _about(pair, named=many)]
    rows = _table(comparison) if comparison.rows else []
    below = [f"- {_cell(note)}" for note in notes(comparison)]
    sections = ([head], about, rows, below)
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _about(pair: CasePair, *, named: bool) -> Iterator[str]:
    title = f"{_cell(pair.title)}: " if named else ""
    for weight, mark in _WEIGHTS:
        for text in remarks(pair, weight):
            yield f"{mark}{title}{_cell(text)}"
    for finding in pair.findings:
        yield f"{_MARKS.get(finding.verdict, '')}{title}{_cell(finding.text)}"


def _table(comparison: Comparison) -> list[str]:
    plain = table(comparison)
    marks = [_MARKS.get(row.verdict, "") for row in comparison.rows]
    rows = [[*cells[:-1], m + cells[-1]] for m, cells in zip(marks, plain.rows, strict=True)]
    escaped = replace(plain, rows=[[_cell(cell) for cell in cells] for cells in rows])
    return escaped.markdown().splitlines()


def _cell(text: str) -> str:
    """Keep what a case is called from being markup."""
    for sign in "\\|<>*_`[]":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("\n", " ")
