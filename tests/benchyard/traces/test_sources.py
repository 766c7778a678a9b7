"""Profiles of others, known by their content; every broken one is refused in a sentence."""

import gzip
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.errors import InputError
from benchyard.traces import sources
from benchyard.traces.model import BYTES, SAMPLES, Trace
from benchyard.traces.sources import read_trace
from benchyard.traces.statistics import statistics_of
from tests.benchyard.traces.rows import Row, rows


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def message(field: int, *parts: bytes) -> bytes:
    inside = b"".join(parts)
    return varint(field << 3 | 2) + varint(len(inside)) + inside


TEXTS = ["", "samples", "count", "cpu", "nanoseconds", "main", "sort", "inlined"]


def pprof(*samples: tuple[Sequence[int], Sequence[int]]) -> bytes:
    return b"".join(
        [
            message(1, number(1, 1), number(2, 2)),
            message(1, number(1, 3), number(2, 4)),
            *(
                message(2, message(1, *map(varint, stack)), *(number(2, one) for one in values))
                for stack, values in samples
            ),
            message(4, number(1, 1), message(4, number(1, 1), number(2, 10))),
            message(4, number(1, 2), message(4, number(1, 3)), message(4, number(1, 2))),
            message(4, number(1, 3), number(3, 0xAB)),
            *(message(5, number(1, one), number(2, 4 + one)) for one in (1, 2, 3)),
            *(message(6, text.encode()) for text in TEXTS),
            number(9, 1_700_000_000_000_000_000),
        ]
    )


def speedscope(*profiles: dict[str, Any]) -> bytes:
    frames = [{"name": name} for name in ("main", "sort", "load")]
    schema = "https://www.speedscope.app/file-format-schema.json"
    return json.dumps(
        {"$schema": schema, "shared": {"frames": frames}, "profiles": profiles}
    ).encode()


SAMPLED: dict[str, Any] = {
    "type": "sampled",
    "name": "cpu",
    "unit": "milliseconds",
    "startValue": 5,
    "endValue": 9,
    "samples": [[0, 1], [0, 2], [0]],
    "weights": [1, 2, 1],
}
EVENTED: dict[str, Any] = {
    "type": "evented",
    "name": "wall",
    "unit": "microseconds",
    "startValue": 0,
    "endValue": 9,
    "events": [
        {"type": "O", "frame": 0, "at": 0},
        {"type": "O", "frame": 1, "at": 2},
        {"type": "C", "frame": 1, "at": 3},
        {"type": "C", "frame": 0, "at": 9},
    ],
}
MS = 1_000_000


def read(tmp_path: Path, content: bytes) -> Trace:
    file = tmp_path / "profile"
    file.write_bytes(content)
    return read_trace(file)


def by_start(trace: Trace) -> list[Row]:
    return sorted(rows(trace), key=lambda row: (row[2], -row[3], row))


def paths(trace: Trace) -> list[str]:
    """Return each path of names; what contains others of the same time must come first."""
    found = statistics_of(trace)
    return sorted(">".join(found.path(one)) for one in range(len(found.paths)))


def losses(trace: Trace) -> list[tuple[str, int, str]]:
    return [(one.reason, one.count, one.first) for one in trace.losses]


def test_collapsed_stacks_lie_side_by_side(tmp_path: Path) -> None:
    trace = read(tmp_path, b"main;sort 2\nmain;load data 1\nnonsense\nmain;sort 1\n\n")
    assert by_start(trace) == [
        ("samples", "main", 0, 4 * MS),
        ("samples", "load data", 0, MS),
        ("samples", "sort", MS, 3 * MS),
    ]
    assert losses(trace) == [("no stack and count", 1, "line 3")]


def test_speedscopes_profiles_are_tracks(tmp_path: Path) -> None:
    trace = read(tmp_path, speedscope(SAMPLED, EVENTED))
    assert by_start(trace) == [
        ("wall", "main", 0, 9_000),
        ("wall", "sort", 2_000, 1_000),
        ("cpu", "main", 5 * MS, 4 * MS),
        ("cpu", "sort", 5 * MS, MS),
        ("cpu", "load", 6 * MS, 2 * MS),
    ]
    assert losses(trace) == []


def test_what_is_wrong_in_speedscopes_file_is_counted(tmp_path: Path) -> None:
    sampled = {**SAMPLED, "samples": [[0], [7], [0]], "weights": [1, 1, 1e300]}
    events = [{"type": "C", "frame": 1, "at": 1}, {"type": "O", "frame": 9, "at": 1}]
    evented = {**EVENTED, "events": [*events, {"type": "O", "frame": 0, "at": 2}]}
    trace = read(tmp_path, speedscope(sampled, evented))
    assert losses(trace) == [
        ("a frame that the file does not list", 2, "profile 1, sample 2"),
        ("a weight is out of range", 1, "profile 1, sample 3"),
        ("closed and not open", 1, "profile 2, event 1"),
        ("opened and never closed; taken to last until the end", 1, "profile 2, its end"),
    ]


def test_closing_closes_the_innermost_frame_of_its_name(tmp_path: Path) -> None:
    steps = [("O", 0, 0), ("O", 1, 1), ("O", 2, 2), ("C", 1, 3), ("C", 0, 4)]
    events = [{"type": kind, "frame": frame, "at": at} for kind, frame, at in steps]
    trace = read(tmp_path, speedscope({**EVENTED, "events": events}))
    assert [row[1:] for row in by_start(trace)] == [
        ("main", 0, 4_000),
        ("sort", 1_000, 2_000),
        ("load", 2_000, 1_000),
    ]
    assert losses(trace) == [
        ("opened and never closed; closed with its caller", 1, "profile 1, event 4")
    ]


HEAP: dict[str, Any] = {**SAMPLED, "name": "heap", "unit": "bytes", "startValue": 0}


def test_bytes_are_no_time_and_are_added_to_none(tmp_path: Path) -> None:
    both = speedscope(SAMPLED, HEAP)
    trace = read(tmp_path, both)
    assert trace.unit.name == "s"
    assert {row[0] for row in by_start(trace)} == {"cpu"}
    why = "a profile in bytes, which is not added to others: --type shows it"
    assert losses(trace) == [(why, 1, "profile 2")]
    heap = read_trace(tmp_path / "profile", "bytes")
    assert heap.unit == replace(BYTES, sampled=True)
    assert by_start(heap)[0] == ("heap", "main", 0, 4)
    with pytest.raises(InputError, match="no profile of type 'seconds'; it has milliseconds"):
        read_trace(tmp_path / "profile", "seconds")


def test_epoch_times_of_speedscope_keep_their_nanoseconds(tmp_path: Path) -> None:
    text = speedscope(EVENTED).replace(b'"at": ', b'"at": 1666382280874284.00')
    assert by_start(read(tmp_path, text))[1] == ("wall", "sort", 1666382280874284002, 1)


def test_pprof_takes_the_default_type_else_the_last(tmp_path: Path) -> None:
    content = pprof(([1], [7, 5 * MS]))
    trace = read(tmp_path, content)
    assert (trace.unit.name, trace.unit.others) == ("s", ("samples",))
    counted = read(tmp_path, content + number(14, 1) + number(14, 3))  # the first counts
    assert (counted.unit.name, by_start(counted)) == ("1", [("samples", "main", 0, 7 * MS)])
    assert read_trace(tmp_path / "profile", "cpu").unit.name == "s"
    with pytest.raises(InputError, match="no sample type 'wall'; it has samples, cpu"):
        read_trace(tmp_path / "profile", "wall")
    size = content.replace(message(6, b"nanoseconds"), message(6, b"kilobytes"))
    assert (read(tmp_path, size).unit.name, by_start(read(tmp_path, size))[0][3]) == (
        "B",
        5 * MS * 1024,
    )


def test_collapsed_stacks_have_comments_and_parts_of_samples(tmp_path: Path) -> None:
    lines = b"\xef\xbb\xbf# austin: 3\r\n\r\nmain;sort 1.5\r\nmain;a\xe2\x80\xa8b 2.25\r\n"
    trace = read(tmp_path, lines)
    assert by_start(trace)[0] == ("samples", "main", 0, 3_750_000)
    assert (trace.unit, losses(trace)) == (replace(SAMPLES, sampled=True), [])


def test_profiles_of_one_name_are_told_apart(tmp_path: Path) -> None:
    trace = read(tmp_path, speedscope(SAMPLED, SAMPLED))
    assert [one.thread for one in trace.tracks] == ["cpu 1", "cpu 2"]


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_pprof_takes_cpu_time_and_shows_inlined_functions(tmp_path: Path, *, packed: bool) -> None:
    content = pprof(([2, 1], [1, 5 * MS]), ([1], [1, MS]), ([3, 1], [1, 2 * MS]), ([1], [1]))
    trace = read(tmp_path, gzip.compress(content) if packed else content)
    assert by_start(trace) == [
        ("cpu", "main", 0, 8 * MS),
        ("cpu", "0xab", MS, 2 * MS),
        ("cpu", "inlined", 3 * MS, 5 * MS),
        ("cpu", "sort", 3 * MS, 5 * MS),
    ]
    assert paths(trace) == ["main", "main>0xab", "main>sort", "main>sort>inlined"]
    assert losses(trace) == [("no value of cpu", 1, "sample 4")]
    assert trace.zero == 1_700_000_000_000_000_000


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello",
        b"\x00\x01",
        b"a b c\nd",
        b"\xff" * 99,
        gzip.compress(b"x", mtime=0),
    ],
    ids=["empty", "word", "zeros", "lines", "ones", "gzip"],
)
def test_an_unknown_format_is_refused_with_what_is_known(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError, match=r"profile: no known format; known are Chrome"):
        read(tmp_path, content)


def test_what_cannot_be_opened_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing cannot be read: No such file"):
        read_trace(tmp_path / "nothing")
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path, gzip.compress(pprof(([1], [1, 1])))[:-12])


def test_what_is_read_whole_has_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "WHOLE_BYTES", 10)
    with pytest.raises(InputError, match="larger than"):
        read(tmp_path, b"main;sort 2\n")


def test_times_that_add_up_to_ages_are_counted(tmp_path: Path) -> None:
    trace = read(tmp_path, b"".join(b"%d 999999999999\n" % one for one in range(4)))
    assert losses(trace) == [("values add up to more than can be counted", 1, "stack 4")]
