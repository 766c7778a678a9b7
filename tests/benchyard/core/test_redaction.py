"""Secrets are found in every form, in whole texts, in pieces, and before anything is cut."""

import base64
import json
import random
from pathlib import Path

import pytest

from benchyard.core.redaction import Redaction, Stream, redacted
from benchyard.process.children import tail

KEY = "-----BEGIN KEY-----\n  abcd+efgh/ijkl\n\tMNOP=qrst\n-----END KEY-----\n"


@pytest.fixture
def known() -> Redaction:
    redaction = Redaction()
    for value in ("p4ss'w\"ord", KEY, "grüße & co"):
        redaction.add(value)
    return redaction


@pytest.mark.parametrize(
    "shown",
    [
        "p4ss'w\"ord",
        repr(["p4ss'w\"ord"]),
        json.dumps("p4ss'w\"ord"),
        "http://u:p4ss%27w%22ord@host",
        base64.b64encode(b"p4ss'w\"ord").decode(),
        "      abcd+efgh/ijkl",
        "abcd%2Befgh%2Fijkl",
        "|  MNOP=qrst  |",
        json.dumps(KEY),
        json.dumps("grüße & co"),
        "gr%C3%BC%C3%9Fe+%26+co",
    ],
)
def test_every_form_is_found(known: Redaction, shown: str) -> None:
    for said in (known.redact(shown), redacted(shown)):
        assert "******" in said
        assert not [part for part in ("p4ss", "abcd", "MNOP", "gr", "cDRz") if part in said]


def test_a_secret_is_known_as_long_as_somebody_holds_it(known: Redaction) -> None:
    assert redacted("abcd+efgh/ijkl") == "******"
    del known
    assert "abcd" in redacted("abcd+efgh/ijkl") or Redaction().forms == frozenset()


@pytest.mark.parametrize("largest", [1, 7, 40, 5000])
def test_pieces_make_no_difference(known: Redaction, largest: int) -> None:
    text = (f"x {KEY}y p4ss'w\"ord p4ss'w\" abcd+efgh/ijkl abcd+efgh/ij " * 60).encode()
    randomly = random.Random(largest)  # noqa: S311
    stream, came, at = Stream(known.forms), b"", 0
    while at < len(text):
        size = randomly.randint(1, largest)
        came += stream.feed(text[at : at + size])
        at += size
    assert came + stream.finish() == known.redact(text.decode()).encode()


def test_who_waits_for_a_line_gets_it_at_once(known: Redaction) -> None:
    stream = Stream(known.forms)
    assert stream.feed(b"ready\n") == b"ready\n"
    assert stream.feed(b"as p4ss") == b"as "
    assert stream.feed(b"enger\n") == b"p4ssenger\n"


@pytest.mark.parametrize("size", [20, 41, 100])
def test_a_files_end_holds_no_end_of_a_secret(known: Redaction, tmp_path: Path, size: int) -> None:
    file = tmp_path / "said.txt"
    value = "0123456789abcdefghijklmnopqrstuvwxyz"
    known.add(value)
    for after in range(70):
        file.write_text("begin " * 500 + value + "." * after + f" {value}" * 3)
        said = tail(file, size)
        assert not [at for at in range(len(value) - 3) if value[at : at + 4] in said]
        assert said.endswith("******")
