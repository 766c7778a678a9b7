"""Booking samples on steps, differences since the first one, and cells."""

import csv
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from benchyard.host.collector import MeasuredRun
from benchyard.host.sampler import rows
from benchyard.host.sampler.rows import Boundary, HostColumns, MetricsRows, StepSpan
from benchyard.results.metrics_csv import COLUMNS as CSV_COLUMNS
from tests.benchyard.host.sampler.frames import COLUMNS


def number(text: str) -> int | float | None:
    if not text:
        return None
    return int(text) if text.lstrip("-").isdecimal() else float(text)


def execution(index: int, start: int, end: int) -> StepSpan:
    return StepSpan(index, Boundary(start, ()), Boundary(end, ()))


def run(case: str = "c", number: int = 4, origin_ns: int = 0) -> MeasuredRun:
    return MeasuredRun(Path(), case, number, 0.1, origin_ns)


def parts(**known: float) -> tuple[rows.Values, ...]:
    return Boundary(0, tuple(known.get(name) for name in COLUMNS)).parts


def row(line: str) -> dict[str, str]:
    assert line.endswith("\n")
    return next(csv.DictReader([",".join(CSV_COLUMNS), line]))


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 30)), max_size=6), st.integers(-5, 100)
)
def test_of_all_under_way_it_is_the_latest_begun(spans: list[tuple[int, int]], at_ns: int) -> None:
    each = [execution(i, start, start + length) for i, (start, length) in enumerate(spans, 1)]
    on = [one for one in each if one.begins.at_ns <= at_ns <= one.ends.at_ns]
    latest = max((one.begins.at_ns for one in on), default=None)
    wanted = {one.step for one in on if one.begins.at_ns == latest} or {None}
    assert rows.Booking(each).step(at_ns) in wanted


def test_where_counters_fall_the_row_is_left_out() -> None:
    made = MetricsRows(run())
    known = [{"network_received_bytes": n, "network_sent_bytes": 1} for n in (10, 30, 20, 40)]
    lines = [made.line(at, 1, parts(**each)) for at, each in enumerate(known)]
    assert lines[2] == ""
    found = [row(line) for line in lines if line]
    names = ("index", "network_received_bytes", "network_sent_bytes")
    values = [tuple(r[name] for name in names) for r in found]
    assert values == [("1", "0", "0"), ("2", "20", "0"), ("3", "30", "0")]


def test_a_line_fits_krowns_header() -> None:
    assert sum(rows.LENGTHS) == len(COLUMNS)
    values = {name: at for at, name in enumerate(COLUMNS, 1)}
    made = MetricsRows(run())
    made.line(0, 1, parts(**dict.fromkeys(COLUMNS, 0)))
    found = row(made.line(1, 1, parts(**values)))
    assert {name: float(found[name]) for name in COLUMNS} == values
    assert float(found["cpu_user_system"]) == values["cpu_user"] + values["cpu_system"]
    assert float(found["memory_ram_swap"]) == values["memory_ram"] + values["memory_swap"]


def test_counters_start_at_zero_and_levels_stay() -> None:
    made = MetricsRows(run(origin_ns=1_000_000_000))
    known = [
        (2_000_000_000, parts(cpu_user=772.81, cpu_system=0.1, memory_ram=7, memory_swap=2)),
        (2_500_000_001, parts(cpu_user=772.85, cpu_system=0.4, memory_ram=9, memory_swap=2)),
    ]
    lines = [row(made.line(at, 3, values)) for at, values in known]
    names = ("index", "name", "run", "step", "timestamp", "memory_ram_swap")
    assert [[r[name] for name in names] for r in lines] == [
        ["1", "c", "4", "3", "1.0", "9"],
        ["2", "c", "4", "3", "1.500000001", "11"],
    ]
    times = [float(r[name]) for name in ("cpu_user", "cpu_user_system") for r in lines]
    assert times == [0.0, 0.04, 0.0, 0.34]


def test_defect_25_what_is_unknown_stays_unknown() -> None:
    made = MetricsRows(run())
    made.line(1, 1, parts())
    found = row(made.line(2, 1, parts(cpu_user=1.0)))
    assert {found[name] for name in (*COLUMNS, "cpu_user_system", "memory_ram_swap")} == {""}


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\0")))
def test_any_title_is_one_cell(title: str) -> None:
    line = MetricsRows(run(case=title)).line(0, 1, parts(memory_ram=5))
    assert row(line)["name"] == title
    assert row(line)["memory_ram"] == "5"


@given(st.lists(st.none() | st.integers() | st.floats(allow_nan=False)))
def test_cells_read_back_exactly(values: list[float | None]) -> None:
    found = rows.cells(values).split(",") if values else []
    assert [number(cell) for cell in found] == values


DISK = b"1 0 2 10 3 0 4 20 0 30 50\n"


def test_disks_are_added_up_and_one_that_was_taken_out_stays_in_the_sum() -> None:
    columns, one = HostColumns(), (1, 3, 2 * 512, 4 * 512, 10, 20, 30)
    for disk, content, count in (("a", DISK, 1), ("b", DISK, 2), ("b", None, 2)):
        columns.update(f"disk/{disk}", content)
        assert columns.parts[2] == tuple(count * value for value in one)


LINE = b"%b: %d 1 0 0 0 0 0 0 %d 1 0 0 0 0 0 0\n"


def test_an_interface_that_vanished_stays_in_the_sum_and_a_new_one_begins_anew() -> None:
    columns = HostColumns()
    found: list[float | None] = []
    for eth, veth in ((10, 50), (11, None), (12, 7), (12, 9), (None, None)):
        counts = ((b"eth0", eth), (b"veth", veth))
        lines = [LINE % (name, count, 1) for name, count in counts if count is not None]
        columns.update("network", b"".join(lines))
        found.append(columns.parts[3][2])
    assert found == [60, 61, 69, 71, 71]


def test_a_file_that_is_gone_is_unknown() -> None:
    columns = HostColumns()
    columns.update("stat", b"cpu  100 0 100 100 100 0 0 0\n")
    assert None not in columns.parts[0]
    columns.update("stat", None)
    assert columns.parts[0] == (None,) * 4
