"""Otava's CSV, and any CSV whose columns the user names."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.catalogue.formats.csv_tools import parse_columns, read_csv
from benchyard.core.errors import InputError
from tests.benchyard.catalogue.formats.more_samples import OTAVA
from tests.benchyard.catalogue.formats.test_histories import read
from tests.benchyard.catalogue.formats.test_others import SHARED

_FIRST = 1_767_232_800  # 2026-01-01T03:00:00+01:00
_DAY = 86_400
_TABLE = """\
Commit,Date,Benchmark,Time,Threads,Try
b,2026-01-02T00:00:00Z,parse,"1,500",1,1
b,2026-01-02T00:00:00Z,parse,500,1,1
b,2026-01-02T00:00:00Z,parse,250,1,2
b,2026-01-02T00:00:00Z,parse,9,4,1
a,2026-01-01,load,,1,1
"""
_COLUMNS = {"name": "Benchmark", "value": "Time", "unit": "ms", "commit": "Commit", "time": "Date"}


def table(columns: dict[str, str] = _COLUMNS, text: str = _TABLE) -> Any:
    return read_csv(text.encode(), columns)


def test_each_row_of_otava_is_a_point_of_time() -> None:
    found = read("otava-csv", OTAVA.encode())
    parts = (*found.earlier, found)
    # In the order of time, which is not that of the file.
    assert [one.started_s for one in parts] == [_FIRST, _FIRST + _DAY, _FIRST + 2 * _DAY]
    # A commit is no metric, even if it has digits alone.
    assert [one.commit for one in parts] == ["aaa0", "1234567", "aaa2"]
    assert [(row.name, row.metric, row.unit, row.values) for row in found.rows] == [
        ("metric1", "value", "", [143_112]),
        ("metric2", "value", "", [10.29]),
    ]
    assert (parts[0].rows[1].values, parts[0].rows[1].note) == ([], "no value")
    assert found.about == {"branch": "main"}


@pytest.mark.parametrize("delimiter", ["\t", ";"])
def test_other_delimiters(delimiter: str) -> None:
    found = read("otava-csv", OTAVA.replace(",", delimiter).encode())
    assert [row.name for row in found.rows] == ["metric1", "metric2"]


@pytest.mark.skipif(SHARED is None, reason="real samples are not here")
def test_real_series() -> None:
    assert SHARED
    series: Path = SHARED / "series"
    found = read("otava-csv", (series / "otava_tigerbeetle.csv").read_bytes())
    assert found.earlier[0].rows[0].values == [26_705]
    columns = {"name": "Q8", "value": "value", "unit": "unit", "time": "time", "commit": "commit"}
    told = read_csv((series / "gab_risinglight_run-q8.csv").read_bytes(), columns)
    assert told.earlier[0].rows[0].values == [3_985_275_635 / 1e9]
    assert (told.earlier[0].commit, told.earlier[0].started_s) == ("a94674d63e", 1_713_288_545)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("time,a\n1,2\n3\n", "line 3 has 1 values; the first line 2 heads"),
        ("time,a\n1,2\nsoon,3\n", "line 3: 'soon' is no time"),
        ("time,a\n1,fast\n", "no column has times, or none has numbers"),
        ("time,commit\n1,2\n", "no column has times, or none has numbers"),
        ("times,a\n1,2\n", "no column has times, or none has numbers"),
        ("time,a,a\n1,2,3\n", "two columns are called 'a'"),
        ("", "no column has times, or none has numbers"),
    ],
)
def test_what_is_wrong_with_otava_is_told_with_its_line(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read("otava-csv", text.encode())


def test_rows_of_one_commit_are_measured_together() -> None:
    found = table({**_COLUMNS, "parameter.threads": "Threads"})
    assert (found.commit, found.started_s) == ("b", 1_767_312_000)
    assert [(row.name, row.metric, row.values, row.parameters) for row in found.rows] == [
        ("parse", "wall", [1.5, 0.5, 0.25], {"threads": "1"}),
        ("parse", "wall", [0.009], {"threads": "4"}),
    ]
    (earlier,) = found.earlier
    assert (earlier.commit, earlier.rows[0].note) == ("a", "no value")


def test_values_of_one_run_are_one_value() -> None:
    found = table({**_COLUMNS, "run": "Try", "parameter.threads": "Threads", "host": "box"})
    assert (found.host, found.one_process, table().one_process) == ("box", False, True)
    assert found.rows[0].values == [1.0, 0.25]


def test_a_metric_that_is_told_is_no_time_of_an_operation() -> None:
    (row,) = read_csv(
        b"n;v\nx;4\n", {"name": "n", "value": "v", "unit": "ops/s", "metric": "rate"}
    ).rows
    assert (row.metric, row.unit, row.values) == ("rate", "ops/s", [4])
    (row,) = read_csv(b"n;v\nx;4\n", {"name": "n", "value": "v", "unit": "ops/s"}).rows
    assert (row.metric, row.unit, row.values) == ("wall", "s", [0.25])


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"value": "Tiem"}, "there is no column 'Tiem'; did you mean 'Time'?"),
        ({"value": "seconds"}, "there is no column 'seconds'; known: "),
        ({"name": "benchmark"}, "there is no column 'benchmark'; did you mean 'Benchmark'?"),
        ({"value": "Benchmark"}, "line 2: 'parse' in value is no number"),
        ({"time": "Threads", "value": "Benchmark"}, "line 2: 'parse' in value is no number"),
        ({"time": "Benchmark"}, "line 2: 'parse' is no time"),
    ],
)
def test_columns_that_do_not_fit(columns: dict[str, str], said: str) -> None:
    with pytest.raises(InputError) as told:
        table({**_COLUMNS, **columns})
    assert str(told.value).startswith(said)


def test_a_row_without_a_name_and_doubled_heads_are_told() -> None:
    with pytest.raises(InputError, match="line 3 names no benchmark"):
        table(text="Benchmark,Time,Commit,Date\na,1,c,\n,2,c,\n")
    with pytest.raises(InputError, match="two columns are called 'Time'"):
        table(text="Benchmark,Time,Time\na,1,2\n")


@given(st.text(st.sampled_from('12.e-:Z,;"\t\r\n\0 naT')))
def test_no_text_fails_otherwise(text: str) -> None:
    for content in (text, "time,a\n" + text, OTAVA + text):
        with suppress(InputError):
            read("otava-csv", content.encode())
        with suppress(InputError):
            read_csv(content.encode(), {"name": "any", "value": "a", "time": "time"})
    with suppress(InputError):
        parse_columns(text)


def test_columns_are_told_in_one_line() -> None:
    told = 'name=Benchmark, "value=Time, wall",unit=ms,parameter.n=N=1'
    assert parse_columns(told) == {
        "name": "Benchmark",
        "value": "Time, wall",
        "unit": "ms",
        "parameter.n": "N=1",
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no column is named for 'name'"),
        ("name=B", "no column is named for 'value'"),
        ("name=B,value", "'value' names no column: write name=HEAD"),
        (
            "name=B,value=V,untit=ms",
            "'untit' is nothing that a column can be; did you mean 'unit'?",
        ),
        ("name=B\rvalue=V", "'name=B\\rvalue=V' names no columns: "),
        ("name=B,value=V,name=C", "'name' is named twice, as B and as C"),
    ],
)
def test_columns_that_are_told_wrongly(text: str, said: str) -> None:
    with pytest.raises(InputError) as told:
        parse_columns(text)
    assert str(told.value).startswith(said)
