"""The data inside of a report: what was put in comes out, and nothing else gets in."""

import base64
import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.errors import InputError
from benchyard.results.excerpt import (
    BEGIN,
    END,
    ReportSide,
    Run,
    data_document,
    is_report,
    read_report,
)
from benchyard.results.record import RunRecord
from benchyard.results.subject import digest_of
from benchyard.web.report.document import in_script
from tests.benchyard.analysis.comparison.conftest import runs

DIGEST = "0" * 64


def lines(records: list[RunRecord]) -> list[str]:
    return [json.dumps(record.to_json()) + "\n" for record in records]


def document(records: list[RunRecord], side: str = "old") -> dict[str, Any]:
    listed = [Run(record.run, done=True, sha256=DIGEST) for record in records]
    sides = [ReportSide(side, tuple(range(len(records))))]
    return data_document(sides, listed, lines(records))


def report(folder: Path, told: Mapping[str, Any], around: bytes = b"") -> Path:
    file = folder / "report.html"
    file.write_bytes(b"<!doctype html>" + around + BEGIN + in_script(dict(told)).encode() + END)
    return file


def resealed(told: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """Change a document, and its digest too, as somebody would who knows how."""
    body = {name: value for name, value in told.items() if name != "digest"} | changed
    return {**body, "digest": digest_of(body)}


def refused(file: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_report(file)
    assert str(caught.value).startswith(str(file))
    return str(caught.value)


def test_what_was_put_in_comes_out(tmp_path: Path) -> None:
    records = runs(1.0, 2.0, 3.0)
    found = read_report(report(tmp_path, document(records)))
    assert list(found.records) == records
    assert [side.name for side in found.sides] == ["old"]
    assert [run.sha256 for run in found.runs] == [DIGEST] * 3


def test_the_same_records_give_the_same_text() -> None:
    assert in_script(document(runs(1.0))) == in_script(document(runs(1.0)))


@pytest.mark.parametrize(
    "name", ["</script><script>alert(1)</script>", "<!--<script>", "a\udcff", "]]>"]
)
def test_a_name_ends_no_script(tmp_path: Path, name: str) -> None:
    text = in_script(document(runs(1.0), side=name))
    assert "<" not in text
    assert read_report(report(tmp_path, document(runs(1.0), side=name))).sides[0].name == name


def test_a_change_and_another_version_are_told(tmp_path: Path) -> None:
    told = document(runs(1.0, 2.0))
    assert "newer Benchyard" in refused(report(tmp_path, resealed(told, version=99)))
    told["runs"][0]["sha256"] = "1" * 64
    assert "changed, or damaged" in refused(report(tmp_path, told))


def test_what_is_no_report_is_told(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    twice = report(tmp_path, document(runs(1.0))).read_bytes() * 2
    for content, said in (
        (b"<html>", "no report of Benchyard"),
        (BEGIN + b"{" + END, "cannot be read"),
        (BEGIN + b"[1]" + END, "no object"),
        (twice, "no report"),
    ):
        file.write_bytes(content)
        assert said in refused(file)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    file = report(tmp_path, document(runs(1.0)), around=b" " * 4_000_000)
    assert "more than 4,000,000 bytes" in refused(file)


def test_records_that_unpack_to_gigabytes_are_refused(tmp_path: Path) -> None:
    bomb = base64.b64encode(gzip.compress(b" " * 101_000_000, 9, mtime=0)).decode()
    told = resealed(document(runs(1.0)), records=bomb)
    assert "larger than any report's" in refused(report(tmp_path, told))


def test_damage_within_right_digests_is_a_sentence(tmp_path: Path) -> None:
    told = document(runs(1.0))
    packed = base64.b64encode(gzip.compress(b"{}\n", mtime=0)).decode()
    changes: list[dict[str, Any]] = [
        {"records": "%%"},
        {"records": packed},
        {"records": base64.b64encode(b"plain").decode()},
        {"records": told["records"][:-8]},
        {"runs": [{"run": 7, "done": True, "sha256": DIGEST}]},
        {"runs": []},
        {"sides": [{"name": "x", "runs": [5], "step": None}]},
        {"sides": [{"name": "x", "runs": [-1], "step": None}]},
        {"sides": 3},
    ]
    for changed in changes:
        assert "\n" not in refused(report(tmp_path, resealed(told, **changed)))


def test_a_report_is_known_by_its_name(tmp_path: Path) -> None:
    assert is_report(report(tmp_path, {}))
    others = tmp_path, tmp_path / "none.html", Path("x" * 5000 + ".html"), Path("a\0.html")
    assert not any(map(is_report, others))
