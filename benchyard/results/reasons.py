"""Why something failed, on one line: how it ended, and the last telling line of what it said.

It is made from records, whose texts hold no secrets.
"""

import re
from collections.abc import Iterable, Sequence

from benchyard.core.model import Outcome
from benchyard.core.quantity import shorten
from benchyard.results.record import ErrorRecord, RunRecord, StepRecord

#: Outcomes of a step that make its run fail.
BROKEN = (Outcome.FAILED, Outcome.TIMED_OUT)
#: A run's folder in a path; the number differs from run to run.
_FOLDER = re.compile(r"\brun_[0-9]+\b")
#: Longest reason; the record has the whole.
_LONGEST = 300
#: Which program it was, the step says.
_WHO = re.compile(r"'[^'\n]*' failed(?: in the container of '[^'\n]*')?: ")
_SAID = re.compile(r"; (?:on stderr|it said): ")
#: What programs say at last without telling what was wrong.
_ADVICE = ("note:", "hint:", "try ")


def why_failed(record: RunRecord) -> str:
    """Return what failed of a run, and why: ``step load: exit 9: connection refused``."""
    step = next((one for one in record.steps if one.outcome in BROKEN), None)
    if step is None:
        return reason(record.error) if record.error else record.outcome.value
    return f"step {step.name}: {why_step_failed(step)}"


def why_step_failed(step: StepRecord) -> str:
    """Return why a step failed: ``exit 9: connection refused``."""
    errors = (attempt.error for attempt in reversed(step.attempts))
    error = next((one for one in errors if one is not None), None)
    return reason(error) if error else step.reason or step.outcome.value.replace("_", " ")


def fail_alike(records: Sequence[RunRecord]) -> bool:
    """Tell whether two runs or more failed, all of the same thing."""
    failed = all(record.outcome in BROKEN for record in records)
    return failed and len(records) > 1 and len({failure_of(record) for record in records}) == 1


def failure_of(record: RunRecord) -> str:
    """Return why a run failed without what names the run: alike for runs that failed alike."""
    return without_run(why_failed(record))


def without_run(text: str) -> str:
    """Return a text without what names the run: alike for what failed alike."""
    return _FOLDER.sub("run_#", text)


def failed_alike(failed: Iterable[RunRecord]) -> list[list[RunRecord]]:
    """Return groups of runs that failed alike; the order of the runs is kept."""
    groups: dict[tuple[str, str], list[RunRecord]] = {}
    for record in failed:
        groups.setdefault((record.outcome, failure_of(record)), []).append(record)
    return list(groups.values())


def reason(error: ErrorRecord) -> str:
    """Return an error as one line."""
    how, *said = _SAID.split(error.message.strip(), maxsplit=1)
    how = " ".join(_WHO.sub("", how, count=1).split()).replace("exit code ", "exit ")
    told = [telling_line(text) for text in said if text.strip() != "nothing"]
    text = ": ".join(part for part in (how, *told) if part)
    # A word alone is no sentence: that of a KeyError is the key.
    named = text if " " in text or not error.type else f"{error.type}: {text}".removesuffix(": ")
    return shorten_error(named, _LONGEST)


def telling_line(text: str) -> str:
    """Return the last line that says what was wrong: no stack frame, and no advice."""
    lines = [line for line in text.splitlines() if any(map(str.isalnum, line))]
    plain = [line for line in lines if not line[0].isspace()]
    telling = [line for line in plain if not line.lower().startswith(_ADVICE)]
    return " ".join((telling or plain or lines or [""])[-1].split())


def shorten_error(text: str, longest: int) -> str:
    """Shorten an error: errors begin alike, and differ at their ends."""
    return shorten(text, longest, 3)
