"""TPC-H: the generator, and the answers of the shipped cases."""

import csv
import json
import math
import re
import shutil
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from benchyard import cli
from benchyard.case.resource import NoSettings, Workspace
from benchyard.core.errors import CommandFailedError, ExitCode
from resources import tpch
from resources.tpch import TPCH
from tests.resources._databases.conftest import IMAGES

CASES = Path(__file__).parents[2] / "cases" / "tpch"


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


ENGINES = [
    *("SQLite", "DuckDB"),
    pytest.param("PostgreSQL", marks=pytest.mark.requires("docker", "image:postgresql")),
]


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", ENGINES)
def test_every_answer_of_the_shipped_case_is_right(name: str, scale: str, tmp_path: Path) -> None:
    folder = tmp_path / "cases" / name.lower()
    shutil.copytree(CASES / name.lower() / "data", folder / "data")
    document: dict[str, Any] = json.loads((CASES / name.lower() / "metadata.json").read_text())
    document["matrix"] = {"scale": [float(scale)]}
    if name in IMAGES:
        document["resources"][name]["image"] = IMAGES[name]
    (folder / "metadata.json").write_text(json.dumps(document))
    places = ["--root", str(tmp_path / "cases"), "--results", str(tmp_path / "results")]
    code = cli.call(["run", str(folder), *places, "--direct", "--runs", "1", "--cooldown", "0"])
    assert code == ExitCode.DONE
    [path] = (tmp_path / "results").rglob("run.json")
    record = json.loads(path.read_text())
    assert len(record["steps"]) >= 11
    assert {step["outcome"] for step in record["steps"]} == {"completed"}
    assert record["resources"][name]["version"][0].isdigit()


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
