"""Curves of a run that goes on, from what the real sampling process writes."""

import os
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from benchyard.host.sampler import host_files, start_sampler
from benchyard.process.usage import Owned
from benchyard.show.curves import sources
from benchyard.show.curves.sources import GrowingCurves
from tests.benchyard.host.sampler.frames import opened, tick
from tests.conftest import eventually

Watch = Callable[[Path], GrowingCurves]


@pytest.fixture
def watch() -> Generator[Watch]:
    """Make curves that are closed after the test."""
    with ExitStack() as stack:

        def make(raw: Path) -> GrowingCurves:
            curves = GrowingCurves(raw, None)
            stack.callback(curves.close)
            return curves

        yield make


def test_what_the_sampler_writes_is_seen_while_it_writes(tmp_path: Path) -> None:
    raw = tmp_path / "samples.raw"
    curves = GrowingCurves(raw, time.time())
    assert not curves.look()
    assert curves.sources() == []
    sampler = start_sampler(raw, 0.02, host_files())
    try:
        sampler.watch("Process", Owned(pids=(os.getpid(),)))
        assert eventually(lambda: curves.look() and len(curves.sources()) > 1, 20)
        seen = len(curves.sources()[0].at_s)
        assert eventually(lambda: curves.look() and len(curves.sources()[0].at_s) > seen, 20)
        host, ours = curves.sources()
    finally:
        sampler.end()
        curves.close()
    assert (host.name, ours.name) == ("host", "Process")
    assert np.isfinite(host.memory).all()
    assert host.memory.min() > 1e6
    assert ours.memory[-1] > 1e6
    assert 0 <= host.at_s[0] < 20


def test_memory_does_not_grow_with_the_run(
    watch: Watch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "_MOST", 100)
    raw = tmp_path / "samples.raw"
    begin = sources.MAGIC + opened(1, b"host columns stat")
    ticks = [tick(n * 10**8, (1, stat(n * 10))) for n in range(5000)]
    raw.write_bytes(begin + b"".join(ticks))
    curves = watch(raw)
    assert curves.look()
    [host] = curves.sources()
    assert len(host.at_s) <= 101
    assert host.at_s[-1] > 480
    assert host.rate("cpu_s")[1:] == pytest.approx([1.0] * (len(host.at_s) - 1), rel=0.01)


def stat(ticks: int) -> bytes:
    return f"cpu  {ticks} 0 0 0 0 0 0 0 0 0\n".encode()


@pytest.mark.parametrize("cut", [0, 5, 30, 70])
def test_a_record_that_is_half_written_is_read_later(
    watch: Watch, tmp_path: Path, cut: int
) -> None:
    raw = tmp_path / "samples.raw"
    whole = sources.MAGIC + opened(1, b"host columns stat")
    whole += tick(0, (1, stat(0))) + tick(10**8, (1, stat(10)))
    curves = watch(raw)
    raw.write_bytes(whole[:cut])
    curves.look()
    with raw.open("ab") as stream:
        stream.write(whole[cut:])
    assert curves.look()
    assert len(curves.sources()[0].at_s) == 2
    assert not curves.look()


def test_a_file_of_something_else_shows_nothing(watch: Watch, tmp_path: Path) -> None:
    raw = tmp_path / "samples.raw"
    raw.write_bytes(b"something else altogether")
    curves = watch(raw)
    assert not curves.look()
    assert curves.sources() == []
