"""Sides that are read back from a report."""

from pathlib import Path

import pytest

from benchyard.analysis.comparison.places import open_results
from benchyard.analysis.comparison.request import pair_sides
from benchyard.analysis.comparison.run_sets import RunSelection
from benchyard.analysis.comparison.sides import (
    Places,
    Side,
    means_several,
    read_sides,
)
from benchyard.core.errors import InputError
from benchyard.core.model import Outcome
from benchyard.results.record import RunRecord
from benchyard.web.report.document import report_of
from tests.benchyard.analysis.comparison.conftest import (
    BASE,
    place,
    queries,
    run,
    run_set,
    runs,
    step,
    titled,
)


def write(file: Path, *shown: tuple[str, list[RunRecord]]) -> Path:
    made = report_of([(name, run_set(records, name)) for name, records in shown])
    file.write_text(made.html)
    return file


def read(*texts: object) -> list[Side]:
    return read_sides([*map(str, texts)], Places(Path()))


def test_a_report_of_one_side_is_a_side(tmp_path: Path) -> None:
    failed = run(9, step(outcome=Outcome.FAILED))
    file = write(tmp_path / "r.html", ("old", [*runs(*BASE), failed]))
    [side] = read(file)
    assert side.name == str(file)
    [one] = side.cases.values()
    assert one.numbers == tuple(range(1, 9))
    assert [record.run for record in one.failed] == [9]
    assert not means_several(str(file))


def test_some_of_its_runs_and_points_may_be_named(tmp_path: Path) -> None:
    records = [
        *runs(*BASE[:3], **titled("a[n=1]", point={"n": 1})),
        *runs(*BASE[:3], **titled("a[n=2]", point={"n": 2})),
    ]
    shown = [("all", run_set(records[:3], "one")), ("all", run_set(records[3:], "two"))]
    file = tmp_path / "r.html"
    file.write_text(report_of(shown).html)
    [side] = read(f"{file}[n=2]@1,3")
    assert [one.numbers for one in side.cases.values()] == [(1, 3)]
    assert [side.name for side in read(f"{file}[n=*]")] == ["n=1", "n=2"]
    with pytest.raises(InputError, match="has no run 7; it has 1-3"):
        read(f"{file}[n=2]@7")


def test_two_sides_of_one_report_are_compared(tmp_path: Path) -> None:
    file = write(tmp_path / "r.html", ("old", runs(*BASE)), ("new", runs(*BASE)))
    sides = read(file)
    assert [side.name for side in sides] == ["old", "new"]
    [pairs] = pair_sides(sides, {})
    assert not pairs.both[0][0].is_of_same_runs(pairs.both[0][1])
    with pytest.raises(InputError, match=r"is about 2 sides \(old, new\)"):
        open_results(RunSelection(file))


def test_steps_of_the_same_runs_stay_so(tmp_path: Path) -> None:
    results = place(tmp_path / "results", queries({"q1": BASE, "q2": BASE}))
    sides = read(f"{results}:q1", f"{results}:q2")
    file = tmp_path / "r.html"
    shown = [(side.name, one) for side in sides for one in side.cases.values()]
    file.write_text(report_of(shown).html)
    again = read(file)
    assert [side.step for side in again] == ["q1", "q2"]
    [pairs] = pair_sides(again, {})
    assert pairs.both[0][0].is_of_same_runs(pairs.both[0][1])
