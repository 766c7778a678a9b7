"""Write the statistics over the finished runs of a case."""

from pathlib import Path

from prefect import task

from benchyard.run import plain
from tasks.policy import UNCACHED


@task(name="summarize", **UNCACHED)
def summarize(title: str, results: Path) -> None:
    """Write ``summary.json`` and KROWN's three CSV files."""
    plain.summarize(title, results)
