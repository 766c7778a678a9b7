"""Compact results: small, and compared exactly as what they were made of."""

import json
import zlib
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchyard.analysis.compacting import compact_json, write_compact
from benchyard.analysis.comparison.document import document
from benchyard.analysis.comparison.run_sets import RunSet, parse_selection, read_run_sets
from benchyard.analysis.comparison.verdicts import Rule, compare
from benchyard.core.errors import InputError
from benchyard.core.model import Json
from benchyard.results.record import ErrorRecord, PhaseRecord, RunRecord, read_record
from tests.benchyard.analysis.comparison.conftest import (
    failed,
    place,
    run,
    runs,
    select,
    step,
    titled,
)
from tests.conftest import tree

#: As many counters as the lab reads of a process, some of them unknown.
USED = {f"resource_counter_{n}_bytes": None if n % 3 == 0 else n * 1e6 / 7 for n in range(60)}
VALUES: dict[str, Json] = {"rows": 7, "plan": ["scan", "sort"], "ok": True, "run_s": 0.5}


def records(factor: float) -> list[RunRecord]:
    """Make runs with all that a record may have, the last of them failed."""
    made = [
        run(
            n,
            step(factor * n, factor * (n + 1), warmups=2, used=USED, values=VALUES),
            step(factor, name="sort", index=2, suspect=("swapped",)),
            preflight=({"check": "governor", "status": "warn", "finding": "f", "advice": "a"},),
            phases=(PhaseRecord("start", "SQLite", 1, 0.0, 1.0, failed().outcome),),
            variables={"HOME": "/home/me"},
            **titled("tpch", folder="/home/me/tpch", description="d"),
        )
        for n in range(1, 7)
    ]
    error = ErrorRecord("ResourceError", "no such table in /home/me")
    return [*made, run(7, failed(reason="secret"), error=error)]


def sets(folder: Path) -> dict[str, RunSet]:
    return read_run_sets(parse_selection(str(folder)))


def compared(one: Path, other: Path) -> Any:
    told: Any = document(compare(select(one, other), Rule(metrics=("all",))), ["one", "other"])
    for case in told["cases"]:
        del case["baseline"]["results"], case["candidate"]["results"]
    return told


def test_they_are_compared_as_the_results_themselves(tmp_path: Path) -> None:
    one, other = place(tmp_path / "1", records(1.0)), place(tmp_path / "2", records(2.0))
    small = [tmp_path / "compact" / results.name for results in (one, other)]
    for results, folder in zip((one, other), small, strict=True):
        write_compact(sets(results), folder)
    told = compared(one, other)
    assert len(told["comparisons"]) > 40
    assert compared(*small) == told
    assert compared(small[0], other) == told


def test_the_same_runs_give_the_same_files(tmp_path: Path) -> None:
    results = sets(place(tmp_path / "results", records(1.0)))
    (made,) = write_compact(results, tmp_path / "a")
    write_compact(results, tmp_path / "b")
    assert tree(tmp_path / "a") == tree(tmp_path / "b")
    assert made.runs == (1, 2, 3, 4, 5, 6)
    again = write_compact(sets(tmp_path / "a"), tmp_path / "c")
    assert tree(tmp_path / "c") == tree(tmp_path / "a")
    assert again[0].sizes == made.sizes


def test_nothing_tells_of_paths_errors_or_variables(tmp_path: Path) -> None:
    write_compact(sets(place(tmp_path / "results", records(1.0))), tmp_path / "compact")
    for content in tree(tmp_path / "compact").values():
        assert b"/home/me" not in str(content).encode()
        assert b"secret" not in str(content).encode()


def test_a_run_of_a_hundred_steps_is_small_as_git_keeps_it() -> None:
    drawn = Random(1)  # noqa: S311 - no secret
    used = [{n: v and drawn.random() * 1e6 for n, v in USED.items()} for _ in range(100)]
    steps = [step(drawn.random(), name=f"q{n}", index=n, used=one) for n, one in enumerate(used)]
    record = run(1, *steps)
    whole, times = (compact_json(record, one).encode() for one in (("all",), ("duration_s",)))
    assert len(times) < len(whole) / 4 < len(json.dumps(record.to_json())) / 5
    # Digits drawn at random: no real counters are so hard to compress.
    assert len(zlib.compress(times)) < 10_000
    assert len(zlib.compress(whole)) < 60_000


def test_a_run_of_eleven_steps_is_small_with_all_counters() -> None:
    steps = [step(0.1 / n, name=f"q{n}", index=n, used=USED) for n in range(1, 12)]
    assert len(compact_json(run(1, *steps))) < 30_000


def test_only_the_metrics_that_are_named_are_kept(tmp_path: Path) -> None:
    results = sets(place(tmp_path / "results", records(1.0)))
    write_compact(results, tmp_path / "compact", ("r*s",))
    kept = read_record(tmp_path / "compact" / "tpch" / "run_1").steps[0].measured[0]
    assert kept.values == {"rows": 7, "run_s": 0.5}
    assert all(name.startswith("resource_") for name in kept.used)


def test_what_is_reported_keeps_its_name(tmp_path: Path) -> None:
    """A value is ``reported_…`` beside a counter of its name, even beside one that is unknown."""
    used, values = {"resource_cpu_s": None}, {"resource_cpu_s": 3}
    made = [run(n, step(1.0 + n, used=used, values=values)) for n in range(1, 7)]
    one, other = place(tmp_path / "1", made), place(tmp_path / "2", made)
    write_compact(sets(one), tmp_path / "compact")
    metrics = {row["metric"] for row in compared(tmp_path / "compact", other)["comparisons"]}
    assert metrics == {"duration_s", "reported_resource_cpu_s"}


def test_points_and_hostile_names_have_folders_of_their_own(tmp_path: Path) -> None:
    titles = ["a[n=1]", "../../b", "B/b", "b-b", "x" * 300]
    for number, title in enumerate(titles):
        name, point = ("a", {"n": 1}) if title.startswith("a[") else (title, {})
        case = {"name": name, "title": title, "point": point}
        place(tmp_path / "all" / str(number), runs(1.0, case=case))
    made = write_compact(sets(tmp_path / "all"), tmp_path / "deep" / "compact")
    assert {one.title for one in made} == set(titles)
    assert len({one.folder for one in made}) == len(titles)
    below = (tmp_path / "deep" / "compact").resolve()
    assert all(one.folder.resolve().is_relative_to(below) for one in made)
    assert set(sets(below)) == set(titles)


def test_earlier_compact_runs_are_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "compact"
    write_compact(sets(place(tmp_path / "1", runs(1.0, 2.0, 3.0))), folder)
    write_compact(sets(place(tmp_path / "2", runs(4.0))), folder)
    (left,) = sets(folder).values()
    assert left.numbers == (1,)


@pytest.mark.parametrize("name", ["notes.txt", "run_1/log.txt", "run_x/run.json"])
def test_what_is_not_compact_is_not_replaced(tmp_path: Path, name: str) -> None:
    results = sets(place(tmp_path / "results", runs(1.0)))
    foreign = tmp_path / "compact" / "tpch" / name
    foreign.parent.mkdir(parents=True)
    foreign.write_text("mine")
    before = tree(tmp_path / "compact")
    with pytest.raises(InputError, match="is no compact run, and stays"):
        write_compact(results, tmp_path / "compact")
    assert tree(tmp_path / "compact") == before
