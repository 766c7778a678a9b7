"""The head of a file: its keys, whatever comes after them."""

import gzip
from pathlib import Path

from benchyard.catalogue.formats.sniffing import HEAD_BYTES, Head, head_of


def test_keys_stand_behind_those_that_lead_to_them() -> None:
    head = Head(b'\xef\xbb\xbf {"a": [{"b": {"c": {"d": 1}}}, 2], "e\\"": "f: {", "g": [["h"]]}')
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
