"""Which cases the user means."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchyard.case.loading import Loaded, find_cases, likely_title, one_case
from benchyard.core.errors import CaseError, InputError
from tests.benchyard.case.toys import REGISTRY


def write(folder: Path, name: str, **keys: Any) -> None:
    folder.mkdir(parents=True)
    steps = [{"resource": "Toy", "command": "play"}]
    (folder / "metadata.json").write_text(json.dumps({"name": name, "steps": steps, **keys}))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "cases"
    write(folder / "first", "sort-first", tags=["quick", "sort"])
    write(folder / "group" / "second", "sort-second", tags=["sort"])
    write(folder / "group" / "third", "join", matrix={"n": [1, 2], "fast": [True, False]})
    write(folder / "broken", "sort-broken", tags=["sort"], matrix=5)
    return folder


def titles(loaded: Sequence[Loaded]) -> list[str]:
    return [t for item in loaded for t in ([c.title for c in item.cases] or [f"!{item.name}"])]


def select(root: Path, *wanted: str, tags: Sequence[str] = ()) -> list[str]:
    return titles(find_cases(root, wanted, tags, REGISTRY))


POINTS = ["join[n=1,fast=true]", "join[n=1,fast=false]", "join[n=2,fast=true]"]
JOINS = [*POINTS, "join[n=2,fast=false]"]


def test_without_a_selection_all_cases_are_meant(root: Path) -> None:
    assert select(root) == ["!sort-broken", "sort-first", "sort-second", *JOINS]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (["sort-first"], ["sort-first"]),
        (["join"], JOINS),
        (["join[n=2,fast=true]"], ["join[n=2,fast=true]"]),
        (["sort-*"], ["!sort-broken", "sort-first", "sort-second"]),
        (["*-second", "join*fast=false*"], ["sort-second", JOINS[1], JOINS[3]]),
        (["cases/group"], ["sort-second", *JOINS]),
        (["cases/first/metadata.json"], ["sort-first"]),
        (["cases/group/third[n=1,fast=false]"], ["join[n=1,fast=false]"]),
        (["sort-first", "cases/first", "sort-f*"], ["sort-first"]),
        (["join[n=2,fast=true]", "join[n=1,fast=true]"], ["join[n=2,fast=true]", JOINS[0]]),
        (["sort-second", "sort-first"], ["sort-second", "sort-first"]),
        (["sort-broken"], ["!sort-broken"]),
    ],
)
def test_cases_are_selected_by_name_glob_path_and_point(
    root: Path, wanted: list[str], found: list[str]
) -> None:
    assert select(root, *wanted) == found


def test_a_path_may_be_absolute_and_outside_of_the_root(root: Path, tmp_path: Path) -> None:
    write(tmp_path / "elsewhere", "other")
    assert select(root, str(tmp_path / "elsewhere")) == ["other"]


def test_a_folder_named_like_a_point_is_a_folder(root: Path, tmp_path: Path) -> None:
    write(tmp_path / "odd[n=1]", "odd")
    assert select(root, "odd[n=1]") == ["odd"]


def test_defect_27_tags_leave_no_invalid_case_out(root: Path) -> None:
    assert select(root, tags=["sort"]) == ["!sort-broken", "sort-first", "sort-second"]


def test_tags_must_all_be_there(root: Path) -> None:
    assert select(root, tags=["sort", "quick"]) == ["sort-first"]
    assert select(root, "sort-s*", tags=["sort"]) == ["sort-second"]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (["sort-frist"], "no case is 'sort-frist'; did you mean 'sort-first'?"),
        (["SORT-FIRST"], "no case is 'SORT-FIRST'; did you mean 'sort-first'?"),
        (["join[n=3,fast=true]"], "no case is 'join[n=3,fast=true]'; did you mean 'join["),
        (["cases/group/third[n=7]"], "no case is 'cases/group/third[n=7]'"),
        (["sort-first", "zzzz*"], "no case is 'zzzz*'; known: "),
        (["x" * 5_000], "no case is 'xxx"),
        (["x" * 300 + "[n=1]"], "no case is 'xxx"),
        (["nul\x00"], "no case is 'nul"),
        ([""], "an empty text selects no case"),
        (["  "], "an empty text selects no case"),
        (["empty"], "'empty' holds no metadata.json"),
        ([], "no selected case has the tag 'sort' and 'slow'"),
    ],
)
def test_what_selects_nothing_names_the_nearest(
    root: Path, tmp_path: Path, wanted: list[str], message: str
) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError) as raised:
        select(root, *wanted, tags=() if wanted else ("sort", "slow"))
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize("name", ["absent", "cases/first/metadata.json"])
def test_a_root_that_is_no_folder_is_an_error(root: Path, name: str) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        find_cases(root.parent / name, (), (), REGISTRY)


def test_a_root_may_be_a_glob_over_folders(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root / "other" / "second", "sort-other")
    assert select(Path("cases/*/second")) == ["sort-second", "sort-other"]
    assert select(root / "*" / "second", "sort-other") == ["sort-other"]
    monkeypatch.chdir(root / "first")
    assert select(Path("../gr*")) == ["sort-second", *JOINS]
    assert select(Path("../**/second")) == ["sort-second", "sort-other"]
    with pytest.raises(InputError, match="there is no folder"):
        select(tmp_path / "none*")


def test_one_case(root: Path) -> None:
    assert one_case(root, "sort-first", REGISTRY).name == "sort-first"
    assert one_case(root, "join[n=1,fast=true]", REGISTRY).point == {"n": 1, "fast": True}
    with pytest.raises(InputError, match=r"'join' means 4 cases \(join\[n=1,fast=true\], "):
        one_case(root, "join", REGISTRY)
    with pytest.raises(CaseError, match=r"\$\.matrix: must be an object, not a number"):
        one_case(root, "sort-broken", REGISTRY)


def test_a_likely_title_is_read_without_looking_whether_the_case_is_valid(tmp_path: Path) -> None:
    folder = tmp_path / "tpch" / "sqlite"
    folder.mkdir(parents=True)
    (folder / "metadata.json").write_text('{"name": "tpch-sqlite"}')
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "metadata.json").write_text("{")

    for text in (str(folder), "tpch/sqlite", f"{folder}/metadata.json"):
        assert likely_title(tmp_path, text) == "tpch-sqlite"
    assert likely_title(tmp_path, "tpch/sqlite[scale=0.1]") == "tpch-sqlite[scale=0.1]"
    for text in ("tpch-sqlite[scale=0.1]", "tpch", "broken", "", "x" * 5000, "a\0b"):
        assert likely_title(tmp_path, text) == text
