"""The head of a file: its keys, and the format that it tells."""

import gzip
import json
from pathlib import Path

import pytest

from benchyard.traces.recognising import HEAD_BYTES, Head, beginning_of, head_of
from benchyard.traces.sources import read_trace
from tests.benchyard.catalogue.formats.samples import (
    CALLGRIND,
    CPUPROFILE,
    FIREFOX,
    PERF,
    SAMPLES,
)
from tests.benchyard.traces.test_sources import SAMPLED, message, pprof, speedscope


def test_keys_stand_behind_those_that_lead_to_them() -> None:
    head = Head(b' {"a": [{"b": {"c": {"d": 1}}}, 2], "e\\"": "f: {", "g": [["h"]]}')
    assert head.keys == {("a",), ("a", "[]", "b"), ('e\\"',), ("g",)}
    assert head.has("a", "a.[].b")
    assert not head.has("a", "b")


def test_a_head_may_end_anywhere() -> None:
    whole = b'{"results": [{"command": "a\\"b", "mean": 1.5, "times": [1, 2]}]}'
    for end in range(len(whole)):
        assert Head(whole[:end]).keys <= Head(whole).keys


def test_only_the_head_is_read(tmp_path: Path) -> None:
    file = tmp_path / "a.json.gz"
    file.write_bytes(gzip.compress(b'{"a": 1, "pad": "' + b"x" * 2 * HEAD_BYTES + b'", "b": 1}'))
    head = head_of(file)
    assert head
    assert len(head.content) == HEAD_BYTES
    assert head.keys == {("a",), ("pad",)}


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(b'{"a": 1}')
    assert head_of(file) == Head(b'{"a": 1}')
    file.write_bytes(b'{"bb": 1}')
    assert head_of(file) == Head(b'{"bb": 1}')


def test_a_text_that_never_ends_is_read_once() -> None:
    # Looked at from each of its quotes, it would take minutes.
    assert Head(b'{"a": {"b": "' + b'\\"' * 500_000).keys == {("a",), ("a", "b")}


EVENT = {"ph": "X", "name": "x", "ts": 1, "dur": 2}
LONG = "x" * 2 * HEAD_BYTES
PROFILES = {**SAMPLED, "samples": [[0]] * HEAD_BYTES, "weights": [1] * HEAD_BYTES}
SPEEDSCOPE = json.loads(speedscope(PROFILES))
LOCATIONS = b"".join(message(4) for _ in range(HEAD_BYTES))
FILES = {
    "events behind metadata": (json.dumps({"m": LONG, "traceEvents": [EVENT]}), "chrome-trace"),
    "an event's long arguments": (json.dumps([{"args": LONG, **EVENT}]), "chrome-trace"),
    "a trace that is cut off": (f'{{"m":"{LONG}","traceEvents":[', "chrome-trace"),
    "a trace that names Speedscope": (
        json.dumps([{**EVENT, "a": "speedscope.app"}]),
        "chrome-trace",
    ),
    "members in another order": (json.dumps(dict(reversed(SPEEDSCOPE.items()))), "speedscope"),
    "no profiles": (speedscope(), "speedscope"),
    "UTF-16": (speedscope().decode().encode("utf-16"), "speedscope"),
    "UTF-16 without a mark": (speedscope().decode().encode("utf-16-be"), "speedscope"),
    "a mark": (b"\xef\xbb\xbf" + speedscope(), "speedscope"),
    "a long first line": (f"{LONG};b 3\na 4\n", "collapsed-stacks"),
    "a frame in brackets": ("[unknown];main 3\n", "collapsed-stacks"),
    "a frame in braces": ("{closure};main 3\n", "collapsed-stacks"),
    "a comment": ("# made by x\na;b 3.5\n", "collapsed-stacks"),
    "pprof": (pprof(([1], [1, 1])), "pprof"),
    "pprof, its types last": (LOCATIONS + pprof(([1], [1, 1])), "pprof"),
    "Firefox, its version far inside": (
        json.dumps({**FIREFOX, "meta": {"a": LONG, **FIREFOX["meta"]}}),
        "firefox-profile",
    ),
    "V8, its nodes last": (
        json.dumps(dict(reversed({**CPUPROFILE, "a": LONG}.items()))),
        "v8-cpuprofile",
    ),
    "perf behind its header": (b"# ========\n# captured on : x\n#\n" + PERF, "perf-script"),
    "Callgrind without its first line": (CALLGRIND.partition(b"\n")[2], "callgrind"),
    "cProfile": (SAMPLES["cprofile"][1], "cprofile"),
    "perf's own data": (b"PERFILE2" + bytes(99), ""),
    "a text": ("\nnothing of the kind\n", ""),
    "another object": (json.dumps({"a": LONG, "b": 1}), ""),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_the_content_tells_the_format(tmp_path: Path, name: str, packed: bool) -> None:
    content, wanted = FILES[name]
    raw = content if isinstance(content, bytes) else content.encode()
    file = tmp_path / "a"
    file.write_bytes(gzip.compress(raw) if packed else raw)
    assert beginning_of(file).trace_format == wanted
    if wanted:
        read_trace(file)


def test_what_is_packed_and_cut_off_is_known_by_what_is_there(tmp_path: Path) -> None:
    file = tmp_path / "a.json.gz"
    file.write_bytes(gzip.compress(json.dumps([EVENT] * 9).encode())[:-9])
    assert beginning_of(file).trace_format == "chrome-trace"
