"""Tables for papers: what stands in rows and columns."""

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median as median_of

import pytest

from benchyard.core.errors import InputError
from benchyard.core.model import Json, Outcome
from benchyard.show.export.columns import Cell, Cells, Rows
from benchyard.show.export.paper import PaperTable, markdown, paper_tables
from benchyard.show.export.sources import CaseFolder
from benchyard.show.export.tidy import Choice, Tally, summarized, tidy
from tests.benchyard.show.export.conftest import (
    FAILED,
    WriteRun,
    attempt,
    repetition,
    sources,
    step,
    took,
)


def tables(results: Path, *metrics: str, layout: str | None = None) -> list[PaperTable]:
    return paper_tables(sources(results), Choice(metrics), Tally(), layout)


def rows_of(
    form: Callable[[Sequence[CaseFolder], Choice, Tally], Rows], results: Path, *columns: str
) -> list[Cells]:
    """Return these columns of what counts."""
    return list(form(sources(results), Choice(counted=True), Tally()).only(columns).read())


def figures(table: PaperTable) -> list[list[str]]:
    return [[*labels, *map(str, cells)] for labels, cells in table.rows]


def write_six(write_run: WriteRun, first: float, **more: object) -> Path:
    made = [
        repetition(first + n / 1000, used={"peak_bytes": 1e6 * n}, values={"rows_per_s": 100})
        for n in range(1, 7)
    ]
    return [write_run(n, step(attempt(one)), **more) for n, one in enumerate(made, 1)].pop()


def test_a_case_without_a_matrix_has_a_column_for_each_metric(write_run: WriteRun) -> None:
    [table] = tables(write_six(write_run, 1.0), "duration_s", "peak_*", "rows*")
    heads = ("duration (s)", "peak (MB)", "rows (1/s)")
    assert (table.title, tuple(table.labels), tuple(table.heads)) == ("case", ("step",), heads)
    assert figures(table) == [["sort", "1.0035 +0.0025 -0.0025", "3.5 +2.5 -2.5", "100 +0 -0"]]
    assert table.note == "Median over 6 runs, with its 95 % confidence interval."


def test_points_of_a_matrix_are_columns_or_rows(write_run: WriteRun) -> None:
    write_six(write_run, 1.0, point={"threads": 1, "mode": "a"})
    results = write_six(write_run, 0.5, point={"threads": 2, "mode": "a"})
    one, other = tables(results, "duration_s", "peak_bytes")
    assert (one.title, other.title) == ("case: duration (s)", "case: peak (MB)")
    assert list(one.heads) == ["threads=1,mode=a", "threads=2,mode=a"]
    assert figures(one) == [["sort", "1.0035 +0.0025 -0.0025", "0.5035 +0.0025 -0.0025"]]
    [table] = tables(results, layout="rows")
    assert tuple(table.labels) == ("threads", "mode", "step")
    assert figures(table) == [
        ["1", "a", "sort", "1.0035 +0.0025 -0.0025"],
        ["2", "a", "sort", "0.5035 +0.0025 -0.0025"],
    ]


def test_a_parameter_has_a_column_for_each_value(write_run: WriteRun) -> None:
    for size, threads in ((10, 1), (20, 1), (10, 2)):
        results = write_six(write_run, float(size), point={"size": size, "threads": threads})
    [table] = tables(results, layout="size")
    assert (table.title, table.spanner) == ("case: duration (s) by size", "duration (s) by size")
    assert (list(table.labels), list(table.heads)) == (["threads"], ["10", "20"])
    assert figures(table) == [
        ["1", "10.0035 +0.0025 -0.0025", "20.0035 +0.0025 -0.0025"],
        ["2", "10.0035 +0.0025 -0.0025", "None"],
    ]
    with pytest.raises(InputError, match="no parameter of a matrix is 'sise'; did you mean 'size'"):
        tables(results, layout="sise")


def test_a_declared_unit_stands_in_tables_and_rows(write_run: WriteRun) -> None:
    declared: dict[str, Json] = {"metrics": {"rows_per_s": {"json": "rate", "unit": "rows/s"}}}
    made = attempt(repetition(1.0, values={"rows_per_s": 100}))
    results = write_run(1, step(made, parameters=declared))
    [table] = tables(results, "rows_per_s")
    assert list(table.heads) == ["rows (rows/s)"]
    rows = tidy(sources(results), Choice(("rows_per_s",)), Tally()).only(("unit", "direction"))
    assert list(rows.read()) == [("rows/s", "larger is better")]


def test_campaigns_of_the_points_of_a_matrix_do_not_mix(write_run: WriteRun) -> None:
    write_run(1, took(1.0), point={"n": 1})
    results = write_run(1, took(2.0), point={"n": 2})
    one, other = sources(results)
    made = paper_tables([one, one, other, other], Choice(), Tally())
    assert [figures(table) for table in made] == [[["sort", "1.00", "2.00"]]] * 2


def test_a_missing_figure_is_none_and_a_missing_interval_is_told(write_run: WriteRun) -> None:
    write_six(write_run, 1.0, point={"n": 1})
    both = (took(1.0), step(attempt(repetition(2.0)), index=2, name="b"))
    results = write_run(1, *both, point={"n": 2})
    [table] = tables(results)
    assert figures(table) == [["sort", "1.0035 +0.0025 -0.0025", "1.00"], ["b", "None", "2.00"]]
    assert table.note.startswith("Median over 1 to 6 runs, with")
    assert table.note.endswith("Without an interval: too few runs.")
    made = markdown([table])
    assert made.splitlines()[4:6] == [
        "| sort | 1.0035 +0.0025 -0.0025 | 1.00 |",
        "| b | - | 2.00 |",
    ]


def test_the_summarized_form_has_what_the_summary_says(write_run: WriteRun) -> None:
    write_six(write_run, 1.0)
    results = write_run(7, took(9.0, suspect=["swap"]))
    rows = summarized(sources(results), Choice(("duration_s",)), Tally())
    [cells] = rows.read()
    found = {column.name: cell for column, cell in zip(rows.columns, cells, strict=True)}
    assert (found["n"], found["repetitions"], found["median"]) == (6, 6, pytest.approx(1.0035))
    assert (found["low"], found["high"], found["level"]) == (1.001, 1.006, 0.95)
    assert (found["outcomes"], found["left_out"]) == ("7 completed", "1 suspect")
    assert (found["versions"], found["host"]) == ("Process 1.2", "bench-1")


def test_each_subject_has_its_own_summarized_rows(write_run: WriteRun) -> None:
    write_run(1, took(1.0), content="old")
    results = write_run(2, took(2.0))
    rows = summarized(sources(results), Choice(("duration_s",)), Tally()).only(
        ["median", "subject"]
    )
    (newest, subject), (older, other) = rows.read()
    assert {newest, older} == {1.0, 2.0}
    assert subject != other


def test_rows_that_count_give_the_figures_of_the_summary(write_run: WriteRun) -> None:
    for run in range(1, 6):
        spent = {"cpu_s": run / 7, "unknown_s": None}
        warm = repetition(9.0, "warmup", used=spent)
        made = [repetition(run + n / 10, used=spent, values={"rows": run}) for n in range(3)]
        broken = attempt(repetition(50.0, outcome=FAILED), outcome=FAILED)
        write_run(run, step(broken, attempt(warm, *made, number=2)))
    write_run(6, took(90.0, suspect=["swap"]))
    write_run(7, step(attempt(repetition(70.0, outcome=FAILED)), outcome=Outcome.TOLERATED))
    results = write_run(8, took(80.0), done=False)
    summary = rows_of(summarized, results, "metric", "median")
    described = {cells[0]: cells[1] for cells in summary if cells[1] is not None}
    values: dict[Cell, dict[Cell, list[float]]] = {}
    for metric, run, value in rows_of(tidy, results, "metric", "run", "value"):
        assert isinstance(value, int | float)
        values.setdefault(metric, {}).setdefault(run, []).append(value)
    assert values.keys() == {"duration_s", "cpu_s", "rows"}
    for metric, runs in values.items():
        assert median_of([median_of(one) for one in runs.values()]) == described[metric]
