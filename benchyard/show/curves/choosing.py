"""Which run's curves stand for a case."""

from collections.abc import Mapping
from pathlib import Path

from benchyard.results.folders import Results


def run_to_draw(results: Path, summary: Mapping[str, object]) -> int | None:
    """Return the median run, or else the last one done, or else the last one that failed.

    Args:
        results: Folder with the runs.
        summary: The document of summary.json; it has no median run where all runs are suspect.
    """
    median = summary.get("median_run")
    if isinstance(median, int):
        return median
    runs = Results(results)
    return max(runs.done() or runs.failed(), default=None)
