"""What is written in Chrome's format is read again as it was."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchyard.traces.building import TraceBuilder
from benchyard.traces.chrome.reading import read_chrome
from benchyard.traces.chrome.writing import write_chrome
from benchyard.traces.model import MOST_NS, Counter, Flow, Trace, Track
from tests.benchyard.traces.rows import rows

NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
TIMES = st.integers(-(10**12), 10**12) | st.integers(1 - MOST_NS, MOST_NS - 1)


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    builder = TraceBuilder()
    for process in draw(st.lists(NAMES, min_size=1, max_size=3, unique=True)):
        for thread in draw(st.lists(NAMES, min_size=1, max_size=3, unique=True)):
            track = builder.track(process, thread)
            for name in draw(st.lists(NAMES, max_size=4)):
                builder.slice(track, name, draw(TIMES), draw(st.integers(0, 10**12)))
            for name in draw(st.lists(NAMES, max_size=2)):
                builder.instant(track, name, draw(TIMES), {"why": name})
    return builder.trace()


@given(traces())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_slices_and_instants_come_back(tmp_path: Path, trace: Trace) -> None:
    file = tmp_path / "trace.json"
    write_chrome(trace, file)
    json.loads(file.read_bytes())
    found = read_chrome(file)
    assert found.tracks == trace.tracks
    # Threads of different processes may have one name.
    apart = [Track("", str(one)) for one in trace.tracks]
    assert rows(replace(found, tracks=apart)) == rows(replace(trace, tracks=apart))
    assert sorted(map(repr, found.instants)) == sorted(map(repr, trace.instants))
    assert found.losses == []


@pytest.mark.parametrize("ending", [".json", ".json.gz"])
def test_counters_flows_and_the_zero_come_back(tmp_path: Path, ending: str) -> None:
    builder = TraceBuilder(zero=1_700_000_000_123_456_789)
    tracks = [builder.track("host", name) for name in ("a", "b")]
    builder.flow(Flow("rows", tracks[0], 1, tracks[1], 2))
    for time, value in enumerate([1.5, 1.5, 1.5, 2.0]):
        builder.count("host", "memory", time, value, "B")
        builder.count("host", "threads", time, 7)
    file = tmp_path / f"trace{ending}"
    write_chrome(builder.trace(), file)
    found = read_chrome(file)
    assert found.zero == 1_700_000_000_123_456_789
    assert found.flows == [Flow("rows", tracks[0], 1, tracks[1], 2)]
    memory, threads = found.counters
    assert (memory.process, memory.name, memory.unit) == ("host", "memory", "B")
    assert memory.times.tolist() == [0, 2, 3]
    assert memory.values.tolist() == [1.5, 1.5, 2.0]
    assert (threads.name, threads.times.tolist()) == ("threads", [0, 3])


def test_no_track_has_its_process_number(tmp_path: Path) -> None:
    """Perfetto would call it the main thread."""
    builder = TraceBuilder()
    for process in "abc":
        builder.slice(builder.track(process, "t"), "x", 0, 1)
    file = tmp_path / "trace.json"
    write_chrome(builder.trace(), file)
    events = json.loads(file.read_bytes())["traceEvents"]
    assert all(event["pid"] != event.get("tid") for event in events)


def test_details_and_losses_are_written(tmp_path: Path) -> None:
    builder = TraceBuilder()
    builder.slice(builder.track("p", "t"), "x", 0, 1, {"outcome": "failed", "of": float("nan")})
    builder.lose("no time (ts)", "byte 7")
    file = tmp_path / "trace.json.gz"
    write_chrome(builder.trace(), file)
    written = json.loads(gzip.decompress(file.read_bytes()))
    (slice_,) = [event for event in written["traceEvents"] if event["ph"] == "X"]
    assert slice_["args"] == {"outcome": "failed", "of": None}
    assert written["otherData"]["losses"] == ["1 times: no time (ts) (first at byte 7)"]


def test_no_value_that_is_no_number_is_written(tmp_path: Path) -> None:
    values = np.array([np.nan, 1.0, np.inf, 2.0])
    counter = Counter("p", "c", np.arange(4), values)
    file = tmp_path / "trace.json"
    write_chrome(Trace([], [], TraceBuilder().trace().slices, [counter]), file)
    assert read_chrome(file).counters[0].values.tolist() == [1.0, 2.0]


def test_what_was_there_stays_where_a_trace_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "trace.json").mkdir()
    with pytest.raises(OSError, match=r"trace\.json"):
        write_chrome(TraceBuilder().trace(), tmp_path / "trace.json")
    assert [one.name for one in tmp_path.iterdir()] == ["trace.json"]
