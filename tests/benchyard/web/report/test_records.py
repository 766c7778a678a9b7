"""The data of a report: small, and compared exactly as what they were made of."""

from pathlib import Path
from random import Random
from typing import Any

from benchyard.analysis.comparison.document import document
from benchyard.analysis.comparison.places import open_results
from benchyard.analysis.comparison.request import pair
from benchyard.analysis.comparison.rows import Rule
from benchyard.analysis.comparison.run_sets import RunSelection, RunSet
from benchyard.analysis.comparison.sides import Places, read_sides
from benchyard.analysis.comparison.verdicts import compare
from benchyard.core.model import Json
from benchyard.results.excerpt import read_report
from benchyard.results.record import ErrorRecord, PhaseRecord, Repetition, RunRecord
from benchyard.web.report.comparisons import ReportRequest
from benchyard.web.report.document import in_script, report_of
from benchyard.web.report.records import records_of
from tests.benchyard.analysis.comparison.conftest import failed, place, run, step, titled

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


def report(results: Path, *kept: str) -> Path:
    """Write a report of some results, and return its path."""
    file = results.with_suffix(".html")
    file.write_text(report_of(_shown(results), ReportRequest(kept=kept or ("all",))).html)
    return file


def _shown(results: Path) -> list[tuple[str, RunSet]]:
    sides = read_sides([str(results)], Places(Path()))
    return [(side.name, runs) for side in sides for runs in side.cases.values()]


def compared(one: Path, other: Path) -> Any:
    sides = pair(open_results(RunSelection(one)), open_results(RunSelection(other)))
    told: Any = document(compare(sides, Rule(metrics=("all",))), ["one", "other"])
    for case in told["cases"]:
        del case["baseline"]["results"], case["candidate"]["results"]
    return told


def kept(file: Path) -> Repetition:
    return read_report(file).records[0].steps[0].measured[0]


def test_they_are_compared_as_the_results_themselves(tmp_path: Path) -> None:
    one, other = place(tmp_path / "1", records(1.0)), place(tmp_path / "2", records(2.0))
    told = compared(one, other)
    assert len(told["comparisons"]) > 40
    assert compared(report(one), report(other)) == told
    assert compared(report(one), other) == told


def test_nothing_tells_of_paths_errors_or_variables(tmp_path: Path) -> None:
    data = read_report(report(place(tmp_path / "results", records(1.0))))
    for record in data.records:
        assert "/home/me" not in str(record)
        assert "secret" not in str(record)


def test_runs_of_a_hundred_steps_are_small(tmp_path: Path) -> None:
    drawn = Random(1)  # noqa: S311 - no secret
    used = [{n: v and drawn.random() * 1e6 for n, v in USED.items()} for _ in range(100)]
    steps = [step(drawn.random(), name=f"q{n}", index=n, used=one) for n, one in enumerate(used)]
    results = place(tmp_path / "results", [run(1, *steps)])
    whole, times = (
        len(in_script(records_of(_shown(results), ReportRequest()).document([one])))
        for one in ("all", "duration_s")
    )
    # Digits drawn at random: no real counters are so hard to compress.
    assert times < 10_000
    assert whole < 80_000


def test_only_the_metrics_that_are_named_are_kept(tmp_path: Path) -> None:
    made = kept(report(place(tmp_path / "results", records(1.0)), "r*s"))
    assert made.values == {"rows": 7, "run_s": 0.5}
    assert all(name.startswith("resource_") for name in made.used)


def test_what_is_reported_keeps_its_name(tmp_path: Path) -> None:
    """A value is ``reported_…`` beside a counter of its name, even beside one that is unknown."""
    used, values = {"resource_cpu_s": None}, {"resource_cpu_s": 3}
    made = [run(n, step(1.0 + n, used=used, values=values)) for n in range(1, 7)]
    one, other = place(tmp_path / "1", made), place(tmp_path / "2", made)
    metrics = {row["metric"] for row in compared(report(one), other)["comparisons"]}
    assert metrics == {"duration_s", "reported_resource_cpu_s"}
