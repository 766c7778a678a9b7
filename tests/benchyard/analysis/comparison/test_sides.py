"""What a side may be, and which cases and steps of the sides are paired."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchyard.analysis.comparison.request import Against, pair_sides
from benchyard.analysis.comparison.rows import Rule
from benchyard.analysis.comparison.sides import Places, Side, read_sides
from benchyard.analysis.comparison.tables import table
from benchyard.analysis.comparison.verdicts import compare_sides
from benchyard.core.errors import InputError
from benchyard.core.model import Json, point_suffix
from benchyard.results.record import RunRecord
from benchyard.statistics.comparison import Verdict
from tests.benchyard.analysis.comparison.conftest import BASE, place, queries, run, step, titled


def case(root: Path, name: str, points: Sequence[Mapping[str, Json]] = ({},)) -> Path:
    """Make a case of two steps with eight runs at each point of its matrix."""
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "metadata.json").write_text(json.dumps({"name": name}))
    for point in points:
        place(folder / "results" / point_suffix(point)[1:-1], at(name, point))
    return folder


def at(name: str, point: Mapping[str, Json]) -> list[RunRecord]:
    facts = titled(name, point=point)
    facts["case"]["title"] = name + point_suffix(point)
    return [
        run(n, step(v, name="q1"), step(3 * v, name="q2", index=2), **facts)
        for n, v in enumerate(BASE, 1)
    ]


GRID = [{"scale": scale, "threads": threads} for scale in (1, 2) for threads in (10, 2)]


def sides(root: Path, *texts: str) -> list[Side]:
    return read_sides(texts, Places(root))


def told(found: Sequence[Side]) -> dict[str, list[str]]:
    return {side.name: list(side.cases) for side in found}


def refused(root: Path, *texts: str) -> str:
    with pytest.raises(InputError) as error:
        sides(root, *texts)
    return str(error.value)


def test_a_side_is_a_case_by_name_by_folder_or_one_with_some_of_its_runs(tmp_path: Path) -> None:
    folder = case(tmp_path / "deep", "words")
    by_name, by_folder, some = sides(tmp_path, "words", str(folder), "words@1-3,8")
    assert list(by_name.cases) == list(by_folder.cases) == ["words"]
    assert some.cases["words"].numbers == (1, 2, 3, 8)
    assert some.name == "words@1-3,8"


def test_results_that_lie_elsewhere_are_found_by_the_case(tmp_path: Path) -> None:
    case(tmp_path / "cases", "words")
    (tmp_path / "cases" / "words" / "results").rename(tmp_path / "kept")
    (tmp_path / "else").mkdir()
    (tmp_path / "kept").rename(tmp_path / "else" / "words")
    places = Places(tmp_path / "cases", tmp_path / "else")
    [side] = read_sides(["words"], places)
    assert side.cases["words"].folder == tmp_path / "else" / "words"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("m[scale=1,threads=10]", ["m[scale=1,threads=10]"]),
        ("m[threads=10,scale=1]", ["m[threads=10,scale=1]"]),
        ("m[threads=*]", ["threads=2", "threads=10"]),
        ("m[scale=1,threads=*]", ["threads=2", "threads=10"]),
        (
            "m[*]",
            [
                *("scale=1,threads=2", "scale=1,threads=10"),
                *("scale=2,threads=2", "scale=2,threads=10"),
            ],
        ),
        ("m:q*", ["q1", "q2"]),
        ("m[scale=1,threads=?]:q2", ["threads=2"]),
    ],
)
def test_points_and_steps_are_sides_each_match_of_a_sign_its_own(
    tmp_path: Path, text: str, names: list[str]
) -> None:
    case(tmp_path, "m", GRID)
    assert [side.name for side in sides(tmp_path, text)] == names


def test_sides_of_one_name_are_told_by_all_that_was_written(tmp_path: Path) -> None:
    case(tmp_path, "a", GRID)
    case(tmp_path, "b", GRID)
    names = [side.name for side in sides(tmp_path, "a[threads=*]", "b[threads=*]")]
    assert names == ["a[threads=2]", "a[threads=10]", "b[threads=2]", "b[threads=10]"]
    assert list(told(sides(tmp_path, "?"))) == ["a", "b"]


def test_what_means_nothing_is_told_with_what_there_is(tmp_path: Path) -> None:
    case(tmp_path / "x", "words", GRID)
    case(tmp_path / "y", "words")
    assert "is the name of the cases in" in refused(tmp_path, "words")
    root = tmp_path / "y"
    assert "did you mean 'words'?" in refused(root, "wrods")
    assert "is no folder" in refused(root, "[mo]")
    assert "there is no matrix" in refused(root, "words[threads=1]")
    assert "no step is 'q3'; did you mean 'q" in refused(root, "words:q3")
    assert "is no set of runs" in refused(root, "words@x")
    assert "has no run 9" in refused(root, "words@9")
    assert "no runs at such a point" in refused(tmp_path / "x", "words[threads,scale=1]")
    assert "an empty text names no side" in refused(root, "")
    assert "names no step, others do" in refused(root, "words:q1", "words")


@settings(max_examples=40)
@given(st.text("m[]=,*?@:1-q\x00\n\u00e9 ", max_size=12))
def test_whatever_is_written_is_a_side_or_wrong_input(text: str) -> None:
    with TemporaryDirectory() as root:
        case(Path(root), "m", [{"m": 1}])
        with suppress(InputError):
            assert all(side.cases for side in sides(Path(root), text))


# -- pairing


def paired(
    found: Sequence[Side], *, against: Against = Against.REFERENCE, **steps: str
) -> list[list[str]]:
    return [
        [two.baseline, two.candidate, *(f"{a.title} {b.title}" for a, b in two.both)]
        for two in pair_sides(found, steps, against)
    ]


def test_points_are_paired_by_the_rest_of_the_matrix(tmp_path: Path) -> None:
    case(tmp_path, "m", GRID)
    case(tmp_path, "other", GRID[:2])
    assert paired(sides(tmp_path, "m[threads=*]")) == [
        [
            *("threads=2", "threads=10"),
            "m[scale=1,threads=2] m[scale=1,threads=10]",
            "m[scale=2,threads=2] m[scale=2,threads=10]",
        ]
    ]
    [two] = pair_sides(sides(tmp_path, "m", "other"), {})
    assert [(one.title, other.title) for one, other in two.both] == [
        ("m[scale=1,threads=2]", "other[scale=1,threads=2]"),
        ("m[scale=1,threads=10]", "other[scale=1,threads=10]"),
    ]
    assert len(two.baseline_only) == 2


def test_a_run_is_on_one_side_only_but_for_other_steps(tmp_path: Path) -> None:
    case(tmp_path, "m")
    with pytest.raises(InputError, match="is on both sides"):
        pair_sides(sides(tmp_path, "m:q1", "m:q1"), {})
    with pytest.raises(InputError, match="is on both sides"):
        pair_sides(sides(tmp_path, "m@1-5:q1", "m@3-8:q2"), {})


def test_steps_of_the_same_runs_are_compared_in_pairs_and_never_a_regression(
    tmp_path: Path,
) -> None:
    case(tmp_path, "m")
    both = compare_sides(pair_sides(sides(tmp_path, "m:q1", "m:q2"), {}), Rule(other_work=True))
    [row] = both.rows
    assert (row.baseline.id, row.candidate.id) == ("q1", "q2")
    assert (row.verdict, row.pair.of_same_runs) == (Verdict.CHANGE, True)
    assert row.difference.p_value == 2 / 2**8
    # Each run takes three times as long for the second one.
    assert row.difference.ratio_interval.low == pytest.approx(3)
    assert both.pairs[0].mismatches == ()


# -- the table


def test_of_several_sides_each_step_has_a_line_for_each(tmp_path: Path) -> None:
    for name, factor in (("a", 1.0), ("b", 1.0), ("c", 9.0)):
        place(tmp_path / name, queries({s: [factor * v for v in BASE] for s in ("q1", "q2")}))
    found = sides(tmp_path, *"abc")
    both = compare_sides(pair_sides(found, {}), Rule())
    rows = table(both).records()
    verdicts = ["reference", "no difference shown", "9 times slower"]
    assert [row["STEP"] for row in rows[::3]] == ["all 2 steps", "Q1", "Q2"]
    assert [row["SIDE"] for row in rows] == [*"abc"] * 3
    assert [row["VERDICT"] for row in rows] == verdicts * 3
    assert both.count(Verdict.REGRESSION) == 2
    assert both.tested == 4
    every = table(compare_sides(pair_sides(found, {}, Against.ALL), Rule()))
    assert "Against" in every.heads


def test_a_sign_does_not_stand_for_set_up(tmp_path: Path) -> None:
    steps = (step(9.0, name="generate", measure=False), step(1.0), step(2.0, name="sort"))
    place(tmp_path / "words", [run(1, *steps)])
    sides = read_sides([f"{tmp_path}/words:*"], Places(tmp_path))
    assert [side.step for side in sides] == ["load", "sort"]
    assert read_sides([f"{tmp_path}/words:generate"], Places(tmp_path))[0].step == "generate"
