"""The steps of a summary as a table of texts, for the terminal and for pages."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from benchyard.core.quantity import amount, duration, percent
from benchyard.core.table import Table, text_table
from benchyard.core.wording import quote
from benchyard.results.summary_metrics import own_time
from benchyard.results.trust import BUSY
from benchyard.show.export.columns import DURATION, Metrics, refuse_unknown

Document = Mapping[str, Any]
_HEADS = ("", "Step", "Metric")


@dataclass(frozen=True, slots=True)
class _Cell:
    """What a cell is made of: a step, the name and the document of one of its metrics."""

    step: Document
    metric: str
    document: Document
    escape: Callable[[str], str]

    def statistic(self, name: str) -> float | None:
        described: Document = self.document.get("statistics") or {}
        return described.get(name)

    def amount(self, value: float | None) -> str:
        return amount(value, self.document.get("unit"))

    def end(self, name: str) -> float | None:
        described: Document = self.document.get("statistics") or {}
        interval: Mapping[str, float | None] = described.get("median_interval") or {}
        return interval.get(name)

    def counts(self, member: str) -> str:
        numbers: Mapping[str, int] = self.step.get(member) or {}
        words = {word.replace("_", " "): n for word, n in numbers.items() if n}
        return ", ".join(f"{n} {self.escape(word)}" for word, n in words.items())

    def n(self) -> str:
        return str(self.statistic("n") or 0) if self.step.get("measured") else "-"

    def mark(self) -> str:
        return BUSY if self.step.get("suspect_counted") else ""

    def half_width(self) -> str:
        """Say how far the farther end of the median's interval is; it is seldom symmetric."""
        low, high, median = self.end("low"), self.end("high"), self.statistic("median")
        if low is None or high is None or median is None:
            return "-"
        return self.amount(max(median - low, high - median))

    def variation(self) -> str:
        found = self.statistic("coefficient_of_variation")
        return "-" if found is None else percent(found)

    def own(self) -> str:
        own = own_time(self.step.get("metrics") or {}) if self.metric == DURATION else None
        return "" if own is None else duration(own)


#: Name of a column, as in an export, to its head and what stands in it.
_COLUMNS: Mapping[str, tuple[str, Callable[[_Cell], str]]] = {
    "n": ("N", _Cell.n),
    "median": ("Median", lambda one: one.amount(one.statistic("median")) + one.mark()),
    "interval": ("± 95 %", _Cell.half_width),
    "low": ("Low", lambda one: one.amount(one.end("low"))),
    "high": ("High", lambda one: one.amount(one.end("high"))),
    "mean": ("Mean", lambda one: one.amount(one.statistic("mean"))),
    "stdev": ("Stdev", lambda one: one.amount(one.statistic("stdev"))),
    "cv": ("CV", _Cell.variation),
    "min": ("Min", lambda one: one.amount(one.statistic("min"))),
    "max": ("Max", lambda one: one.amount(one.statistic("max"))),
    "own": ("Own", _Cell.own),
    "outcomes": ("Outcomes", lambda one: one.counts("outcomes")),
    "left_out": ("Left out", lambda one: one.counts("left_out")),
}
_USUAL = ("n", "median", "interval", "cv", "min", "max", "own", "outcomes", "left_out")
#: Columns that have something to say in some cases only.
_SELDOM = ("own", "left_out")
_WORDS = ("outcomes", "left_out")


@dataclass(frozen=True, slots=True)
class Look:
    """What of a summary is shown.

    Args:
        metrics: Globs over names; without any the duration, and every metric of the document.
        columns: Without any the usual ones, but for those that would be empty.

    Raises:
        InputError: If a column is not known, or given twice.
    """

    metrics: Sequence[str] = ()
    columns: Sequence[str] | None = None

    def __post_init__(self) -> None:
        """Check the columns."""
        if self.columns is not None:
            refuse_unknown(self.columns, _COLUMNS)

    def refuse_unmatched(self, summaries: Sequence[Document]) -> None:
        """Refuse metrics that are in none of some summaries.

        Raises:
            InputError: With all of them.
        """
        metrics = Metrics(self.metrics)
        for summary in summaries:
            for step in _all_steps(summary):
                metrics.of(step.get("metrics") or {})
        metrics.refuse_unmatched()

    def document(self, summary: dict[str, Any]) -> dict[str, Any]:
        """Return a summary with the wanted metrics alone."""
        if not self.metrics:
            return summary
        wanted = Metrics(self.metrics)
        members = {"steps": [_with(wanted, step) for step in summary.get("steps", [])]}
        others = [self.document(other) for other in summary.get("other_subjects") or ()]
        return {**summary, **members, "other_subjects": others}

    def table(self, steps: Sequence[Document], escape: Callable[[str], str] = quote) -> Table:
        """Return a row for each step, or for each of its wanted metrics.

        Args:
            steps: The member ``steps`` of summary.json.
            escape: Shortens the names in it.
        """
        names = _USUAL if self.columns is None else self.columns
        cells = [cell for step in steps for cell in self._cells(step, escape)]
        rows = [
            [str(one.step["index"]), escape(one.step["name"]), escape(one.metric)]
            + [_COLUMNS[name][1](one) for name in names]
            for one in cells
        ]
        heads = [_COLUMNS[name][0] for name in names]
        figures = [_COLUMNS[name][0] for name in names if name not in _WORDS]
        empty = [] if self.metrics else ["Metric"]
        for at, name in enumerate(names, len(_HEADS)):
            if self.columns is None and name in _SELDOM and not any(row[at] for row in rows):
                empty.append(_COLUMNS[name][0])
        return text_table([*_HEADS, *heads], rows, figures).without(empty)

    def _cells(self, step: Document, escape: Callable[[str], str]) -> Iterator[_Cell]:
        metrics: Document = step.get("metrics") or {}
        wanted = Metrics(self.metrics).of(metrics) if self.metrics else {DURATION: None}
        for name in wanted:
            document: Document = metrics.get(name) or {}
            # A glob takes many counters that no kernel here tells.
            if name == DURATION or document["statistics"]["n"]:
                yield _Cell(step, name, document, escape)


def _all_steps(summary: Document) -> Iterator[Document]:
    yield from summary.get("steps") or ()
    for other in summary.get("other_subjects") or ():
        yield from other["steps"]


def _with(wanted: Metrics, step: dict[str, Any]) -> dict[str, Any]:
    return {**step, "metrics": wanted.of(step["metrics"])} if "metrics" in step else step


#: What is shown unless something else is asked for.
USUAL = Look()


def steps_table(steps: Sequence[Document]) -> Table:
    """Return the usual table; see ``Look.table``."""
    return USUAL.table(steps)


#: What the kernel tells of every program, beside what programs and classes report themselves.
_OF_ANY_PROGRAM = {"exit_code", "cpu_user_s", "cpu_system_s", "peak_rss_bytes", "run_s"}


def reported(summaries: Sequence[Document]) -> list[str]:
    """Return the names of the metrics that commands reported, beside those of any program."""
    found: dict[str, None] = {}
    for step in chain.from_iterable(map(_all_steps, summaries)):
        metrics: Mapping[str, Document] = step.get("metrics") or {}
        for name, metric in metrics.items():
            usual = name.removeprefix("reported_") in _OF_ANY_PROGRAM
            if metric["source"] == "command" and not usual:
                found[name] = None
    return list(found)
