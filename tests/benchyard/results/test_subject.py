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
    in_full,
    in_words,
    package_changes,
    subject_of,
)

COMMITS = ("0123456789" * 4, "abcdefabcd" * 4)
SHA = ["sha256:" + digit * 64 for digit in "0123"]


def mylib(commit: str, changes: str = "none") -> JsonObject:
    return {"repositories": {"package mylib": {"commit": commit, "changes": changes}}}


def subject(**changes: Json) -> Subject:
    parts: JsonObject = {
        "case": {"hash": SHA[0], "point": ""},
        "classes": {"DuckDB": SHA[1]},
        "packages": {"lmdb": "1.6"},
        "versions": {"DuckDB": {"version": "1.2.2"}},
        "programs": {"sort": SHA[2]},
        **mylib(COMMITS[0]),
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
        (mylib(COMMITS[1]), "commit of package mylib 0123456789 and abcdefabcd"),
        (mylib(COMMITS[0], SHA[3]), "uncommitted changes in package mylib"),
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
    assert commit_of(subject(**mylib(COMMITS[0], SHA[0]))) == "0123456789 with changes"
    assert commit_of(subject(repositories={})) is None


# -- packages: what was imported decides, and what is installed where nobody knows that

PACKAGES = ("a 1 and 2", "b not installed and 1", "c 1 and not installed")


def with_packages(installed: dict[str, Json], *imported: str) -> Subject:
    used: Json = {"R": {name: installed[name] for name in imported}}
    more: dict[str, Json] = {"imported": used} if imported else {}
    return subject(environments={"R": installed}, **more)


def words(before: Subject, after: Subject) -> tuple[list[str], list[str]]:
    """Return the changes that decide, and those that do not."""
    changes = [package_changes(before, after, decisive=decisive) for decisive in (True, False)]
    assert differences(before, after) == changes[0]
    return [*map(str, changes[0])], [*map(str, changes[1])]


def test_all_installed_packages_decide_where_no_imports_are_known() -> None:
    before, after = with_packages({"a": "1", "c": "1"}), with_packages({"a": "2", "b": "1"})
    assert words(before, after) == ([*PACKAGES], [])


@pytest.mark.parametrize("later", [(), ("a",)])
def test_imported_packages_decide_alone(later: tuple[str, ...]) -> None:
    before = with_packages({"a": "1", "c": "1"}, "a")
    after = with_packages({"a": "2", "b": "1"}, *later)
    assert words(before, after) == ([PACKAGES[0]], [*PACKAGES[1:]])
    backwards = words(after, before)
    assert backwards == (["a 2 and 1"], ["b 1 and not installed", "c not installed and 1"])


def test_another_import_is_another_subject() -> None:
    installed: dict[str, Json] = {"a": "1", "b": "1"}
    before, after = with_packages(installed, "a"), with_packages(installed, "a", "b")
    assert words(before, after) == (["b not imported and 1"], [])


def test_an_import_from_elsewhere_is_no_difference_before_it_is_known_again() -> None:
    before = subject(environments={"R": {"a": "1"}}, imported={"R": {"hidden": "1"}})
    assert words(before, with_packages({"a": "1"})) == ([], [])


def test_a_subject_without_packages_tells_of_no_difference() -> None:
    assert words(subject(), with_packages({"a": "1"}, "a")) == ([], [])
    assert words(with_packages({"a": "1"}), subject()) == ([], [])


def test_code_of_one_version_is_shown_where_the_versions_are_equal() -> None:
    versions = ("1.0 (commit 01)", "1.0 (commit 02)", "2.0 (commit 03)")
    first, second, third = (with_packages({"a": version}) for version in versions)
    assert words(first, second)[0] == ["a 1.0 (commit 01) and 1.0 (commit 02)"]
    assert words(first, third)[0] == ["a 1.0 and 2.0"]


def test_a_clause_names_eight_differences_and_counts_the_rest() -> None:
    sides = [with_packages({f"p{n}": version for n in range(20)}) for version in "12"]
    clause = in_words(differences(*sides))
    assert clause.endswith(", 12 more")
    assert clause.count(" and ") == 8


def test_a_report_has_imported_packages_and_not_the_whole_environment() -> None:
    parts = in_full(with_packages({"a": "1", "b": "1"}, "a"))
    assert parts["a"] == "1"
    assert "b" not in parts
