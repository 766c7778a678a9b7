"""Files of rows, read by others: csv, DuckDB, openpyxl, pyarrow."""

import csv
import importlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.core.errors import InputError
from benchyard.show.export import files
from benchyard.show.export.columns import Cells, CellType, ExportColumn, Rows, text
from benchyard.show.export.files import WRITERS, csv_pieces, write_arrow, write_xlsx

COLUMNS = (
    ExportColumn("name"),
    ExportColumn("run", CellType.WHOLE),
    ExportColumn("value", CellType.NUMBER),
    ExportColumn("suspect", CellType.FLAG),
    ExportColumn("began", CellType.MOMENT),
)
MOMENT = "2026-01-02T03:04:05.678000Z"
ROWS: list[Cells] = [
    ("plain", 1, 0.1 + 0.2, True, MOMENT),
    ('with, "quotes"', 2**53, 5, False, None),
    ("=1+1", None, None, None, None),
    (None, 3, 1e-300, True, MOMENT),
]
WHEN = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
VALUES = [
    ("plain", 1, 0.1 + 0.2, True, WHEN),
    ('with, "quotes"', 2**53, 5.0, False, None),
    ("=1+1", None, None, None, None),
    (None, 3, 1e-300, True, WHEN),
]


def rows_of(rows: list[Cells]) -> Rows:
    return Rows(COLUMNS, lambda: iter(rows))


def read(file: Path) -> tuple[list[tuple[Any, ...]], list[str]]:
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        reader = database.read_csv if file.suffix == ".csv" else database.read_parquet
        relation = reader(str(file))
        # Python's DuckDB needs pytz for times with zones, which nothing else here does.
        found = relation.project("* REPLACE (epoch_us(began) AS began)")
        return found.fetchall(), [str(kind) for kind in relation.types]


def in_microseconds(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [(*row[:4], row[4] and round(row[4].timestamp() * 1e6)) for row in rows]


def test_parquet_has_the_types_and_every_digit(tmp_path: Path) -> None:
    file = tmp_path / "it's.parquet"
    WRITERS[".parquet"](rows_of(ROWS), file)
    renamed = file.rename(tmp_path / "made.parquet")
    found, types = read(renamed)
    assert types == ["VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN", "TIMESTAMP WITH TIME ZONE"]
    assert found == in_microseconds(VALUES)
    assert [path.name for path in tmp_path.iterdir()] == ["made.parquet"]


def test_csv_is_read_with_the_same_types_by_a_reader_that_guesses(tmp_path: Path) -> None:
    file = tmp_path / "made.csv"
    WRITERS[".csv"](rows_of(ROWS), file)
    found, types = read(file)
    assert types[:4] == ["VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN"]
    # Older readers take the time without its zone, which is UTC.
    assert types[4].startswith("TIMESTAMP")
    assert found == in_microseconds(VALUES)


def test_csv_comes_in_pieces_that_make_one_file() -> None:
    many: list[Cells] = [(str(n), n, n / 2, None, None) for n in range(12_001)]
    pieces = list(csv_pieces(rows_of(many)))
    assert len(pieces) > 2
    found = list(csv.reader("".join(pieces).splitlines()))
    assert found[0] == [column.name for column in COLUMNS]
    assert found[-1] == ["12000", "12000", "6000.0", "", ""]
    assert len(found) == 12_002


def test_a_workbook_has_numbers_and_no_formula(tmp_path: Path) -> None:
    file = tmp_path / "made.xlsx"
    dangerous = ["=1+1", "+1", "-1", "@SUM(A1)", "{=1}", "http://example.org", "x" * 40_000]
    more: list[Cells] = [(name, None, None, None, None) for name in dangerous]
    write_xlsx({"results": rows_of([*ROWS, *more])}, file)
    sheet: Any = openpyxl.load_workbook(file)["results"]
    header, *found = map(list, sheet.iter_rows())
    assert [cell.value for cell in header] == [column.name for column in COLUMNS]
    assert [cell.data_type for cell in found[0]] == ["s", "n", "n", "b", "d"]
    # Excel's own files have so many digits, and its times no zone.
    expected = ["plain", 1, pytest.approx(0.1 + 0.2, rel=1e-15), True, WHEN.replace(tzinfo=None)]
    assert [cell.value for cell in found[0]] == expected
    texts = [row[0] for row in found[len(ROWS) :]]
    assert {cell.data_type for cell in texts} == {"s"}
    assert [cell.value for cell in texts] == [name[:32_767] for name in dangerous]
    assert not any(cell.hyperlink for cell in texts)
    assert (sheet.freeze_panes, sheet.auto_filter.ref) == ("A2", f"A1:E{len(ROWS) + 8}")


def test_more_rows_than_a_sheet_has_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_MOST_ROWS", 4)
    file = tmp_path / "made.xlsx"
    write_xlsx({"results": rows_of(ROWS[:3])}, file)
    before = file.read_bytes()
    with pytest.raises(InputError, match=r"4 rows at most.*--metric.*\.parquet"):
        write_xlsx({"results": rows_of(ROWS)}, file)
    assert file.read_bytes() == before


def test_arrow_has_the_types_and_every_digit(tmp_path: Path) -> None:
    pyarrow: Any = importlib.import_module("pyarrow")
    write_arrow(rows_of(ROWS), tmp_path / "made.arrow")
    made: Any = pyarrow.ipc.open_file(tmp_path / "made.arrow").read_all()
    types = ["string", "int64", "double", "bool", "timestamp[us, tz=UTC]"]
    assert [str(field.type) for field in made.schema] == types
    assert [tuple(row.values()) for row in made.to_pylist()] == VALUES


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".xlsx"])
def test_rows_that_cannot_be_read_leave_the_old_file(tmp_path: Path, ending: str) -> None:
    def failing() -> Iterator[Cells]:
        yield from ROWS
        raise InputError("no metric")

    write: Callable[[Rows, Path], None] = WRITERS[ending]
    file = tmp_path / f"made{ending}"
    file.write_text("old")
    with pytest.raises(InputError, match="no metric"):
        write(Rows(COLUMNS, failing), file)
    assert file.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


@given(st.lists(st.text(), min_size=1, max_size=20))
def test_no_name_breaks_the_file_or_becomes_another(
    tmp_path_factory: pytest.TempPathFactory, names: list[str]
) -> None:
    file = tmp_path_factory.mktemp("names") / "made.parquet"
    written: list[Cells] = [(text(name), n, None, None, None) for n, name in enumerate(names)]
    WRITERS[".parquet"](rows_of(written), file)
    found, _ = read(file)
    assert [row[:2] for row in found] == [row[:2] for row in written]
