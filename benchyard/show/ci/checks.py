"""Steps and comparisons as checks that passed, failed or were not made.

A check is what continuous integration calls a test.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum

from benchyard.analysis.comparison.facts import Weight
from benchyard.analysis.comparison.gate import Regression, regression_of, unjudged
from benchyard.analysis.comparison.rows import CasePair, Comparison, Row
from benchyard.analysis.comparison.samples import DURATION
from benchyard.analysis.comparison.wording import change, reason, remarks, verdict_words
from benchyard.core.model import Json, Outcome
from benchyard.core.quantity import plural
from benchyard.core.wording import named_runs
from benchyard.results.reasons import BROKEN, why_failed, why_step_failed
from benchyard.results.record import RunRecord, StepRecord
from benchyard.results.subject import subject_of
from benchyard.show.ci.outcomes import CaseOutcome
from benchyard.show.summary_tables import Document, interval_of, statistics_of
from benchyard.statistics.comparison import Verdict

REGRESSION = "regression"
CANNOT_TELL = "cannot tell"


class State(StrEnum):
    """What came of a check."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class StepCheck:
    """One step of a case, or one comparison.

    Args:
        name: Unique in its case.
        seconds: Median of the step's durations; None if it is not known.
        kind: What kind of failure: an outcome, ``regression`` or ``cannot tell``.
        text: Why it did not pass.
        notes: What else a reader should know.
        facts: Name to value.
        is_odd: Whether the notes are to be heeded, although it passed.
    """

    name: str
    seconds: float | None = None
    state: State = State.PASSED
    kind: str = ""
    text: str = ""
    notes: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict[str, str])
    is_odd: bool = False


@dataclass(frozen=True, slots=True)
class CheckedCase:
    """The checks of one case.

    Args:
        began: When its first run did, UTC, to the second; empty if it is not known.
        host: Where; empty if it is not known.
        notes: What a reader should know of the whole.
        facts: Name to value.
    """

    title: str
    checks: tuple[StepCheck, ...]
    began: str = ""
    host: str = ""
    notes: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict[str, str])

    def in_state(self, *states: State) -> list[StepCheck]:
        """Return the checks that came to one of some states."""
        return [check for check in self.checks if check.state in states]


# -- of an execution


def checks_of(outcome: CaseOutcome, *, strict: bool = False) -> CheckedCase:
    """Return a check for each step, and others for what is about no step.

    Args:
        strict: Whether it is an error that something could not be judged.
    """
    known = {str(step["id"]): step for step in outcome.steps}
    tried: dict[str, dict[int, StepRecord]] = {}
    for record in outcome.failed:
        for step in record.steps:
            tried.setdefault(step.id, {})[record.run] = step
    found = list[StepCheck]()
    for step_id in _ordered(known, tried):
        worse = [one for one in outcome.regressions if one.step == step_id]
        found.append(_of_step(known.get(step_id, {}), tried.get(step_id, {}), worse))
    found += [*_of_runs(outcome), *_of_comparison(outcome, strict=strict)]
    if not found:
        why = outcome.why or "there is no finished run"
        found.append(StepCheck("runs", state=State.SKIPPED, text=why))
    tried_subject = subject_of(outcome.failed[-1]) if outcome.failed else dict[str, Json]()
    subject: Mapping[str, Json] = outcome.summary.get("subject") or tried_subject
    runs: list[Document] = outcome.summary.get("runs") or []
    starts = [str(run.get("started_at") or "") for run in runs]
    return CheckedCase(
        title=outcome.title,
        checks=_named_apart(found),
        began=_utc([*starts, *(record.started_at for record in outcome.failed)]),
        host=str(subject.get("host") or ""),
        notes=tuple(map(str, outcome.summary.get("warnings") or ())),
        facts=_facts_of(outcome),
    )


def _ordered(
    known: Mapping[str, Document], tried: Mapping[str, Mapping[int, StepRecord]]
) -> list[str]:
    index = {i: next(iter(steps.values())).index for i, steps in tried.items()}
    index |= {i: int(step["index"]) for i, step in known.items()}
    return sorted(index, key=lambda i: index[i])


def _of_step(
    step: Document, tried: Mapping[int, StepRecord], worse: Sequence[Regression]
) -> StepCheck:
    """Return the check of a step.

    Args:
        step: What summary.json says of it; empty if no run is done.
        tried: Its records in runs that failed.
    """
    broken = {run: one for run, one in tried.items() if one.outcome in BROKEN}
    record = next(iter(tried.values()), None)
    notes = tuple(_notes(step))
    passed = StepCheck(
        name=str(step["name"] if step else record and record.name),
        seconds=statistics_of(step).get("median"),
        notes=notes,
        facts=_facts_of_step(step),
        is_odd=bool(notes),
    )
    why = [f"{named_runs([run])}: {why_step_failed(one)}" for run, one in broken.items()]
    if why or worse:
        kind = next(iter(broken.values())).outcome.value if broken else REGRESSION
        texts = [*why, *(one.text for one in worse)]
        return replace(passed, state=State.FAILED, kind=kind, text="\n".join(texts))
    skipped = record.reason if record else None
    counted: Mapping[str, int] = step.get("outcomes") or {}
    outcomes = {*counted, *(str(one.outcome) for one in tried.values())}
    if not outcomes - {Outcome.SKIPPED, Outcome.CANCELLED}:
        return replace(passed, state=State.SKIPPED, text=skipped or "it was not executed")
    return passed


def _notes(step: Document) -> Iterator[str]:
    outcomes: Mapping[str, int] = step.get("outcomes") or {}
    runs = sum(outcomes.values())
    for outcome in (Outcome.TOLERATED, Outcome.SKIPPED):
        if outcomes.get(outcome):
            yield f"{outcome.value} in {outcomes[outcome]} of {runs} runs"
    suspect: Sequence[Document] = step.get("suspect") or ()
    if suspect:
        reasons = list(dict.fromkeys(str(why) for one in suspect for why in one["reasons"]))
        others = f", and {len(reasons) - 1} more" if len(reasons) > 1 else ""
        yield f"suspect in {named_runs([one['run'] for one in suspect])}: {reasons[0]}{others}"


def _facts_of_step(step: Document) -> dict[str, str]:
    if not step.get("measured"):
        return {}
    (low, high), about = interval_of(step), statistics_of(step)
    told = {"runs": about.get("n", 0), "median_s": about.get("median"), "low_s": low}
    known = {**told, "high_s": high}
    return {name: str(value) for name, value in known.items() if value is not None}


def _of_runs(outcome: CaseOutcome) -> Iterator[StepCheck]:
    """Yield a check for what failed and is no step's fault."""
    apart = [one for one in outcome.failed if not any(s.outcome in BROKEN for s in one.steps)]
    if apart:
        text = "\n".join(f"{named_runs([one.run])}: {why_failed(one)}" for one in apart)
        cancelled = all(one.outcome is Outcome.CANCELLED for one in apart)
        state = State.SKIPPED if cancelled else State.FAILED
        yield StepCheck("runs", state=state, kind=apart[-1].outcome.value, text=text)
    elif outcome.is_bad and not outcome.failed:
        yield StepCheck("runs", state=State.FAILED, kind="failed", text=outcome.why or "it failed")
    elif outcome.done and not outcome.steps:
        yield StepCheck("runs", notes=(f"{plural(outcome.done, 'run')} done on another host",))


def _of_comparison(outcome: CaseOutcome, *, strict: bool) -> Iterator[StepCheck]:
    """Yield a check for a comparison that could not be made, or that is about whole runs."""
    if outcome.looked is None:
        return
    steps = {str(step["id"]) for step in outcome.steps}
    rest = [one.text for one in outcome.regressions if one.step not in steps]
    name, said = "comparison with the baseline", (outcome.looked.summary,)
    if rest:
        yield StepCheck(name, state=State.FAILED, kind=REGRESSION, text="\n".join(rest), notes=said)
    elif strict and outcome.looked.unjudged:
        yield _error(name, outcome.looked.unjudged)
    elif not outcome.looked.against or outcome.looked.untold:
        yield StepCheck(name, state=State.SKIPPED, text=outcome.looked.summary)
    else:
        yield StepCheck(name, notes=said)


def _error(name: str, why: Sequence[str]) -> StepCheck:
    return StepCheck(name, state=State.ERROR, kind=CANNOT_TELL, text="\n".join(why))


def _named_apart(checks: Sequence[StepCheck]) -> tuple[StepCheck, ...]:
    """Number the checks that have a name twice: readers know a check by its name alone."""
    seen: dict[str, int] = {}
    named: list[StepCheck] = []
    for check in checks:
        seen[check.name] = seen.get(check.name, 0) + 1
        number = seen[check.name]
        named.append(check if number == 1 else replace(check, name=f"{check.name} ({number})"))
    return tuple(named)


def _utc(moments: Sequence[str]) -> str:
    known = [datetime.fromisoformat(moment) for moment in moments if moment]
    return f"{min(known).astimezone(UTC):%Y-%m-%dT%H:%M:%S}" if known else ""


def _facts_of(outcome: CaseOutcome) -> dict[str, str]:
    runs: list[Document] = outcome.summary.get("runs") or []
    told: dict[str, Json] = {
        "runs": ", ".join(str(run["run"]) for run in runs),
        "failed_runs": ", ".join(str(record.run) for record in outcome.failed),
        "results": str(outcome.results or ""),
    }
    return {name: str(value) for name, value in told.items() if value}


# -- of a comparison

#: What a reader of a verdict has to know; changes are what comparisons are made for.
_DOUBTFUL = (Weight.OTHER_WORK, Weight.WARNING)


def compared_checks(compared: Comparison) -> list[CheckedCase]:
    """Return the checks of each pair of cases: one for each step and metric.

    By a strict rule it is an error, a check of its own, that something could not be judged.
    """
    cases = [_compared(pair, compared) for pair in compared.pairs]
    if compared.rule.strict and (why := unjudged(compared)):
        cases.append(CheckedCase("comparison", (_error("everything is judged", why),)))
    return cases


def _compared(pair: CasePair, compared: Comparison) -> CheckedCase:
    checks = [_of_row(row, compared) for row in compared.rows if row.pair is pair]
    other = list[str]()
    for one in pair.findings:
        if one.verdict is Verdict.REGRESSION:
            name = f"failures of step {one.step}" if one.step else "failures"
            checks.append(StepCheck(name, None, State.FAILED, REGRESSION, one.text))
        else:
            other.append(one.text)
    first: RunRecord = pair.candidate.everything[0]
    sides = f": {pair.candidate_side} against {pair.baseline_side}"
    return CheckedCase(
        title=pair.title + (sides if len(compared.side_pairs) > 1 else ""),
        checks=_named_apart(checks),
        began=_utc([first.started_at]),
        host=str(subject_of(first).get("host") or ""),
        notes=(*(text for weight in _DOUBTFUL for text in remarks(pair, weight)), *other),
        facts={"baseline": str(pair.baseline.folder), "candidate": str(pair.candidate.folder)},
    )


def _of_row(row: Row, compared: Comparison) -> StepCheck:
    one = row.difference
    name = row.candidate.name + ("" if row.metric == DURATION else f" {row.metric}")
    check = StepCheck(
        name,
        seconds=one.candidate_median if row.unit == "s" else None,
        facts={"runs": f"{one.baseline_n}/{one.candidate_n}", "verdict": verdict_words(row)},
    )
    if row.verdict is Verdict.REGRESSION:
        text = regression_of(row, compared.rule.level).text
        return replace(check, state=State.FAILED, kind=REGRESSION, text=text)
    if row.verdict is Verdict.CANNOT_TELL:
        text = f"cannot tell: {reason(row, compared.family_of(row))}"
        return replace(check, state=State.SKIPPED, text=text)
    ends = (change(end) for end in (one.ratio_interval.low, one.ratio_interval.high))
    return replace(
        check, notes=(f"{verdict_words(row)}: {change(one.ratio)} ({' … '.join(ends)})",)
    )
