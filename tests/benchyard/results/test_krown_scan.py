"""One pass over a metrics.csv."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.errors import RecordError
from benchyard.results.krown_scan import number, scan

WriteMetrics = Callable[..., Path]
ROWS = [(1, 0.1, 500), (1, 0.2, 700), (2, 0.3, 600), (3, 0.4, 900), (3, 0.6, 100), (3, 0.7, 400)]


def told(path: Path) -> list[tuple[Any, ...]]:
    return [(p.step, p.samples, p.start, p.end, p.levels) for p in scan(path).parts]


def levels(least: int, most: int) -> dict[str, tuple[int, int]]:
    return dict.fromkeys(("memory_ram", "memory_swap", "memory_ram_swap"), (least, most))


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_each_step_has_its_outermost_rows_and_levels(
    write_metrics: WriteMetrics, version: int, end: str
) -> None:
    assert told(write_metrics(*ROWS, version=version, end=end)) == [
        (1, 2, 0.0, 0.2, levels(500, 700)),
        (2, 1, 0.3, 0.3, levels(600, 600)),
        (3, 3, 0.4, 0.7, levels(100, 900)),
    ]


def test_defect_08_krowns_made_up_row_is_no_level_or_sample(write_metrics: WriteMetrics) -> None:
    [part] = scan(write_metrics((1, 0.1, 500))).parts
    assert (part.readings, part.samples) == (2, 1)
    assert part.levels["memory_ram"] == (500, 500)
    assert part.edges[0]["cpu_user"] == "0"


def test_columns_may_stand_in_another_order(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    path.write_text("memory_ram,timestamp,extra,step,version\n7,0.5,x,1,3\n9,0.75,,1,3\n")
    [part] = scan(path).parts
    assert part.levels == {"memory_ram": (7, 9)}
    assert (part.start, part.end) == (0.5, 0.75)


def test_defect_25_empty_cells_are_unknown_and_minus_one_is_a_number(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    path.write_text(
        "version,step,timestamp,cpu_iowait,memory_ram,disk_read_bytes\n"
        "3,1,0.1,0.0,5,\n3,1,0.2,-1,-1,\n3,1,0.3,-1,,\n3,1,0.4,2.5e0,1e1,nan\n"
    )
    [part] = scan(path).parts
    assert part.samples == 4
    assert part.levels == {"memory_ram": (5, 10)}
    assert (part.difference("cpu_iowait"), part.difference("disk_read_bytes")) == (2.5, None)


def test_names_may_hold_commas_and_line_ends_of_csv(write_metrics: WriteMetrics) -> None:
    path = write_metrics(*ROWS)
    whole = told(path)
    path.write_text(path.read_text().replace("case", '"a,""b"", c"'))
    assert told(path) == whole


@pytest.mark.parametrize(
    "content",
    [
        *(b"step\n1\n", b"\xff\xfe\n", b"{}", b"\n\n"),
        # What Python's reader of CSV refuses: an end of line amid it, a cell too large.
        *(b"step,timestamp\r1,2\n", b"x" * 60_000 + b"\r\r\n", b'"' + b"\0" * 200_000),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "metrics.csv"
    path.write_bytes(content)
    with pytest.raises(RecordError, match="header"):
        scan(path)


def edges(path: Path) -> list[tuple[int, bool, bool]]:
    return [(p.step, p.cut_before, p.cut_after) for p in scan(path).parts]


@pytest.mark.parametrize("step", [-3, 0, 1_001, 300_000_000, 99999999999999999999])
def test_a_step_that_cannot_be_is_a_damaged_row(write_metrics: WriteMetrics, step: int) -> None:
    """It once made a record of each step up to it, until memory ran out."""
    rows = [(1, 0.1, 5), (1, 0.2, 5), (step, 0.3, 5), (1, 0.4, 5), (2, 0.5, 5)]
    path = write_metrics(*rows)
    assert [part[0] for part in told(path)] == [1, 2]
    assert scan(path).damaged == 1
    assert edges(path) == [(1, False, False), (2, False, False)]


def test_the_row_before_the_first_one_may_be_damaged(write_metrics: WriteMetrics) -> None:
    path = write_metrics(("x", 0.0, 5), (1, 0.1, 5), (1, 0.2, 5), origin=False)
    assert edges(path) == [(1, True, False)]


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_a_last_row_without_its_end_is_damaged_wherever_it_was_cut(
    write_metrics: WriteMetrics, ending: bytes
) -> None:
    path = write_metrics(*ROWS, end=ending.decode())
    content = path.read_bytes()
    rest, last = content[: -len(ending)].rsplit(b"\n", 1)
    for length in range(1, len(last) + len(ending)):
        path.write_bytes(rest + b"\n" + content[len(rest) + 1 :][:length])
        assert scan(path).damaged == 1
        assert edges(path)[-1] == (3, False, True)


def test_a_cell_is_an_integer_another_number_or_unknown() -> None:
    texts = ("3", "-1", "0.5", "", "x", "inf", "nan", "1e300", "9" * 101, "9" * 5000)
    assert [number(text) for text in texts] == [3, -1, 0.5, *[None] * 7]
