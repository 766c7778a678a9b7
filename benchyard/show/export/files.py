"""Rows in files: CSV, Parquet, Arrow, XLSX.

DuckDB makes Parquet and Arrow out of the CSV, so that no more than a part of the rows is ever in
memory. That loses nothing: a float is written with all of its digits, no cell holds a line end, and
an empty cell is null, since no text of ours is empty.
"""

import importlib
import shutil
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchyard.analysis.comparison.samples import DURATION
from benchyard.core.errors import InputError, require_extra
from benchyard.core.outputs import writing
from benchyard.core.table import csv_text
from benchyard.process.files import temporary_folder
from benchyard.show.export.columns import Cell, Cells, CellType, Rows
from benchyard.show.export.sources import CaseFolder, compared
from benchyard.show.export.tidy import Choice, Tally, summarized

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: Rows that are written at once.
_PIECE = 5_000
#: Source: Microsoft, "Excel specifications and limits": rows and columns of a worksheet,
#: characters of a cell.
_MOST_ROWS, _MOST_COLUMNS, _LONGEST_CELL = 1_048_576, 16_384, 32_767


def csv_pieces(rows: Rows, *, exact: bool = False) -> Iterator[str]:
    """Yield the rows as CSV, some thousands at a time; see ``csv_text``."""
    yield csv_text([[column.name for column in rows.columns]], exact=exact)
    every = rows.read()
    while piece := list(islice(every, _PIECE)):
        yield csv_text(map(_spelt, piece), exact=exact)


def _spelt(cells: Cells) -> list[Cell]:
    """Write flags in lower case: Python's True is a text to polars."""
    return [str(cell).lower() if isinstance(cell, bool) else cell for cell in cells]


def write_csv(rows: Rows, file: Path, *, exact: bool = False) -> None:
    """Write CSV in UTF-8; see ``csv_text``."""
    with writing(file) as stream:
        for piece in csv_pieces(rows, exact=exact):
            stream.write(piece.encode())


@contextmanager
def _beside(file: Path) -> Generator[Path]:
    """Let a library make a file that it wants the name of; put it in its place when it is whole."""
    with temporary_folder() as folder:
        made = folder / "made"
        yield made
        with writing(file) as stream, made.open("rb") as source:
            shutil.copyfileobj(source, stream)


def write_parquet(rows: Rows, file: Path) -> None:
    """Write Parquet, compressed with zstd; times are in UTC.

    Raises:
        InputError: If duckdb is not installed.
    """
    require_extra("duckdb", "duckdb", "a Parquet file", "write .csv or .xlsx")
    with _beside(file) as made, _relation(rows, made.with_suffix(".csv")) as database:
        database.execute(f"COPY rows TO '{made}' (FORMAT parquet, COMPRESSION zstd)")


def write_arrow(rows: Rows, file: Path) -> None:
    """Write an Arrow IPC file, which is Feather 2 too.

    Raises:
        InputError: If pyarrow or duckdb is not installed.
    """
    for library in ("pyarrow", "duckdb"):
        require_extra("arrow", library, "an Arrow file", "write .csv or .xlsx")
    pyarrow: Any = importlib.import_module("pyarrow")
    with _beside(file) as made, _relation(rows, made.with_suffix(".csv")) as database:
        reader: Any = pyarrow.RecordBatchReader.from_stream(database.sql("FROM rows"))
        with pyarrow.ipc.new_file(str(made), reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)


def _relation(rows: Rows, file: Path) -> "DuckDBPyConnection":
    """Return a database with a view ``rows`` of the rows, which are written as CSV before."""
    import duckdb  # noqa: PLC0415 - takes its time, and only two formats need it

    write_csv(rows, file, exact=True)
    types = ", ".join(f"{_quoted(c.name)}: '{c.kind.value}'" for c in rows.columns)
    database = duckdb.connect()
    database.execute("SET TimeZone = 'UTC'")
    database.execute(
        f"CREATE VIEW rows AS FROM read_csv('{file}', auto_detect=false, header=true, delim=',', "
        f"""quote='"', escape='"', nullstr='', new_line='\\n', columns={{{types}}})"""
    )
    return database


def _quoted(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"


def write_xlsx(sheets: Mapping[str, Rows], file: Path) -> None:
    """Write a workbook: numbers are numbers, texts never formulas.

    Args:
        sheets: Rows by the name of their sheet, the first sheet first.

    Raises:
        InputError: If there are more rows than a sheet can have.
    """
    # Not annotated by its makers, and only one format needs it.
    workbook: Any = importlib.import_module("xlsxwriter").Workbook
    # Row by row, so that no more than one is in memory.
    with _beside(file) as made, closing(workbook(str(made), {"constant_memory": True})) as book:
        for name, rows in sheets.items():
            _fill(book, book.add_worksheet(name), rows)


def _fill(book: Any, sheet: Any, rows: Rows) -> None:
    bold = book.add_format({"bold": True})
    moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss.000"})
    sheet.freeze_panes(1, 0)
    for at, column in enumerate(rows.columns):
        sheet.set_column(at, at, max(10, min(len(column.name) + 4, 30)))
        sheet.write_string(0, at, column.name, bold)
    moments = {at for at, column in enumerate(rows.columns) if column.kind is CellType.MOMENT}
    last = 0
    for last, cells in enumerate(rows.read(), 1):
        if last >= _MOST_ROWS:
            raise InputError(
                f"a worksheet has {_MOST_ROWS:,} rows at most, and these are more; choose with "
                "--metric or --counted, or write .csv or .parquet"
            )
        for at, cell in enumerate(cells):
            if at in moments and isinstance(cell, str):
                # Excel knows no time zones: the time is UTC's.
                when = datetime.fromisoformat(cell).replace(tzinfo=None)
                sheet.write_datetime(last, at, when, moment)
            elif isinstance(cell, str):
                sheet.write_string(last, at, cell[:_LONGEST_CELL])
            elif cell is not None:
                sheet.write(last, at, cell)
    sheet.autofilter(0, 0, last, len(rows.columns) - 1)


def write_workbook(
    file: Path, sources: Sequence[CaseFolder], choice: Choice, rows: Rows, *, summary: bool
) -> str | None:
    """Write a sheet of medians, of comparisons with the first source, and of executions.

    Args:
        rows: Of ``sources``: the summarized form if ``summary``, else the tidy one.

    Returns:
        The reason if the sheet of comparisons is missing, else None.
    """
    short, missing = replace(choice, metrics=choice.metrics or (DURATION,)), None
    sheets = {"medians": rows if summary else summarized(sources, short, Tally())}
    try:
        sheets["comparison"] = compared(sources, short.metrics, choice.suspect)
    except InputError as error:
        missing = str(error)
    write_xlsx(sheets if summary else {**sheets, "results": rows}, file)
    return missing


#: Ending of a file's name to how rows are written there.
WRITERS: Mapping[str, Callable[[Rows, Path], None]] = {
    ".csv": write_csv,
    ".parquet": write_parquet,
    ".arrow": write_arrow,
    ".feather": write_arrow,
    ".xlsx": lambda rows, file: write_xlsx({"results": rows}, file),
}
