"""TPC-H: the generator, and the answers of the shipped cases."""

import csv
import json
import math
import re
import shutil
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from benchyard.case.resource import NoSettings, Workspace
from benchyard.core.errors import CommandFailedError
from resources import tpch
from resources.embedded import EmbeddedDatabase
from resources.tpch import TPCH

CASES = Path(__file__).parents[2] / "cases" / "tpch"
QUERIES = ("q01", "q03", "q05", "q06", "q10", "q12", "q14", "q18", "q19")


@pytest.fixture
def generator(workspace: Workspace) -> TPCH:
    return TPCH(NoSettings(), workspace)


def test_the_version_is_the_program_s_own(generator: TPCH) -> None:
    assert re.fullmatch(r"tpchgen\S* \d+\.\d+\.\d+", generator.version())


def test_only_the_wanted_tables_are_made_anew_each_time(
    generator: TPCH, workspace: Workspace
) -> None:
    folder = workspace.shared / "data/small"
    folder.mkdir(parents=True)
    (folder / "nation.tbl").write_text("from an attempt that was killed")
    result = generator.generate(0.001, "data/small", ["nation", "region"])
    assert sorted(path.name for path in folder.iterdir()) == ["nation.tbl", "region.tbl"]
    assert len((folder / "nation.tbl").read_text().splitlines()) == 25
    assert (folder / "nation.tbl").read_text().startswith("0|ALGERIA|0|")
    size = sum(path.stat().st_size for path in folder.iterdir())
    assert result.values == {"bytes": size, "tables": 2}
    assert generator.generate(0.001).values["tables"] == 8
    assert len((workspace.shared / "tpch/orders.tbl").read_bytes().splitlines()) == 1500


@pytest.mark.parametrize(
    ("scale", "folder", "why"),
    [*((scale, "tpch", "scale_factor") for scale in (0, -1, math.nan)), (0.001, "../t", "outside")],
)
def test_a_wrong_scale_and_a_folder_outside_of_the_case_are_refused(
    generator: TPCH, scale: float, folder: str, why: str
) -> None:
    with pytest.raises(CommandFailedError, match=why):
        generator.generate(scale, folder)


def test_a_missing_program_is_told(
    generator: TPCH, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    for call in (generator.version, lambda: generator.generate(0.001)):
        with pytest.raises(CommandFailedError, match="pip install tpchgen-cli"):
            call()


def test_a_program_that_writes_nothing_is_caught(
    generator: TPCH, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tpch, "find_program", lambda: Path("/bin/true"))
    with pytest.raises(CommandFailedError, match=r"did not write 'customer\.tbl'"):
        generator.generate(0.001)


def values(path: Path) -> list[list[str]]:
    with path.open(newline="") as stream:
        return list(csv.reader(stream))


#: The larger one takes the engines half a minute.
SCALES = ("0.01", pytest.param("0.1", marks=pytest.mark.long))


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", ["SQLite", "DuckDB"])
def test_the_expected_answers_are_what_the_engine_gives(
    name: str,
    scale: str,
    generator: TPCH,
    workspace: Workspace,
    open_database: Callable[[str], EmbeddedDatabase[Any]],
) -> None:
    case = CASES / name.lower()
    shutil.copytree(case / "data/shared", workspace.shared, dirs_exist_ok=True)
    steps = json.loads((case / "metadata.json").read_text())["steps"]
    generator.generate(float(scale))
    database = open_database(name)
    for _ in range(2):  # a step may be repeated on the same database
        database.load_multiple(**steps[1]["parameters"])
    for query in QUERIES:
        database.execute_query_file(f"queries/{query}.sql", f"{query}.csv")
        given = values(workspace.file(f"{query}.csv"))
        expected = values(workspace.file(f"expected/sf{scale}/{query}.csv"))
        assert [len(row) for row in given] == [len(row) for row in expected], query
        for mine, theirs in zip(given, expected, strict=True):
            assert all(map(same, mine, theirs)), f"{query}: {mine}, not {theirs}"


def same(mine: str, theirs: str) -> bool:
    try:
        return math.isclose(float(mine), float(theirs), rel_tol=1e-6)
    except ValueError:
        return mine == theirs


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
def test_q1_and_q6_as_decimals_computed_from_the_files(
    scale: str, generator: TPCH, workspace: Workspace
) -> None:
    generator.generate(float(scale), tables=["lineitem"])
    revenue, groups = Decimal(0), dict[tuple[str, str], list[Decimal]]()
    with workspace.file("tpch/lineitem.tbl").open() as stream:
        for line in stream:
            cells = line.split("|")
            quantity, price, discount, tax = map(Decimal, cells[4:8])
            in_1994 = "1994-01-01" <= cells[10] < "1995-01-01"
            if in_1994 and Decimal("0.05") <= discount <= Decimal("0.07") and quantity < 24:
                revenue += price * discount
            if cells[10] <= "1998-09-02":
                net = price * (1 - discount)
                row = [quantity, price, net, net * (1 + tax), discount, Decimal(1)]
                sums = groups.get((cells[8], cells[9]), [Decimal(0)] * 6)
                groups[cells[8], cells[9]] = [a + b for a, b in zip(sums, row, strict=True)]
    expected = CASES / "sqlite/data/shared/expected" / f"sf{scale}"
    assert Decimal(values(expected / "q06.csv")[1][0]) == revenue
    for row in values(expected / "q01.csv")[1:]:
        sums = groups.pop((row[0], row[1]))
        assert [Decimal(cell) for cell in row[2:6]] == sums[:4]
        means = [sums[at] / sums[5] for at in (0, 1, 4)]
        for cell, mean in zip(row[6:9], means, strict=True):
            assert math.isclose(float(cell), mean, rel_tol=1e-12)
        assert int(row[9]) == sums[5]
    assert not groups
