"""One problem of many points of a matrix is told once, with the points that have it."""

from math import prod
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.case.inspection import AtPoints
from benchyard.case.problems import Finding
from tests.benchyard.case.test_loading import load_case, problems, step

SIXTEEN = {"a": [1, 2, 3, 4], "b": ["p", "q", "r", "s"]}


def told(folder: Path, matrix: dict[str, Any], **parameters: Any) -> list[tuple[str, str]]:
    return problems(load_case(folder, step(**parameters), matrix=matrix))


def test_messages_that_differ_in_the_values_alone_are_one(tmp_path: Path) -> None:
    [(_, message)] = told(tmp_path, SIXTEEN, reads="${matrix.b}-${matrix.a}.csv")
    assert message.startswith("there is no file 'p-1.csv'")
    assert message.endswith(", and no step makes it (at [a=1,b=p]; alike in all 16 points)")


@pytest.mark.parametrize("parent", ["pytest-2/popen-gw1", "p", "p/p-1.csv", "no/file/in", "{}"])
@pytest.mark.parametrize(
    ("matrix", "reads", "first"),
    [
        (SIXTEEN, "${matrix.b}-${matrix.a}.csv", "p-1.csv"),
        ({"a": ["1", "2", "p"]}, "${matrix.a}", "1"),
        ({"a": ["no", "file", "step", "it", "in"]}, "${matrix.a}", "no"),
        ({"a": ["no", "file", "step"]}, "in-step-${matrix.a}", "in-step-no"),
        ({"a": ["1", "2"], "b": ["1", "2"]}, "${matrix.b}", "1"),
    ],
)
def test_neither_the_folder_nor_our_words_are_taken_for_values(
    tmp_path: Path, parent: str, matrix: dict[str, Any], reads: str, first: str
) -> None:
    folder = tmp_path / parent
    folder.mkdir(parents=True)
    [(_, message)] = told(folder, matrix, reads=reads)
    shared = folder / "data" / "shared"
    count = prod(map(len, matrix.values()))
    assert message.startswith(f"there is no file '{first}' in {shared}, and no step makes it (at [")
    assert message.endswith(f"; alike in all {count} points)")


def test_values_of_other_places_are_known_too(tmp_path: Path) -> None:
    makes = step(makes="${matrix.n}-side.csv")
    loaded = load_case(tmp_path, makes, {**makes, "needs": []}, matrix={"n": ["by", "x"]})
    [(_, message)] = problems(loaded)
    assert message == (
        "steps 1 and 2 make 'by-side.csv' side by side; give each its own, or let one need the "
        "other (at [n=by]; alike in all 2 points)"
    )


def test_what_a_class_says_of_its_value_is_alike() -> None:
    merged = AtPoints({"it": "${matrix.n} GX"})
    for number in (2, 3):
        finding = ("it",), f"'{number} GX' is no size of 64-bit"
        merged.note({"n": number}, {"it": f"{number} GX"}, [finding])
    assert [*merged.findings()] == [
        (("it",), "'2 GX' is no size of 64-bit (at [n=2]; alike in all 2 points)")
    ]


def test_some_points_are_named_and_many_counted(tmp_path: Path) -> None:
    values = ["a", "b", "x", "y", "z"]
    [(_, few)] = told(tmp_path, {"mode": values}, mode="${matrix.mode}")
    assert few.startswith("must be one of a, b, not 'x' (at [mode=x]; alike in 3 of 5 points: ")
    assert few.endswith("[mode=x], [mode=y], [mode=z])")
    [(_, many)] = told(tmp_path, {"mode": [*values, "u", "v"]}, mode="${matrix.mode}")
    assert many.endswith("alike in 5 of 7 points: [mode=x], [mode=y], [mode=z], …)")


def test_two_problems_at_one_place_stay_two(tmp_path: Path) -> None:
    found = told(tmp_path, {"it": ["../up.csv", "gone.csv", "lost.csv"]}, reads="${matrix.it}")
    assert [message.partition(" (")[2] for _, message in found] == [
        "at [it=../up.csv])",
        "at [it=gone.csv]; alike in 2 of 3 points: [it=gone.csv], [it=lost.csv])",
    ]


SAID = st.tuples(st.sampled_from(["a", "b"]), st.sampled_from(["is v0", "is v1", "is bad"]))


@given(st.lists(st.lists(SAID, max_size=4), min_size=1, max_size=6))
def test_nothing_is_lost_and_nothing_is_told_twice(found: list[list[tuple[str, str]]]) -> None:
    merged = AtPoints({})
    for index, pairs in enumerate(found):
        findings: list[Finding] = [((place,), message) for place, message in pairs]
        merged.note({"v": f"v{index}"}, {}, findings)
    told_of = [*merged.findings()]
    assert len(set(told_of)) == len(told_of)
    assert {path for path, _ in told_of} == {(place,) for pairs in found for place, _ in pairs}
    bad = {place for pairs in found for place, said in pairs if said == "is bad"}
    assert {path[0] for path, said in told_of if said.startswith("is bad")} == bad
