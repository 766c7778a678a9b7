"""What is said of changes: kept line by line, about the series that it names."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from benchyard.results.annotations import (
    Annotation,
    AnnotationKind,
    annotate,
    read_annotations,
)
from benchyard.results.folders import ANNOTATIONS_FILE

SINCE = "2026-11-20T01:00:00+00:00"
ACCEPTED = Annotation(AnnotationKind.ACCEPTED, SINCE, SINCE, "Ada", "new compiler")


def test_annotations_are_read_as_they_were_written(tmp_path: Path) -> None:
    later = replace(ACCEPTED, kind=AnnotationKind.IGNORED, until="2026-12-01T00:00:00+00:00")
    for one in (ACCEPTED, later):
        annotate(tmp_path, one)
    assert read_annotations(tmp_path) == ([ACCEPTED, later], [])


def test_without_a_file_nothing_is_said(tmp_path: Path) -> None:
    assert read_annotations(tmp_path) == ([], [])


def test_a_damaged_line_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    file = tmp_path / ANNOTATIONS_FILE
    annotate(tmp_path, ACCEPTED)
    lines = ['{"version":9}', '{"version":1,"kind":"liked"}', "", '{"version":1,"kind":"acc']
    file.write_text(file.read_text() + "\n".join(lines))
    annotate(tmp_path, ACCEPTED)
    found, problems = read_annotations(tmp_path)
    assert found == [ACCEPTED, ACCEPTED]
    assert [text.split(":")[0] for text in problems] == [f"{file} line {n}" for n in (2, 3, 5)]


def test_a_moment_without_a_zone_is_refused(tmp_path: Path) -> None:
    annotate(tmp_path, replace(ACCEPTED, since="2026-11-20T01:00:00"))
    found, problems = read_annotations(tmp_path)
    assert not found
    assert "time zone" in problems[0]


def test_it_is_about_the_named_series_alone() -> None:
    one = replace(ACCEPTED, step="load*", metric="duration_s", host="h1")
    assert one.is_about("load-2", "duration_s", "h1")
    assert not one.is_about("query", "duration_s", "h1")
    assert not one.is_about("load-2", "cpu_s", "h1")
    assert not one.is_about("load-2", "duration_s", "h2")
    assert ACCEPTED.is_about("query", "cpu_s", "h2")


def test_it_holds_until_its_end() -> None:
    one = replace(ACCEPTED, until="2026-12-01T00:00:00+00:00")
    assert one.holds(datetime(2026, 11, 30, tzinfo=UTC))
    assert not one.holds(datetime(2026, 12, 1, tzinfo=UTC))
    assert ACCEPTED.holds(datetime(2030, 1, 1, tzinfo=UTC))
    assert str(one) == "accepted until 2026-12-01 00:00:00 UTC by Ada: new compiler"
