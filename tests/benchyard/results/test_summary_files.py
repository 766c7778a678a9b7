"""The files that a summary is written to."""

import csv
import json
import os
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.model import Outcome
from benchyard.results.summary import median_run, summarize
from benchyard.results.summary_files import rendered, write_summary

FAILED = Outcome.FAILED


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_no_run_is_said_and_removes_nothing(tmp_path: Path) -> None:
    (tmp_path / "stats.csv").write_text("kept")
    write_summary(tmp_path, "c", [])
    document = json.loads((tmp_path / "summary.json").read_text())
    assert document["n_runs"] == 0
    assert document["steps"] == []
    assert document["median_run"] is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["stats.csv", "summary.json"]


def test_defect_23_an_even_number_of_runs(make: Any, placed: Any, tmp_path: Path) -> None:
    records = [make.run(n, make.took(float(n))) for n in (4, 2, 1, 3)]
    document: Any = summarize("c", records)
    assert document["steps"][0]["metrics"]["duration_s"]["statistics"]["median"] == 2.5
    assert document["median_run"] == 2
    write_summary(tmp_path, "c", placed(*records))
    assert [row["run"] for row in read(tmp_path / "summary.csv")] == ["2"]


def test_each_step_is_shown_in_its_own_median_run(make: Any, placed: Any, tmp_path: Path) -> None:
    lengths = {1: (1.0, 6.0), 2: (2.0, 4.0), 3: (3.0, 5.0)}
    records = [make.run(n, make.took(a), make.took(b, index=2)) for n, (a, b) in lengths.items()]
    write_summary(tmp_path, "c", placed(*records))
    rows = read(tmp_path / "summary.csv")
    assert [(r["step"], r["run"], r["duration"]) for r in rows] == [
        ("1", "2", "2.0"),
        ("2", "3", "5.0"),
    ]


def test_defect_11_the_median_run_has_its_number(make: Any, placed: Any, tmp_path: Path) -> None:
    broken = make.step(make.attempt([], FAILED), outcome=Outcome.TOLERATED)
    records = [
        make.run(1, broken),
        make.run(2, broken),
        *(make.run(n + 2, make.took(float(n))) for n in (1, 2, 3)),
    ]
    assert median_run(records) == 4
    write_summary(tmp_path, "c", placed(*records))
    row = read(tmp_path / "summary.csv")[0]
    assert (row["run"], row["duration"]) == ("4", "2.0")
    assert {row["run"] for row in read(tmp_path / "aggregated.csv")} == {"4"}
    assert read(tmp_path / "stats.csv")[0]["duration_values"] == "[1.0, 2.0, 3.0]"


def test_defect_06_no_samples_and_still_a_row(make: Any, placed: Any, tmp_path: Path) -> None:
    records = placed(make.run(1, make.took(0.5), make.took(0.25, index=2)))
    (tmp_path / "run_1" / "metrics.csv").unlink()
    write_summary(tmp_path, "c", records)
    assert [row["duration"] for row in read(tmp_path / "summary.csv")] == ["0.5", "0.25"]
    assert read(tmp_path / "aggregated.csv") == []


def test_an_unmeasured_step_has_no_statistics(make: Any, placed: Any, tmp_path: Path) -> None:
    record = make.run(1, make.took(1.0, measure=False), make.took(2.0, index=2))
    document: Any = summarize("c", [record])
    about = document["steps"][0]
    assert about["measured"] is False
    assert about["outcomes"] == {"completed": 1}
    assert "metrics" not in about
    write_summary(tmp_path, "c", placed(record))
    assert [row["step"] for row in read(tmp_path / "stats.csv")] == ["2"]
    assert [row["step"] for row in read(tmp_path / "summary.csv")] == ["2"]


def test_defect_37_more_runs_replace_the_files(make: Any, placed: Any, tmp_path: Path) -> None:
    first = placed(make.run(1, make.took(1.0)))
    write_summary(tmp_path, "c", first)
    write_summary(tmp_path, "c", first + placed(*(make.run(n, make.took(5.0)) for n in (2, 3))))
    assert read(tmp_path / "stats.csv")[0]["duration_values"] == "[1.0, 5.0, 5.0]"
    assert {row["run"] for row in read(tmp_path / "aggregated.csv")} == {"2"}
    assert json.loads((tmp_path / "summary.json").read_text())["n_runs"] == 3


def test_aggregated_links_the_median_runs_curves(make: Any, placed: Any, tmp_path: Path) -> None:
    records = placed(*(make.run(n, make.took(float(n))) for n in (1, 2, 3)))
    for _ in range(2):
        write_summary(tmp_path, "c", records)
        assert (tmp_path / "aggregated.csv").samefile(tmp_path / "run_2" / "metrics.csv")
    write_summary(tmp_path, "c", records[:1])
    assert (tmp_path / "aggregated.csv").samefile(tmp_path / "run_1" / "metrics.csv")
    assert not list(tmp_path.glob(".*.new"))
    assert len(read(tmp_path / "run_2" / "metrics.csv")) == 2


def test_where_files_cannot_be_linked_they_are_copied(
    make: Any, placed: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    records = placed(make.run(1, make.took(1.0)))
    write_summary(tmp_path, "c", records)
    source, target = tmp_path / "run_1" / "metrics.csv", tmp_path / "aggregated.csv"
    assert target.read_bytes() == source.read_bytes()
    assert not target.samefile(source)


def test_samples_and_levels_come_from_the_record(make: Any, placed: Any, tmp_path: Path) -> None:
    records = placed(make.run(1, make.took(1.0)))
    (tmp_path / "run_1" / "metrics.csv").write_text("not read")
    write_summary(tmp_path, "c", records)
    row = read(tmp_path / "summary.csv")[0]
    assert (row["number_of_samples"], row["memory_ram_min"], row["memory_ram_max"]) == (
        "2",
        "4096",
        "8192",
    )


def test_files_of_another_program_stay_as_they_are(make: Any, placed: Any, tmp_path: Path) -> None:
    records = placed(make.run(1, make.took(1.0)))
    (tmp_path / "stats.csv").write_text("KROWN's\r\n")
    for _ in range(2):
        write_summary(tmp_path, "c", records, foreign=True)
        assert (tmp_path / "stats.csv").read_text() == "KROWN's\n"
        document = json.loads((tmp_path / "summary.json").read_text())
        assert "stats.csv is not Benchyard's and stays as it is" in document["warnings"][0]
        assert sorted(document["files"]) == ["aggregated.csv", "summary.csv"]
    (tmp_path / "summary.csv").write_text("overwritten by KROWN meanwhile")
    write_summary(tmp_path, "c", records, foreign=True)
    assert (tmp_path / "summary.csv").read_text() == "overwritten by KROWN meanwhile"


def test_the_document_is_json_with_a_line_for_each_metric(make: Any) -> None:
    used = {"host_cpu_user_s": 1.0, 'odd ]},"name_s': 2.0}
    step = make.step(make.attempt([make.repetition(1.0, used=used)]))
    document = summarize("c\udcff", [make.run(1, step)])
    text = rendered(document)
    assert json.loads(text) == document
    assert sum('"direction":' in line for line in text.splitlines()) == 5
    assert max(line.count('"direction":') for line in text.splitlines()) == 1
    for text in ("c", "c\udcff"):
        assert json.loads(rendered({text: float("nan")})) == {text: None}
    assert rendered({}) == "{}"
    assert json.loads(rendered({"a": [], "b": {"c": {}}})) == {"a": [], "b": {"c": {}}}
