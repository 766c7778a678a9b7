"""The steps of a summary as tables, and the advice below them."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from benchyard.analysis.comparison.samples import DURATION
from benchyard.core.quantity import amount, number
from benchyard.core.table import BYTES, LONG, NUMBER, SECONDS, SHARE, Cell, Column, Table, Value
from benchyard.core.wording import in_short, quote
from benchyard.results.trust import BUSY
from benchyard.show.export.columns import Metrics, refuse_unknown

Document = Mapping[str, Any]
CPU = "resource_cpu_s"
#: What tells the memory's peak; a control group tells the better one of the two.
MEMORY = ("resource_memory_peak_bytes", "resource_process_peak_rss_bytes")
#: Share by which a program's own time differs from its step's before it is shown beside it.
_WORTH_SHOWING = 0.01


def metrics_of(step: Document) -> Mapping[str, Document]:
    """Return the metrics of a step of summary.json by name; empty if it has none."""
    return step.get("metrics") or {}


def statistics_of(step: Document, metric: str = DURATION) -> Document:
    """Return the statistics of a metric of a step; empty if it has none."""
    document: Document = metrics_of(step).get(metric) or {}
    return document.get("statistics") or {}


def interval_of(step: Document, metric: str = DURATION) -> tuple[float | None, float | None]:
    """Return the ends of the interval of the median; None where too few runs tell them."""
    interval: Document = statistics_of(step, metric).get("median_interval") or {}
    return interval.get("low"), interval.get("high")


@dataclass(frozen=True, slots=True)
class _Figures:
    """A step, and one of its metrics."""

    step: Document
    metric: str

    @property
    def unit(self) -> str | None:
        return metrics_of(self.step).get(self.metric, {}).get("unit")

    def statistic(self, name: str) -> float | None:
        return statistics_of(self.step, self.metric).get(name)

    def interval(self) -> tuple[float | None, float | None]:
        return interval_of(self.step, self.metric)

    def amount(self, value: float | None) -> Cell:
        return Cell(value, amount(value, self.unit))

    def figure(self, name: str) -> Cell:
        return self.amount(self.statistic(name))

    def counts(self, member: str) -> str | None:
        numbers: Mapping[str, int] = self.step.get(member) or {}
        named = (f"{n:,} {word.replace('_', ' ')}" for word, n in numbers.items() if n)
        return ", ".join(named) or None

    def n(self) -> float | None:
        return self.statistic("n") or 0 if self.step.get("measured") else None

    def median(self) -> Cell:
        shown = self.figure("median")
        if not self.step.get("suspect_counted"):
            return shown
        return replace(shown, text=f"{shown.text}{BUSY}", mark="doubtful")

    def half_width(self) -> Cell:
        """Return how far the farther end of the median's interval is; it is seldom symmetric."""
        (low, high), median = self.interval(), self.statistic("median")
        if low is None or high is None or median is None:
            return Cell(None)
        return self.amount(max(median - low, high - median))

    def own(self) -> float | None:
        """Return the program's own time (s) where it is not nearly the step's."""
        own, whole = self.median_of("run_s"), self.median_of(DURATION)
        if self.metric != DURATION or own is None or whole is None:
            return None
        return own if abs(whole - own) > _WORTH_SHOWING * whole else None

    def median_of(self, *names: str) -> float | None:
        medians = (statistics_of(self.step, name).get("median") for name in names)
        return next((median for median in medians if median is not None), None)


#: Name of a column, as in an export, to the column and what stands in it.
_COLUMNS: Mapping[str, tuple[Column, Callable[[_Figures], Value]]] = {
    "n": (Column("runs", "N", NUMBER), _Figures.n),
    "median": (Column("median", "Median", NUMBER), _Figures.median),
    "interval": (Column("half_width", "± 95 %", NUMBER), _Figures.half_width),
    "low": (Column("low", "Low", NUMBER), lambda one: one.amount(one.interval()[0])),
    "high": (Column("high", "High", NUMBER), lambda one: one.amount(one.interval()[1])),
    "mean": (Column("mean", "Mean", NUMBER), lambda one: one.figure("mean")),
    "stdev": (Column("stdev", "Stdev", NUMBER), lambda one: one.figure("stdev")),
    "cv": (Column("cv", "CV", SHARE), lambda one: one.statistic("coefficient_of_variation")),
    "min": (Column("min", "Min", NUMBER), lambda one: one.figure("min")),
    "max": (Column("max", "Max", NUMBER), lambda one: one.figure("max")),
    "own": (Column("own_s", "Own", SECONDS), _Figures.own),
    "unit": (Column("unit", "Unit"), lambda one: one.unit),
    "cpu": (Column("median_cpu_s", "CPU", SECONDS), lambda one: one.median_of(CPU)),
    "memory": (Column("median_memory_bytes", "Memory", BYTES), lambda one: one.median_of(*MEMORY)),
    "outcomes": (Column("outcomes", "Outcomes"), lambda one: one.counts("outcomes")),
    "left_out": (
        Column("left_out", "Left out"),
        lambda one: Cell(one.counts("left_out"), mark="doubtful"),
    ),
    "advice": (
        Column("advice", "Advice", LONG),
        lambda one: "; ".join(one.step.get("advice") or ()) or None,
    ),
}
_USUAL = ("n", "median", "interval", "cv", "min", "max", "own", "outcomes", "left_out")
#: Of a page, in place of the usual ones.
ON_PAGE = (
    *("n", "median", "low", "high", "cv", "min", "max", "unit", "cpu", "memory"),
    *("outcomes", "left_out", "advice"),
)
#: Columns that have something to say in some cases only.
SELDOM = ("own_s", "left_out", "median_cpu_s", "median_memory_bytes")


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
                metrics.of(metrics_of(step))
        metrics.refuse_unmatched()

    def document(self, summary: dict[str, Any]) -> dict[str, Any]:
        """Return a summary with the wanted metrics alone."""
        if not self.metrics:
            return summary
        wanted = Metrics(self.metrics)
        members = {"steps": [_with(wanted, step) for step in summary.get("steps", [])]}
        others = [self.document(other) for other in summary.get("other_subjects") or ()]
        return {**summary, **members, "other_subjects": others}

    def table(
        self,
        steps: Sequence[Document],
        named: Callable[[str], str] = quote,
        href: Callable[[Document, str], str | None] = lambda _, __: None,
    ) -> Table:
        """Return a row for each step, or for each of its wanted metrics.

        Args:
            steps: The member ``steps`` of summary.json.
            named: Shortens the name of a step.
            href: Returns where a step and a metric lead.
        """
        names = _USUAL if self.columns is None else self.columns
        columns = [Column("index", "", NUMBER), Column("step", "Step"), Column("metric", "Metric")]
        rows = [
            [
                one.step["index"],
                Cell(one.step.get("id"), named(one.step["name"]), href(one.step, one.metric)),
                Cell(one.metric, named(one.metric)),
                *(_COLUMNS[name][1](one) for name in names),
            ]
            for step in steps
            for one in self.figures(step)
        ]
        columns += [_COLUMNS[name][0] for name in names]
        shown = Table("steps", "Steps", columns, rows, empty="No finished run has a step.")
        shown = shown if self.columns is not None else shown.hiding_unknown(SELDOM)
        return shown if self.metrics else shown.hiding(["metric"])

    def across(self, points: Mapping[str, Sequence[Document]]) -> Table:
        """Return a row for each step and wanted metric, with its median at each point of a matrix.

        Each median after the first is followed by its ratio to the first.

        Args:
            points: Head of a column to the steps of its summary.
        """
        found: dict[tuple[str, str], dict[str, _Figures]] = {}
        for head, steps in points.items():
            for one in (one for step in steps for one in self.figures(step)):
                found.setdefault((one.step["id"], one.metric), {})[head] = one
        rows = [
            [_common_name(step, at.values()), metric, *_medians([at.get(head) for head in points])]
            for (step, metric), at in found.items()
        ]
        columns = [Column("step", "Step"), Column("metric", "Metric" if self.metrics else None)]
        columns += [Column(head, head, NUMBER) for head in points]
        return Table("points", "Medians at each point of the matrix", columns, rows)

    def figures(self, step: Document) -> Iterator[_Figures]:
        """Yield the wanted metrics of a step."""
        wanted = Metrics(self.metrics).of(metrics_of(step)) if self.metrics else {DURATION: None}
        for name in wanted:
            # A glob takes many counters that no kernel here tells.
            if name == DURATION or statistics_of(step, name)["n"]:
                yield _Figures(step, name)


def _common_name(step: str, points: Iterable[_Figures]) -> str:
    names = {one.step["name"] for one in points}
    return quote(names.pop() if len(names) == 1 else step)


def _medians(points: Sequence[_Figures | None]) -> Iterator[Cell]:
    first = points[0].statistic("median") if points[0] else None
    for place, one in enumerate(points):
        shown = one.median() if one else Cell(None)
        value = one.statistic("median") if one else None
        ratio = f" ({number(value / first, 3)}x)" if place and first and value is not None else ""
        yield replace(shown, text=f"{shown.shown()}{ratio}")


def _all_steps(summary: Document) -> Iterator[Document]:
    yield from summary.get("steps") or ()
    for other in summary.get("other_subjects") or ():
        yield from other["steps"]


def _with(wanted: Metrics, step: dict[str, Any]) -> dict[str, Any]:
    return {**step, "metrics": wanted.of(step["metrics"])} if "metrics" in step else step


#: What is shown unless something else is asked for.
USUAL = Look()

#: What the kernel tells of every program, beside what programs and classes report themselves.
_OF_ANY_PROGRAM = {"exit_code", "cpu_user_s", "cpu_system_s", "peak_rss_bytes", "run_s"}


def reported(summaries: Sequence[Document]) -> list[str]:
    """Return the names of the metrics that commands reported, beside those of any program."""
    found: dict[str, None] = {}
    for step in chain.from_iterable(map(_all_steps, summaries)):
        for name, metric in metrics_of(step).items():
            usual = name.removeprefix("reported_") in _OF_ANY_PROGRAM
            if metric["source"] == "command" and not usual:
                found[name] = None
    return list(found)


# -- advice


_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
#: Steps, or ranges of them, that a line names by number.
_NAMED = 12


def digest(advised: Iterable[tuple[int, str, str]], most: int | None = None) -> list[str]:
    """Return the lines to show, the most urgent first.

    Args:
        advised: Index and name of a step, and a piece of advice about it, in the steps' order;
            of one step the most urgent first.
        most: Lines; the last says how many are left out. None shows all.
    """
    groups: dict[str, list[tuple[int, str, str]]] = {}
    urgency, seen = dict[str, int](), Counter[int]()
    for one in advised:
        kind = _NUMBER.sub("#", one[2])
        groups.setdefault(kind, []).append(one)
        urgency.setdefault(kind, seen[one[0]])
        seen[one[0]] += 1
    lines = [_line(groups[kind]) for kind in sorted(groups, key=urgency.__getitem__)]
    if most is None or len(lines) <= most:
        return lines
    return [
        *lines[: most - 1],
        f"{lines[most - 1]}; {len(lines) - most} more: benchyard stats --verbose",
    ]


def _line(group: Sequence[tuple[int, str, str]]) -> str:
    index, name, text = group[0]
    if len(group) == 1:
        return f"step {index} {name}: {text}"
    parts = in_short([index for index, _, _ in group]).split(",")
    more = " and more" if len(parts) > _NAMED else ""
    steps = ", ".join(parts[:_NAMED])
    return f"steps {steps}{more}: {_merged([text for _, _, text in group])}"


def _merged(texts: Sequence[str]) -> str:
    """Write texts as one; numbers in which they differ become ``least..most``."""
    columns = zip(*(_NUMBER.findall(text) for text in texts), strict=True)
    merged = iter([_range(column) for column in columns])
    return _NUMBER.sub(lambda _: next(merged), texts[0])


def _range(numbers: Sequence[str]) -> str:
    ordered = sorted(set(numbers), key=lambda number: float(number.replace(",", "")))
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]}..{ordered[-1]}"
