"""One pass over a metrics.csv."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchyard.results import krown_scan
from benchyard.results.krown_scan import NotMetricsError, Scan, number, scan

WriteMetrics = Callable[..., Path]
ROWS = [(1, 0.1, 500), (1, 0.2, 700), (2, 0.3, 600), (3, 0.4, 900), (3, 0.6, 100), (3, 0.7, 400)]


def told(path: Path) -> list[tuple[Any, ...]]:
    return [
        (p.step, p.samples, p.first["timestamp"], p.last["timestamp"], p.levels)
        for p in scan(path).parts
    ]


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


def test_defect_08_the_row_that_krown_makes_up_is_no_level_and_no_sample(
    write_metrics: WriteMetrics,
) -> None:
    [part] = scan(write_metrics((1, 0.1, 500))).parts
    assert (part.readings, part.samples) == (2, 1)
    assert part.levels["memory_ram"] == (500, 500)
    assert part.first["cpu_user"] == 0


def test_a_first_row_with_levels_is_a_sample(write_metrics: WriteMetrics) -> None:
    [part] = scan(write_metrics((1, 0.0, 500), origin=False)).parts
    assert (part.readings, part.samples) == (1, 1)
    assert part.levels["memory_ram"] == (500, 500)


def test_columns_may_stand_in_another_order(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    path.write_text("memory_ram,timestamp,extra,step\n7,0.5,x,1\n9,0.75,,1\n")
    [part] = scan(path).parts
    assert part.levels == {"memory_ram": (7, 9)}
    assert (part.first["timestamp"], part.last["timestamp"]) == (0.5, 0.75)


def test_defect_25_empty_cells_are_unknown_and_minus_one_is_a_number(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    path.write_text(
        "step,timestamp,cpu_iowait,memory_ram,disk_read_bytes\n"
        "1,0.1,0.0,5,\n1,0.2,-1,-1,\n1,0.3,-1,,\n1,0.4,2.5e0,1e1,nan\n"
    )
    [part] = scan(path).parts
    assert part.samples == 4
    assert part.levels == {"memory_ram": (5, 10)}
    assert part.last["cpu_iowait"] == 2.5
    assert (part.first["disk_read_bytes"], part.last["disk_read_bytes"]) == (None, None)


@pytest.mark.parametrize("cut", [1, 20, 60, 100, 118])
def test_defect_25_a_row_that_was_cut_off_is_left_out_and_counted(
    write_metrics: WriteMetrics, cut: int
) -> None:
    path = write_metrics(*ROWS)
    whole = told(path)
    last = path.read_bytes().splitlines(keepends=True)[-1]
    path.write_bytes(path.read_bytes() + last[: min(cut, last.rindex(b",") + 1)])
    assert told(path) == whole
    assert scan(path).damaged == 1


def test_what_is_no_row_is_left_out_wherever_it_stands(write_metrics: WriteMetrics) -> None:
    path = write_metrics(*ROWS)
    header, *lines = path.read_text().splitlines()
    odd = [header, "", "x", lines[2].replace("0.2", "", 1), lines[2].replace(",1,", ",one,")]
    path.write_text("\n".join([header, *lines[:3], *odd, *lines[3:], ""]))
    assert [part[:2] for part in told(path)] == [(1, 2), (2, 1), (3, 3)]
    assert scan(path).damaged == 4


def test_names_may_hold_commas_and_line_ends_of_csv(write_metrics: WriteMetrics) -> None:
    path = write_metrics(*ROWS)
    whole = told(path)
    path.write_text(path.read_text().replace("case", '"a,""b"", c"'))
    assert told(path) == whole


def test_a_file_without_rows_holds_nothing(tmp_path: Path, write_metrics: WriteMetrics) -> None:
    empty = tmp_path / "empty.csv"
    empty.touch()
    assert scan(empty) == Scan()
    assert scan(write_metrics(origin=False)) == Scan()


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
    with pytest.raises(NotMetricsError, match="header"):
        scan(path)


def test_a_step_that_comes_again_is_two_parts(write_metrics: WriteMetrics) -> None:
    path = write_metrics((1, 0.1, 1), (2, 0.2, 1), (1, 0.3, 1))
    assert [part[0] for part in told(path)] == [1, 2, 1]


cells = st.sampled_from(["", "1", "2", "-1", "0.5", "7e1", "x", '"', "nan", "1,2", "\r"])
likely = st.tuples(*[st.sampled_from(["1", "2", "3.5", "", "x"])] * 4).map(list)
rows = st.lists(likely | st.lists(cells, min_size=2, max_size=5), max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows, st.integers(min_value=1, max_value=64))
def test_blocks_make_no_difference(tmp_path: Path, made: list[list[str]], block: int) -> None:
    path = tmp_path / "metrics.csv"
    text = "step,timestamp,memory_ram,disk\n" + "".join(",".join(row) + "\n" for row in made)
    path.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(krown_scan, "BLOCK", 1)
        line_by_line = scan(path)
        patch.setattr(krown_scan, "BLOCK", block)
        assert scan(path) == line_by_line
    assert scan(path) == line_by_line


@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_a_large_file_is_what_a_plain_reader_finds(write_metrics: WriteMetrics, end: str) -> None:
    made = [(1 + n // 700, round(0.1 * n, 4), 4096 * (n * 7919 % 1000 + 1)) for n in range(1, 5000)]
    path = write_metrics(*made, end=end)
    with path.open(newline="") as stream:
        lines = list(csv.DictReader(stream))[1:]
    for part in scan(path).parts:
        of_step = [line for line in lines if int(line["step"]) == part.step]
        memory = [int(line["memory_ram"]) for line in of_step]
        assert part.samples == len(of_step)
        assert part.levels["memory_ram"] == (min(memory), max(memory))
        assert part.last["timestamp"] == float(of_step[-1]["timestamp"])


def edges(path: Path) -> list[tuple[int, bool, bool]]:
    return [(p.step, p.cut_before, p.cut_after) for p in scan(path).parts]


@pytest.mark.parametrize("step", [-3, 0, 1_001, 300_000_000, 99999999999999999999])
@pytest.mark.parametrize("swap", [0, 5])
def test_a_step_that_cannot_be_is_a_damaged_row(
    write_metrics: WriteMetrics, step: int, swap: int
) -> None:
    """It once made a record of each step up to it, until memory ran out."""
    rows = [(1, 0.1, 5), (1, 0.2, 5), (step, 0.3, swap), (1, 0.4, 5), (2, 0.5, 5)]
    path = write_metrics(*rows)
    assert [part[0] for part in told(path)] == [1, 2]
    assert scan(path).damaged == 1
    assert edges(path) == [(1, False, False), (2, False, False)]


def test_steps_go_as_far_as_the_case_declares(write_metrics: WriteMetrics) -> None:
    path = write_metrics((1, 0.1, 5), (2, 0.2, 5), (3, 0.3, 5))
    found = scan(path, most=2)
    assert ([part.step for part in found.parts], found.damaged) == ([1, 2], 1)


@pytest.mark.parametrize("at", ["1e300", "-5", "-0.1", "99999999999", "9" * 50])
def test_a_time_that_cannot_be_is_a_damaged_row(write_metrics: WriteMetrics, at: str) -> None:
    path = write_metrics((1, 0.1, 5), (1, at, 5), (1, 0.3, 5))
    found = scan(path)
    assert found.damaged == 1
    assert not found.parts[0].backwards
    assert found.parts[0].last["timestamp"] == 0.3


@pytest.mark.parametrize("at", ["5000", "0.05"])
def test_a_clock_that_jumps_and_comes_back_is_seen(write_metrics: WriteMetrics, at: str) -> None:
    path = write_metrics((1, 0.1, 5), (1, 0.2, 5), (1, at, 5), (1, 0.4, 5), (2, 0.5, 5), (2, 1, 5))
    assert [part.backwards for part in scan(path).parts] == [True, False]


def test_a_damaged_row_is_told_to_the_steps_beside_it(write_metrics: WriteMetrics) -> None:
    path = write_metrics((1, 0.1, 5), ("x", 0.2, 5), (2, 0.3, 5), (3, 0.4, 5), (3, 0.5, 5))
    assert edges(path) == [(1, False, True), (2, True, False), (3, False, False)]


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
