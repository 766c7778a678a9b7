"""A line that is waited for, in what a server says."""

import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchyard.core.errors import NotReadyError
from benchyard.run.checks import PatternSearch
from benchyard.run.judging import SearchLimits
from resources import _readiness
from resources._readiness import log_pattern


def server(folder: Path, out: str, err: str, *, running: bool) -> Any:
    """Stand in for a server that has said so much, and says no more."""
    logs = [folder / "out", folder / "err"]
    for log, text in zip(logs, (out, err), strict=True):
        log.write_text(text)
    return SimpleNamespace(running=running, logs=lambda: logs, wait=time.sleep)


@pytest.mark.parametrize(
    ("out", "err", "running", "is_ready"),
    [
        ("one\nready\n", "", True, True),
        ("", "ready\n", False, True),
        ("re", "ady\n", False, False),
        ("some", "", False, False),
        ("never", "", True, False),
    ],
)
def test_a_line_of_either_stream_counts(
    tmp_path: Path, out: str, err: str, running: bool, is_ready: bool
) -> None:
    awaited = server(tmp_path, out, err, running=running)
    deadline = time.monotonic() + (10 if is_ready or not running else 0.3)
    assert log_pattern("^ready$").wait(awaited, deadline) is is_ready


@pytest.mark.slow
def test_a_pattern_that_takes_for_ever_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    soon = partial(PatternSearch, limits=SearchLimits(search_seconds=0.5))
    monkeypatch.setattr(_readiness, "PatternSearch", soon)
    awaited = server(tmp_path, "a" * 60 + "!", "", running=True)
    with pytest.raises(NotReadyError, match="let its repetitions not overlap"):
        log_pattern("(a|aa)+$").wait(awaited, time.monotonic() + 60)
