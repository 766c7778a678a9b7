"""What a report says of one case: its steps, its values, what was left out, what failed."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, cast

from benchyard.analysis.comparison.rows import Rule
from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.analysis.comparison.samples import DURATION
from benchyard.analysis.comparison.verdicts import ALL_METRICS
from benchyard.analysis.executions import collect, executions
from benchyard.analysis.failure_rates import by_fragility, troubled
from benchyard.analysis.failure_tables import executions_table, steps_table, summary
from benchyard.core.quantity import plural, shorten
from benchyard.core.table import Table, text_table
from benchyard.core.wording import named_runs
from benchyard.results.attempts import RunAttempt, try_of
from benchyard.results.subject import about, differences, in_full, in_words, subject_of
from benchyard.results.summary import summarize
from benchyard.show.export.columns import Metrics
from benchyard.show.summary_tables import ON_PAGE, SELDOM, Look, digest

#: Columns of a page that a report has no room for.
_UNSAID = ("unit", "cpu", "memory", "advice")
#: More values of a case than these are folded, and more than those stand in the data alone.
_OPEN, _MOST = 150, 2000
#: Executions in trouble that are listed, the newest of each step.
_LISTED = 40
#: Characters of a name in a table.
_LONGEST_NAME = 48

_Step = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Values:
    """The values of every run, of one metric.

    Args:
        table: None if they are too many to show.
        count: How many there are.
    """

    metric: str
    unit: str
    table: Table | None
    count: int

    @property
    def is_folded(self) -> bool:
        """Whether they are so many that a reader has to ask for them."""
        return self.count > _OPEN


class CasePart:
    """One case of one side.

    Args:
        side: How its side is called.
        asked: The rule's metrics; it learns which there are.

    Attributes:
        about: What was measured where.
        lead: What became of its runs, in a sentence.
        steps: Figures of each step.
        notes: What a reader of the figures should know.
        advice: What to do for better numbers.
        suspect: Executions that are not to be trusted, with the reasons.
        subject: What was measured, in full.
        failures: What failed and was retried, in a sentence; empty if nothing did.
        in_trouble: Steps, and executions, in trouble.
        repeat: The command that measures it again.
        median_run: Number of the run that stands for all; None without measurements.
        is_measured: Whether anything is known of any step.
    """

    def __init__(self, side: str, runs: RunSet, rule: Rule, asked: Metrics) -> None:
        document = summarize(runs.title, runs.records, unfinished=runs.failed, suspect=rule.suspect)
        steps = _wanted(cast("list[_Step]", document["steps"]), runs, rule)
        subject = subject_of(runs.everything[-1])
        self.side, self.runs, self.title = side, runs, runs.title
        self.about, self.lead = about(subject), _lead(runs, steps)
        self.steps = _figures(steps, rule.metrics)
        self.notes = [*_notes(runs), *cast("list[str]", document["warnings"])]
        advice = ((s["index"], s["name"], text) for s in steps for text in s.get("advice", ()))
        self.advice, self.suspect = list(digest(advice)), list(_suspect(steps))
        self.values = list(_values(steps, asked))
        rows = [[what, str(value)] for what, value in in_full(subject).items()]
        self.subject = text_table(("Part", "Value"), rows)
        self.failures, self.in_trouble = _failures(runs)
        self.repeat = repeating(runs)
        self.median_run = cast("int | None", document["median_run"])
        self.is_measured = any(step.get("metrics") for step in steps)


def _wanted(steps: Sequence[_Step], runs: RunSet, rule: Rule) -> list[_Step]:
    chosen = runs.compared_as
    return [
        step
        for step in steps
        if (chosen is None or step["id"] in chosen)
        and (not rule.steps or any(fnmatchcase(step["id"], one) for one in rule.steps))
    ]


# -- words


def _lead(runs: RunSet, steps: Sequence[_Step]) -> str:
    measured = [step for step in steps if step["measured"]]
    left = sum(sum(step["left_out"].values()) for step in measured)
    suspect = sum(len(step["suspect"]) for step in measured)
    parts = [f"{plural(len(runs.records), 'finished run')} of {plural(len(measured), 'step')}"]
    parts += [f"{plural(len(runs.failed), 'run')} failed"] if runs.failed else []
    parts.append(f"{plural(left, 'execution')} left out" if left else "nothing left out")
    parts.append(f"{suspect} suspect" if suspect else "nothing suspect")
    return "; ".join(parts)


def _notes(runs: RunSet) -> Iterator[str]:
    if runs.others:
        newest = subject_of(runs.everything[-1])
        found = in_words(differences(subject_of(runs.others[-1]), newest))
        which = named_runs([record.run for record in runs.others])
        yield f"{which} measured something else ({found}), and not part of this report"


def _suspect(steps: Sequence[_Step]) -> Iterator[str]:
    for step in steps:
        for one in step.get("suspect", ()):
            yield f"{step['name']}, run {one['run']}: {'; '.join(one['reasons'])}"


def repeating(runs: RunSet) -> str:
    """Return the command that measures as often, in a campaign of its own."""
    interval = runs.everything[-1].collector.get("interval_s")
    words = ["benchyard", "run", "--new", "--runs", str(max(len(runs.records), 1))]
    if isinstance(interval, int | float) and interval != 0.1:
        words += ["--interval", f"{interval:g}"]
    return shlex.join([*words, "--", runs.title])


# -- figures


def patterns(metrics: Sequence[str]) -> tuple[str, ...]:
    """Return globs over the names of metrics; ``all`` is one of them."""
    return ("*",) if ALL_METRICS in metrics else tuple(metrics)


def _figures(steps: Sequence[_Step], metrics: Sequence[str]) -> Table:
    usual = tuple(metrics) == (DURATION,)
    columns = [name for name in ON_PAGE if name not in _UNSAID]
    made = Look(() if usual else patterns(metrics), columns).table(steps, _named)
    return made.hiding_unknown(SELDOM)


def _values(steps: Sequence[_Step], asked: Metrics) -> Iterator[Values]:
    having: dict[str, list[_Step]] = {}
    for step in steps:
        for name in asked.of(step.get("metrics") or {}):
            having.setdefault(name, []).append(step)
    room = _MOST
    for name, some in having.items():
        values = _of_metric(name, some, room)
        room -= values.count if values.table else 0
        yield values


def _of_metric(name: str, steps: Sequence[_Step], room: int) -> Values:
    columns = [dict(zip(s["runs"], s["metrics"][name]["values"], strict=True)) for s in steps]
    count = sum(value is not None for column in columns for value in column.values())
    unit = str(steps[0]["metrics"][name]["unit"] or "")
    if count > room:
        return Values(name, unit, None, count)
    runs = sorted({run for column in columns for run in column})
    heads, names = [f"Run {run}" for run in runs], [_named(step["name"]) for step in steps]
    cells = [[_raw(column.get(run)) for run in runs] for column in columns]
    first = "Step"
    if len(names) <= len(runs):
        first, heads, names = "Run", names, [str(run) for run in runs]
        cells = [list(row) for row in zip(*cells, strict=True)]
    rows = [[head, *row] for head, row in zip(names, cells, strict=True)]
    return Values(name, unit, text_table([first, *heads], rows, heads), count)


def _named(name: str) -> str:
    return shorten(name, _LONGEST_NAME, 2)


def _raw(value: float | None) -> str:
    """Write a value to the nanosecond, or to ten digits; the data have all of them."""
    return "-" if value is None else f"{value:.10g}"


# -- failures


def _failures(runs: RunSet) -> tuple[str, tuple[Table, ...]]:
    found = list(executions(_tries(runs)))
    if not any(one.in_trouble for one in found):
        return "", ()
    steps = by_fragility(found)
    rest = "; benchyard failures lists them"
    tables = (steps_table(steps), executions_table(troubled(steps)).first(_LISTED, rest))
    return summary(steps), tuple(table.without(("case",)) for table in tables)


def _tries(runs: RunSet) -> list[RunAttempt]:
    """Return every try of the runs: from the log beside them, or else from their records."""
    numbers = {record.run for record in runs.everything}
    if runs.folder.is_dir():
        return [one for one in collect([runs.folder]).tries if one.run in numbers]
    return [try_of(record) for record in runs.everything if record.started_at]
