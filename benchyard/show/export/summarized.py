"""The summarized form: a row for each case or point, step and metric, as summary.json has them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchyard.core.model import JsonObject
from benchyard.results.subject import differences, subject_of
from benchyard.results.summary import summarize
from benchyard.show.export.columns import (
    Cell,
    Cells,
    CellType,
    ExportColumn,
    Metrics,
    Rows,
    point_columns,
    text,
)
from benchyard.show.export.sources import CaseFolder, read
from benchyard.show.export.tidy import Choice, Tally, origin, rows_of_sources, start_of_row

_BEFORE = (
    ExportColumn("campaign"),
    ExportColumn("step", CellType.WHOLE),
    ExportColumn("step_id"),
    ExportColumn("step_name"),
)
#: Column to where its value stands in the statistics of a metric.
_STATISTICS: Mapping[str, tuple[str, ...]] = {
    "median": ("median",),
    "low": ("median_interval", "low"),
    "high": ("median_interval", "high"),
    "level": ("median_interval", "level"),
    "coverage": ("median_interval", "coverage"),
    "mean": ("mean",),
    "stdev": ("stdev",),
    "cv": ("coefficient_of_variation",),
    "min": ("min",),
    "max": ("max",),
}
_AFTER = (
    ExportColumn("metric"),
    ExportColumn("unit"),
    ExportColumn("direction"),
    ExportColumn("source"),
    ExportColumn("n", CellType.WHOLE),
    ExportColumn("repetitions", CellType.WHOLE),
    *(ExportColumn(name, CellType.NUMBER) for name in _STATISTICS),
    ExportColumn("outcomes"),
    ExportColumn("left_out"),
    ExportColumn("suspect_counted", CellType.WHOLE),
    ExportColumn("versions"),
    ExportColumn("commit"),
    ExportColumn("dirty", CellType.FLAG),
    ExportColumn("subject"),
    ExportColumn("host"),
    ExportColumn("benchyard"),
)
_OURS = (ExportColumn("case"), *_BEFORE, *_AFTER)


def summarized(sources: Sequence[CaseFolder], choice: Choice, tally: Tally) -> Rows:
    """Return the rows of some cases; runs of another subject than the newest have their own."""
    points = point_columns([source.point for source in sources], [one.name for one in _OURS])

    def of_source(source: CaseFolder, metrics: Metrics) -> Iterator[Cells]:
        start = start_of_row(source, points)
        for document, end in summaries(source, choice, tally):
            for cells in _of_summary(document, metrics):
                yield (*start, *cells, *end)

    return Rows(
        (ExportColumn("case"), *points.values(), *_BEFORE, *_AFTER),
        lambda: rows_of_sources(sources, choice, tally, of_source),
    )


def summaries(
    source: CaseFolder, choice: Choice, tally: Tally
) -> Iterator[tuple[JsonObject, Cells]]:
    """Yield the summary of each subject's runs, the newest first, and where its numbers come from.

    The latter as ``tidy.origin`` tells it of the newest run.
    """
    found = read(source)
    tally.unreadable += found.unreadable
    for group in filter(None, found.groups):
        subject = subject_of(group[0])
        document = summarize(
            source.title,
            group,
            unfinished=[r for r in found.unfinished if not differences(subject_of(r), subject)],
            suspect=choice.suspect,
        )
        yield document, origin(max(group, key=lambda record: record.began))


def _of_summary(document: Mapping[str, Any], metrics: Metrics) -> Iterator[Cells]:
    for step in document["steps"]:
        before = (step["index"], text(step["id"]), text(step["name"]))
        counts = [text(in_words(step.get(name) or {})) for name in ("outcomes", "left_out")]
        doubted = step.get("suspect_counted")
        for name, metric in metrics.of(step.get("metrics") or {}).items():
            yield (*before, *_of_metric(name, metric), *counts, doubted)


def _of_metric(name: str, metric: Mapping[str, Any]) -> Iterator[Cell]:
    yield from (text(name), metric["unit"], metric["direction"], metric["source"])
    yield from (metric["n_runs"], metric["n_repetitions"])
    for path in _STATISTICS.values():
        value: Any = metric["statistics"]
        for key in path:
            value = value[key]
        yield value


def in_words(counts: Mapping[str, int]) -> str:
    """Return counts as ``7 completed, 1 timed out``."""
    return ", ".join(f"{n} {word.replace('_', ' ')}" for word, n in counts.items() if n)
