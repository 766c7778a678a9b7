"""Failures in words and figures: for the terminal, and for what is shown in Prefect's UI."""

from collections.abc import Sequence

from benchyard.analysis.failures.executions import WHOLE_RUN, StepTry
from benchyard.analysis.failures.rates import WEEK, Bucket, Fragile
from benchyard.core.table import Table
from benchyard.core.wording import duration, printable
from benchyard.results.reasons import reason, shorten_error
from benchyard.results.record import ErrorRecord
from benchyard.statistics.figures import percent, plural

_WORDS = {"timed_out": "timed out", "no_end": "no end"}
#: Characters of an error in a table.
_ERROR = 60
#: Where two stand beside each other.
_BESIDE = 44
NOTHING = "-"


def outcome_word(execution: StepTry) -> str:
    """Say how an execution ended, after all retries."""
    if execution.recovered:
        return "recovered"
    name = execution.outcome.value if execution.outcome else "no_end"
    return _WORDS.get(name, name)


def endings(step: Fragile) -> str:
    """Say how the troubled executions of a step ended: ``3 recovered, 1 failed``."""
    counts = sorted(step.outcomes.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{count} {_WORDS.get(name, name)}" for name, count in counts)


def said(error: ErrorRecord | None, longest: int = _ERROR) -> str:
    """Return an error on one line, shortened where it gets long."""
    return NOTHING if error is None else shorten_error(printable(reason(error)), longest)


def first_and_last(execution: StepTry, longest: int = _BESIDE) -> tuple[str, str]:
    """Return the first and the last error for two cells beside each other: what differs."""
    first, last = execution.first_error, execution.last_error
    if len(execution.failed) < 2 or first is None or last is None:
        return said(first, longest), NOTHING
    if execution.same_errors:
        return said(first, longest), "the same"
    told = reason(first), reason(last)
    if told[0] == told[1]:
        told = " ".join(first.message.split()), " ".join(last.message.split())
    return _apart(printable(told[0]), printable(told[1]), longest)


def _apart(one: str, other: str, longest: int) -> tuple[str, str]:
    """Shorten two texts; where one is long, without the words that both begin with."""
    if max(len(one), len(other)) > longest:
        differs = (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
        shared = one.rfind(" ", 0, next(differs, 0)) + 1
        one, other = (f"…{text[shared:]}" if shared else text for text in (one, other))
    return shorten_error(one, longest), shorten_error(other, longest)


def moment(iso: str) -> str:
    """Return when it was, to the second, with the offset that it was written with."""
    return iso[:19].replace("T", " ") + (iso[-6:] if iso[-6:-5] in "+-" else "")


def took(seconds: float | None) -> str:
    """Return a length of time."""
    return NOTHING if seconds is None else duration(seconds)


def steps_table(steps: Sequence[Fragile]) -> Table:
    """Return the table of steps in trouble."""
    rows = [
        (
            printable(step.step),
            printable(step.case),
            f"{len(step.troubled):,} of {step.executions:,}",
            percent(step.rate),
            f"{step.failed_attempts:,} of {step.attempts:,}",
            endings(step),
            said(step.troubled[-1].last_error),
        )
        for step in steps
        if step.troubled
    ]
    heads = ("STEP", "CASE", "TROUBLE", "RATE", "ATTEMPTS FAILED", "ENDED", "LAST ERROR")
    return Table(heads, rows, ("TROUBLE", "RATE", "ATTEMPTS FAILED"))


def executions_table(found: Sequence[StepTry]) -> Table:
    """Return the table of executions in trouble."""
    rows = [
        (
            printable(one.step),
            printable(one.case),
            str(one.run),
            printable(one.host),
            str(one.attempts),
            outcome_word(one),
            took(one.duration_s),
            moment(one.started_at),
            *first_and_last(one),
        )
        for one in found
    ]
    heads = ("STEP", "CASE", "RUN", "HOST", "ATTEMPTS", "ENDED", "TOOK", "STARTED")
    return Table((*heads, "FIRST ERROR", "LAST ERROR"), rows, ("RUN", "ATTEMPTS", "TOOK"))


def rates_table(found: Sequence[Bucket], every: str) -> Table:
    """Return the table of rates; without days or weeks of nothing."""
    rows = [
        (
            one.first.isoformat(),
            f"{one.executions:,}",
            f"{one.troubled:,}",
            percent(one.rate),
            f"{one.failed_attempts:,} of {one.attempts:,}",
        )
        for one in found
        if one.rate is not None
    ]
    first = "WEEK FROM" if every == WEEK else "DAY"
    figures = ("EXECUTED", "TROUBLE", "RATE", "ATTEMPTS FAILED")
    return Table((first, *figures), rows, figures)


def summary(steps: Sequence[Fragile]) -> str:
    """Say in a sentence how much failed."""
    real = [step for step in steps if step.step != WHOLE_RUN]
    executed = sum(step.executions for step in real)
    trouble = [one for step in real for one in step.troubled]
    off = sum(len(step.troubled) for step in steps if step.step == WHOLE_RUN)
    rest = f"; {_tries(off)} broke off outside of the steps" if off else ""
    if not trouble:
        return f"nothing failed in {plural(executed, 'execution')} of steps{rest}"
    attempts = sum(step.attempts for step in real)
    failed = sum(step.failed_attempts for step in real)
    recovered = sum(one.recovered for one in trouble)
    share = f"trouble in {len(trouble):,} of {plural(executed, 'execution')} of steps"
    return f"{share}, {recovered:,} recovered; {failed:,} of {attempts:,} attempts failed{rest}"


def _tries(count: int) -> str:
    return "1 try of a run" if count == 1 else f"{count:,} tries of runs"
