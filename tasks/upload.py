"""Bring finished runs to the sinks."""

from collections.abc import Sequence
from pathlib import Path

from prefect import task

from benchyard.publish import Uploaded, upload_runs
from tasks.policy import UNCACHED


@task(name="upload", **UNCACHED)
def upload(runs: Sequence[Path], sinks: Sequence[str]) -> Uploaded:
    """Put finished runs into the spools of sinks, and upload what waits of them."""
    return upload_runs(runs, sinks)
