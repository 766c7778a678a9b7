"""The summarized form: a row for each case or point, step and metric, as summary.json has them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchyard.core.model import JsonObject
from benchyard.results.subject import differences, subject_of
from benchyard.results.summary import summarize
from benchyard.show.export.columns import ORIGIN, STATISTICS, Cell, Cells, Metrics, Rows, text
from benchyard.show.export.sources import CaseFolder, read
from benchyard.show.export.tidy import Choice, Tally, origin, rows_of_sources

_COLUMNS = (
    *("campaign", "step", "step_id", "step_name", "metric", "unit", "direction", "source"),
    *("n", "repetitions", *STATISTICS, "outcomes", "left_out", "suspect_counted", *ORIGIN),
)


def summarized(sources: Sequence[CaseFolder], choice: Choice, tally: Tally) -> Rows:
    """Return the rows of some cases; runs of another subject than the newest have their own."""
    return rows_of_sources(_COLUMNS, sources, choice, tally, _of_source)


def _of_source(
    source: CaseFolder, choice: Choice, tally: Tally, metrics: Metrics
) -> Iterator[Cells]:
    for document, end in summaries(source, choice, tally):
        for cells in _of_summary(document, metrics):
            yield (*cells, *end)


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
    statistics: dict[str, Any] = metric["statistics"]
    known = {**statistics["median_interval"], **statistics}
    known["cv"] = known["coefficient_of_variation"]
    yield from (known[name] for name in STATISTICS)


def in_words(counts: Mapping[str, int]) -> str:
    """Return counts as ``7 completed, 1 timed out``."""
    return ", ".join(f"{n} {word.replace('_', ' ')}" for word, n in counts.items() if n)
