"""Samples as columns: all that can be read is there, and what cannot is told."""

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.results.samples import read_samples

CELL = st.floats(-1e9, 1e9, allow_nan=False) | st.just("")


def write(file: Path, header: list[str], rows: list[list[object]]) -> Path:
    with file.open("w", newline="") as stream:
        csv.writer(stream).writerows([header, *rows])
    return file


@given(st.lists(st.tuples(st.floats(0, 1e6), CELL, CELL), max_size=30))
def test_values_come_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[float, object, object]]
) -> None:
    rows.sort(key=lambda row: round(row[0] * 1e9))
    file = tmp_path_factory.mktemp("samples") / "metrics.csv"
    write(file, ["name", "timestamp", "a", "b"], [["x,\ny", *row] for row in rows])
    found = read_samples(file, ["a", "b"])
    assert found.times.tolist() == [round(at * 1e9) for at, _, _ in rows]
    told = [[np.nan if cell == "" else cell for cell in cells] for _, *cells in rows]
    np.testing.assert_array_equal(found.values, np.array(told, float).reshape(len(rows), 2).T)
    assert not found.losses


@given(st.binary(max_size=300))
def test_no_file_is_too_odd(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    file = tmp_path_factory.mktemp("samples") / "metrics.csv"
    file.write_bytes(b"timestamp,a,b\n0.5,1,2\n" + content)
    found = read_samples(file, ["a"], ["b"])
    assert len(found.times) == len(found.key) == found.values.shape[1]
    assert 500_000_000 in found.times or found.losses
    assert (np.diff(found.times) >= 0).all()


def test_damaged_rows_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "metrics.csv"
    file.write_text("timestamp,a\n0.1,1\nodd,2\n0.2\n0.3,nan\n-1,5\n0.4,1e300\n0.5,7\n0.")
    found = read_samples(file, ["a", "not there"])
    assert found.times.tolist() == [100_000_000, 300_000_000, 400_000_000, 500_000_000]
    np.testing.assert_array_equal(found.values[0], [1, np.nan, np.nan, 7])
    assert np.isnan(found.values[1]).all()
    assert [loss.rows for loss in found.losses] == [4]


def test_rows_are_in_the_order_of_time_and_keep_what_they_are_of(tmp_path: Path) -> None:
    rows: list[list[object]] = [[0.3, "x", 3], [0.1, "y", 1], [0.2, "x", 2]]
    file = write(tmp_path / "resources.csv", ["timestamp", "who", "a"], rows)
    found = read_samples(file, ["a"], ["who"])
    assert found.values.tolist() == [[1.0, 2.0, 3.0]]
    assert [found.keys[key] for key in found.key] == [("y",), ("x",), ("x",)]


def test_more_rows_than_are_read_together(tmp_path: Path) -> None:
    rows: list[list[object]] = [[n / 10, n] for n in range(3000)]
    rows[1500] = [150.0, "odd"]
    found = read_samples(write(tmp_path / "m.csv", ["timestamp", "a"], rows), ["a"])
    assert np.isnan(found.values[0][1500])
    assert np.nansum(found.values[0]) == sum(range(3000)) - 1500


def test_what_is_no_table_is_told(tmp_path: Path) -> None:
    file = tmp_path / "metrics.csv"
    file.write_text("a,b\n1,2\n")
    assert "timestamp" in str(read_samples(file, ["a"]).losses[0])
    file.unlink()
    with pytest.raises(FileNotFoundError):
        read_samples(file, ["a"])


def test_rows_before_one_without_an_end_are_there(tmp_path: Path) -> None:
    file = tmp_path / "metrics.csv"
    file.write_text("timestamp,a\n1,2\n3," + "4" * 2000 + "\n5,6\n")
    limit = csv.field_size_limit(1000)
    try:
        found = read_samples(file, ["a"])
    finally:
        csv.field_size_limit(limit)
    assert found.values.tolist() == [[2.0]]
    assert "line 3" in str(found.losses[0])
