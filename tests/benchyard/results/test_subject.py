"""The document of a subject: one digest, and differences that a person understands."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.core.model import Json, JsonObject, Outcome
from benchyard.results.record import RunRecord, read_record, write_record
from benchyard.results.subject import (
    Subject,
    about,
    commit_of,
    differences,
    digested,
    in_words,
    subject_of,
)

COMMITS = ("0123456789" * 4, "abcdefabcd" * 4)
SHA = ["sha256:" + digit * 64 for digit in "0123"]


def subject(**changes: Json) -> Subject:
    parts: JsonObject = {
        "case": {"hash": SHA[0], "point": ""},
        "classes": {"DuckDB": SHA[1]},
        "packages": {"lmdb": "1.6"},
        "versions": {"DuckDB": {"version": "1.2.2"}},
        "programs": {"sort": SHA[2]},
        "repositories": {"package mylib": {"commit": COMMITS[0], "changes": "none"}},
        "host": "a",
    }
    return digested({**parts, **changes})


def record(told: Subject, **facts: Json) -> RunRecord:
    when = "2026-11-20T00:00:00+00:00"
    case: JsonObject = {"hash": "sha256:0", "point": {}, **facts}
    return RunRecord(case, 1, Outcome.COMPLETED, when, when, 1.0, (), subject=told)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"case": {"hash": SHA[3], "point": ""}}, "files of the case"),
        ({"classes": {"DuckDB": SHA[3]}}, "code of DuckDB"),
        ({"packages": {"lmdb": "1.7"}}, "lmdb 1.6 and 1.7"),
        ({"versions": {"DuckDB": {"version": "2.0.0"}}}, "DuckDB 1.2.2 and 2.0.0"),
        ({"programs": {"sort": SHA[3]}}, "program sort"),
        (
            {"repositories": {"package mylib": {"commit": COMMITS[1], "changes": "none"}}},
            "commit of package mylib 0123456789 and abcdefabcd",
        ),
        (
            {"repositories": {"package mylib": {"commit": COMMITS[0], "changes": SHA[3]}}},
            "uncommitted changes in package mylib",
        ),
        ({"host": "b"}, "host a and b"),
    ],
)
def test_each_part_makes_another_subject_and_is_named(change: JsonObject, words: str) -> None:
    one, other = subject(), subject(**change)
    assert one["digest"] != other["digest"]
    assert in_words(differences(one, other)) == words


def test_what_nobody_knows_is_no_difference() -> None:
    unknown = subject(versions={"DuckDB": {"version": None}}, repositories={}, classes={})
    assert differences(subject(), unknown) == differences(unknown, subject()) == ()


LEAVES = st.none() | st.text(max_size=4)
SUBJECTS = st.fixed_dictionaries({}, optional=dict.fromkeys(("host", "x", "y"), LEAVES))


@given(SUBJECTS, SUBJECTS)
def test_differences_are_the_same_from_both_sides(one: JsonObject, other: JsonObject) -> None:
    there, back = differences(one, other), differences(other, one)
    assert {d.what for d in there} == {d.what for d in back}
    assert differences(one, one) == ()
    assert (digested(one) == digested(other)) == (one == other)


def test_an_older_record_tells_its_subject_as_far_as_it_knows(tmp_path: Path) -> None:
    old = record({}, hash=SHA[0])
    assert differences(subject_of(old), subject(host="a")) == ()
    assert in_words(differences(subject_of(old), subject(case={"hash": SHA[1]})))
    write_record(tmp_path, old)
    assert subject_of(read_record(tmp_path)) == subject_of(old)


def test_the_subject_survives_the_record(tmp_path: Path) -> None:
    write_record(tmp_path, record(subject()))
    assert read_record(tmp_path).subject == subject()


def test_a_subject_is_told_in_short() -> None:
    assert about(subject()) == "on a, commit 0123456789, DuckDB 1.2.2"
    dirty: JsonObject = {"package mylib": {"commit": COMMITS[0], "changes": SHA[0]}}
    assert commit_of(subject(repositories=dirty)) == "0123456789 with changes"
    assert commit_of(subject(repositories={})) is None
