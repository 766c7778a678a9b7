"""Traces of anybody in Chrome's format: every form, every kind of event, and what is broken."""

import gzip
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.errors import InputError
from benchyard.traces.chrome import chunks
from benchyard.traces.chrome.reading import read_chrome
from benchyard.traces.model import Trace
from tests.benchyard.traces.rows import damaged, rows

Event = dict[str, Any]
X: Event = {"ph": "X", "name": "x", "pid": 1, "tid": 2, "ts": 1.5, "dur": 2}


def read(tmp_path: Path, content: str | bytes) -> Trace:
    file = tmp_path / "t.json"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_chrome(file)


def read_events(tmp_path: Path, *events: Event) -> Trace:
    return read(tmp_path, json.dumps(events))


def losses(trace: Trace) -> list[tuple[str, int]]:
    return sorted((loss.reason, loss.count) for loss in trace.losses)


ONE = json.dumps(X)
BRACES = json.dumps({**X, "name": 'a "},{" \\', "args": {"list": [{"a": "]}"}, {"b": 1}]}})
FORMS = {
    "array": f"[{ONE}]",
    "no closing bracket": f"[{ONE}",
    "a comma too many": f"[{ONE},",
    "one a line": f"[\n{ONE},\n]\n",
    "object": f'{{"traceEvents":[{ONE}]}}',
    "members around": (
        '{"a":{"traceEvents":[1]},"b":"traceEvents","traceEvents" : [' + ONE + '],"c":[{}]}'
    ),
    "byte order mark": f"\ufeff [{ONE}]",
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_each_form_is_read(tmp_path: Path, form: str, packed: bool) -> None:
    content = gzip.compress(form.encode()) if packed else form.encode()
    trace = read(tmp_path, content)
    assert rows(trace) == [("thread 2", "x", 1500, 2000)]
    assert losses(trace) == []


@pytest.mark.parametrize("size", [20, 64, 100, 1000])
def test_cuts_lie_between_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(chunks, "CHUNK_BYTES", size)
    text = ",".join([BRACES, ONE, BRACES, "7", ONE] * 5)
    trace = read(tmp_path, f'{{"traceEvents":[{text}],"samples":[{{"a":1}},{{"b":2}}]}}')
    assert len(trace.slices) == 20
    assert losses(trace) == [
        ("a sample of a profiler's stack; not read", 2),
        ("not an event", 5),
    ]


def test_a_file_that_is_cut_off_keeps_what_is_whole(tmp_path: Path) -> None:
    trace = read(tmp_path, f"[{ONE},\n{ONE[:30]}")
    assert len(trace.slices) == 1
    (loss,) = trace.losses
    assert loss.reason == "the file ends within an event"
    assert loss.first == f"byte {1 + len(ONE)}"


def test_compressed_data_that_are_cut_off_keep_what_is_whole(tmp_path: Path) -> None:
    rng = random.Random(3)  # noqa: S311 - no secret
    events = [{**X, "name": str(rng.random())} for _ in range(40_000)]
    packed = gzip.compress(json.dumps(events).encode())
    trace = read(tmp_path, packed[: len(packed) // 2])
    assert 1_000 < len(trace.slices) < 40_000
    assert "compressed data end" in trace.losses[0].reason


@pytest.mark.parametrize(
    "content", [b"", b"7", b"nothing", b'{"a":[]}', b'{"a":', b"\x1f\x8b\x08", b"\x00" * 50]
)
def test_what_is_no_trace_is_refused_with_the_file(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError, match=r"t\.json"):
        read(tmp_path, content)


def test_numbers_may_be_texts_and_ids_may_be_anything(tmp_path: Path) -> None:
    trace = read_events(tmp_path, {**X, "ts": "1.5", "dur": "2", "pid": "a", "tid": "b"})
    assert rows(trace) == [("b", "x", 1500, 2000)]
    assert trace.tracks[0].process == "process a"


DEEP = "[" * 100_000 + "]" * 100_000
BROKEN = {
    "dur is negative": json.dumps({**X, "dur": -1}),
    "no phase (ph)": '{"name": "x"}',
    "ts is out of range": json.dumps({**X, "ts": 1e300}),
    "ts is no number": json.dumps({**X, "ts": None}),
    "dur is no number": json.dumps({**X, "dur": "long"}),
    "dur is out of range": json.dumps({**X, "dur": 10**400}),
    "a counter's value is no number": json.dumps({**X, "ph": "C", "args": {"a": []}}),
    "nested too deeply": f'{{"ph":"X","a":{DEEP}}}',
    "not valid JSON": '{"ph":"X" "ts":1}',
    "not an event": '"text"',
}


@pytest.mark.parametrize("reason", BROKEN)
def test_what_cannot_be_taken_in_is_counted_and_the_others_are_read(
    tmp_path: Path, reason: str
) -> None:
    trace = read(tmp_path, f"[{ONE},{BROKEN[reason]},{ONE},{BROKEN[reason]}]")
    assert len(trace.slices) == 2
    assert losses(trace) == [(reason, 2)]
    assert trace.losses[0].first.startswith("byte ")


def test_missing_times_are_counted_with_the_offset_of_the_first(tmp_path: Path) -> None:
    bad = {key: value for key, value in X.items() if key != "ts"}
    trace = read(tmp_path, f"[{ONE},{json.dumps(bad)},{json.dumps({**X, 'ph': 'B', 'ts': 1})}]")
    (first, second) = sorted(trace.losses, key=lambda loss: loss.reason)
    assert (first.reason, first.first) == (
        "begun and never ended; taken to last until the end of its track",
        "1 µs, x",
    )
    assert (second.reason, second.first) == ("no time (ts)", f"byte {2 + len(ONE)}")


def test_a_slice_without_a_duration_is_kept_and_told(tmp_path: Path) -> None:
    endless = {key: value for key, value in X.items() if key != "dur"}
    trace = read_events(tmp_path, X, endless)
    assert rows(trace) == [("thread 2", "x", 1500, 0), ("thread 2", "x", 1500, 2000)]
    assert losses(trace) == [("no duration (dur); taken as none", 1)]


def test_names_that_are_no_text_are_read(tmp_path: Path) -> None:
    events = [
        b'{"ph":"X","name":%s,"ts":0,"dur":1}' % name for name in (b'"\\ud800"', b'"\xff"', b"7")
    ]
    trace = read(tmp_path, b"[" + b",".join(events) + b"]")
    assert sorted(trace.names) == ["7", "?", "\ufffd"]
    assert losses(trace) == []


def phase(kind: str, ts: float, name: str = "x", **more: Any) -> Event:
    return {"ph": kind, "name": name, "pid": 1, "tid": 2, "ts": ts, **more}


def test_beginnings_and_ends_nest_whatever_their_order(tmp_path: Path) -> None:
    events = [
        phase("B", 1, "a"),
        phase("E", 9, ""),
        phase("B", 2, "b"),
        phase("E", 3, "b"),
        phase("E", 20, ""),
        phase("B", 30, "c"),
    ]
    trace = read_events(tmp_path, *events, phase("i", 35, s="t"))
    assert rows(trace) == [
        ("thread 2", "a", 1000, 8000),
        ("thread 2", "b", 2000, 1000),
        ("thread 2", "c", 30000, 5000),
    ]
    assert losses(trace) == [
        ("begun and never ended; taken to last until the end of its track", 1),
        ("ended and never begun; shown as a moment", 1),
    ]
    assert [(one.name, one.time) for one in trace.instants] == [("x", 35000), ("end", 20000)]


def test_an_end_closes_the_innermost_slice_of_its_name(tmp_path: Path) -> None:
    begun = [phase("B", 0, "A"), phase("B", 1, "B"), phase("B", 2, "lost")]
    ends = [phase("E", 3, "B"), phase("E", 4, "A"), phase("E", 5, "A")]
    trace = read_events(tmp_path, *begun, *ends, {**X, "ts": 90, "dur": 10, "name": "later"})
    assert rows(trace) == [
        ("thread 2", "A", 0, 4000),
        ("thread 2", "B", 1000, 2000),
        ("thread 2", "later", 90000, 10000),
        ("thread 2", "lost", 2000, 1000),
    ]
    assert [(one.reason, one.count, one.first) for one in trace.losses] == [
        ("ended and never begun; shown as a moment", 1, "5 µs, end of A"),
        ("begun and never ended; taken to end with what contains it", 1, "2 µs, lost"),
    ]


def test_an_id_tells_what_ended_whatever_the_name_says(tmp_path: Path) -> None:
    begun = [phase("b", ts, name, cat="c", id=1) for ts, name in ((0, "a"), (1, "b"), (2, "lost"))]
    ends = [phase("e", ts, name, cat="c", id=1) for ts, name in ((3, "b"), (4, "other"))]
    trace = read_events(tmp_path, *begun, *ends)
    assert [row[1:] for row in rows(trace)] == [
        ("a", 0, 4000),
        ("b", 1000, 2000),
        ("lost", 2000, 1000),
    ]
    assert losses(trace) == [
        ("begun and never ended; taken to end with what contains it", 1),
        ("ended under another name; taken as the end of what has its id", 1),
    ]


@pytest.mark.parametrize(("begin", "end"), ["be", "SF"])
def test_asynchronous_events_pair_by_category_and_id(tmp_path: Path, begin: str, end: str) -> None:
    events = [
        phase(begin, 1, "load", cat="net", id=1),
        phase(begin, 2, "load", cat="net", id="0x2"),
        phase(end, 4, "load", cat="net", id=1),
        phase(end, 5, "load", cat="net", id="0x2"),
        phase(end, 6, "load", cat="disk", id=1),
    ]
    trace = read_events(tmp_path, *events)
    assert rows(trace) == [
        ("net (async)", "load", 1000, 3000),
        ("net (async)", "load", 2000, 3000),
    ]
    assert losses(trace) == [("ended and never begun; shown as a moment", 1)]


@pytest.mark.parametrize(("whose", "pairs"), [({"id": 7}, 1), ({"id2": {"local": 7}}, 0)])
def test_ids_hold_over_processes_unless_they_are_local(
    tmp_path: Path, whose: Event, pairs: int
) -> None:
    events = [
        phase("b", 1, "load", cat="c", **whose),
        {**phase("e", 4, cat="c", **whose), "pid": 9},
    ]
    trace = read_events(tmp_path, *events)
    assert [int(one) for one in trace.slices.duration].count(3_000) == pairs


def test_flows_are_arrows_from_step_to_step(tmp_path: Path) -> None:
    steps = [phase(kind, ts, "f", cat="c", id=7) for kind, ts in (("s", 1), ("t", 2), ("f", 3))]
    trace = read_events(tmp_path, *steps, phase("s", 9, "f", cat="c", id=8))
    assert [(one.from_time, one.to_time) for one in trace.flows] == [(1000, 2000), (2000, 3000)]
    assert losses(trace) == [("an arrow without its other end; shown as a moment", 1)]


def test_counters_have_a_series_for_each_argument(tmp_path: Path) -> None:
    events = [phase("C", ts, "mem", args={"a": ts, "b": str(2 * ts)}) for ts in (2, 1)]
    trace = read_events(tmp_path, *events)
    found = {one.name: (one.times.tolist(), one.values.tolist()) for one in trace.counters}
    assert found == {"mem: a": ([1000, 2000], [1, 2]), "mem: b": ([1000, 2000], [2, 4])}


@pytest.mark.parametrize("kind", [*"iIRNODVvc(),=", "unknown"])
def test_every_other_kind_is_a_moment(tmp_path: Path, kind: str) -> None:
    trace = read_events(tmp_path, phase(kind, 4, "m", args={"a": 1}))
    (instant,) = trace.instants
    assert (instant.name, instant.time, instant.details) == ("m", 4000, {"a": 1})
    assert losses(trace) == []


def test_a_profile_of_devtools_lies_beside_the_thread_that_it_sampled(tmp_path: Path) -> None:
    def piece(name: str, tid: int, **data: Any) -> Event:
        return {**phase("P", 3, name, args={"data": data}), "id": "0x1", "tid": tid}

    def node(number: int, name: str, **caller: int) -> dict[str, Any]:
        return {"id": number, "callFrame": {"functionName": name}, **caller}

    first = [node(1, "(root)"), node(2, "f", parent=1)]
    pieces = [
        piece("Profile", 2, startTime=100),
        piece("ProfileChunk", 9, cpuProfile={"nodes": first, "samples": [2]}, timeDeltas=[5]),
        {**piece("ProfileChunk", 9, cpuProfile={"nodes": [node(3, "g", parent=2)]}), "pid": "1"},
        piece("ProfileChunk", 9, cpuProfile={"samples": [3, 1]}, timeDeltas=[10, 20]),
        piece("ProfileChunk", 9, cpuProfile={"samples": "no"}),
    ]
    trace = read_events(tmp_path, X, *pieces)
    found = [row for row in rows(trace) if row[0] == "samples of 2"]
    assert [row[1:] for row in found] == [("f", 105_000, 30_000), ("g", 115_000, 20_000)]
    assert losses(trace) == [("a piece of a profile that cannot be read", 1)]


def test_other_samples_of_a_profiler_are_counted(tmp_path: Path) -> None:
    chunk = phase("P", 3, "sample", args={"a": 1})
    members = {"samples": [{"ts": 1, "sf": 2}], "traceEvents": [X, chunk, chunk]}
    frames = {"stackFrames": {"2": {"name": "f"}}}
    for order in ({**members, **frames}, {**frames, **dict(reversed(members.items()))}):
        trace = read(tmp_path, json.dumps(order))
        assert (len(trace.slices), trace.instants) == (1, [])
        assert losses(trace) == [("a sample of a profiler's stack; not read", 3)]


def test_what_stands_behind_the_events_is_read(tmp_path: Path) -> None:
    told = {"traceEvents": [X], "otherData": {"zero_unix_ns": "7"}}
    assert read(tmp_path, json.dumps(told)).zero == 7
    trace = read(tmp_path, f'{{"traceEvents":[{ONE}],"a":')
    assert losses(trace) == [("what stands behind the events cannot be read", 1)]


def meta(kind: str, pid: int, tid: int, **args: object) -> Event:
    return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": args}


def test_metadata_name_and_order_tracks_wherever_they_stand(tmp_path: Path) -> None:
    slices = [{**X, "pid": pid, "tid": tid} for pid, tid in ((1, 2), (3, 4), (3, 5))]
    trace = read_events(
        tmp_path,
        *slices,
        meta("process_name", 1, 2, name="host"),
        meta("process_name", 3, 4, name="host"),
        meta("process_sort_index", 1, 0, sort_index=9),
        meta("thread_name", 3, 4, name="worker"),
        meta("thread_name", 3, 5, name="worker"),
        meta("thread_sort_index", 3, 4, sort_index=1),
    )
    assert [(one.process, one.thread) for one in trace.tracks] == [
        ("host 3", "worker 5"),
        ("host 3", "worker 4"),
        ("host 1", "thread 2"),
    ]


@pytest.mark.parametrize("base", [0, 1_666_382_280_874_284])
def test_times_since_1970_keep_their_nanoseconds(tmp_path: Path, base: int) -> None:
    events = ",".join(
        f'{{"ph":"B","name":"child","pid":1,"tid":2,"ts":{base}.{place}00}},'
        f'{{"ph":"E","pid":1,"tid":2,"ts":{base}.{place}90}}'
        for place in range(10)
    )
    trace = read(tmp_path, f'[{events},{{"ph":"X","ts":"{base}.003","dur":0.004}}]')
    assert sorted(trace.slices.duration.tolist()) == [4, *[90] * 10]
    assert min(trace.slices.start.tolist()) == base * 1000


def test_what_ends_together_in_floats_ends_together_in_nanoseconds(tmp_path: Path) -> None:
    outer = {**X, "ts": 0.1, "dur": 0.2}
    inner = {**X, "ts": 0.2004, "dur": 0.0996}
    found = rows(read_events(tmp_path, outer, inner))
    assert {start + duration for _, _, start, duration in found} == {300}


def plain(events: Sequence[Event]) -> list[tuple[str, str, int, int]]:
    """Read slices as simply as can be."""
    return sorted(
        (f"thread {one['tid']}", one["name"], round(one["ts"] * 1000), round(one["dur"] * 1000))
        for one in events
    )


def test_a_large_file_is_read_as_a_plain_reader_would(tmp_path: Path) -> None:
    rng = random.Random(5)  # noqa: S311 - no secret
    events = [
        {
            **X,
            "name": rng.choice(['"},{"', "b\\", "ü", "[{"]),
            "ts": rng.randrange(10**9) / 1000,
            "dur": rng.randrange(10**6) / 1000,
            "tid": rng.randrange(5),
            "args": {"a": [{"b": "}"}, {"c": ","}] * rng.randrange(3)},
        }
        for _ in range(30_000)
    ]
    trace = read(tmp_path, json.dumps({"traceEvents": events}, indent=1))
    assert losses(trace) == []
    assert [row[:3] for row in rows(trace)] == [row[:3] for row in plain(events)]
    assert all(abs(a[3] - b[3]) <= 1 for a, b in zip(rows(trace), plain(events), strict=True))


SMALL = json.dumps(
    {
        "otherData": {"zero_unix_ns": "5"},
        "traceEvents": [
            meta("thread_name", 1, 2, name="t"),
            X,
            phase("B", 1),
            phase("E", 2),
            phase("b", 3, cat="c", id=1),
            phase("e", 4, cat="c", id2={"local": 1}),
            phase("C", 5, args={"a": 1}),
            phase("s", 6, id=1),
        ],
    }
).encode()


@pytest.mark.parametrize(
    "trials", [2_000, pytest.param(50_000, marks=pytest.mark.long)], ids=["some", "many"]
)
def test_a_damaged_file_is_read_or_refused_in_a_sentence(tmp_path: Path, trials: int) -> None:
    rng = random.Random(trials)  # noqa: S311 - no secret
    told = 0
    for trial in range(trials):
        content = damaged(SMALL, rng)
        try:
            trace = read(tmp_path, gzip.compress(content) if trial % 20 == 0 else content)
        except InputError:
            told += 1
        else:
            told += bool(trace.losses)
            assert trace.slices.duration.min(initial=0) >= 0
    assert told > trials / 10


@pytest.mark.parametrize(
    ("start", "length", "expected"),
    [
        ("1700000000000000.123", "1.002", (1_700_000_000_000_000_123, 1_002)),
        ("1700000000000000", "0.0005", (1_700_000_000_000_000_000, 0)),
        ("0.0015", "0.001", (2, 0)),
        ("2.4999999999999999999", "0", (2_500, 0)),
        ("7.00049999999999999999", "0", (7_000, 0)),
    ],
)
def test_times_are_rounded_as_every_digit_says(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    start: str,
    length: str,
    expected: tuple[int, int],
) -> None:
    monkeypatch.setattr(chunks, "CHUNK_BYTES", 100)
    event = f'{{"ph":"X","name":"a","ts":{start},"dur":{length}}}'
    # The last event of a file is read by itself, those before it together.
    slices = read(tmp_path, f"[{','.join([event] * 9)}]").slices

    assert [*zip(slices.start.tolist(), slices.duration.tolist(), strict=True)] == [expected] * 9
