"""``benchyard compact``."""

from pathlib import Path

from tests.benchyard.analysis.comparison.conftest import place, runs
from tests.benchyard.cli.conftest import Cli


def test_it_tells_what_it_wrote_and_compare_reads_it(tmp_path: Path, cli: Cli) -> None:
    old = place(tmp_path / "old", runs(*[1.0 + n / 100 for n in range(6)]))
    new = place(tmp_path / "new", runs(*[2.0 + n / 100 for n in range(6)]))
    out = cli("compact", old, "-o", tmp_path / "base").out
    head, row, _, total = out.splitlines()
    assert head.split() == ["CASE", "RUNS", "LARGEST", "RUN", "FOLDER"]
    assert row.split()[:2] == ["tpch", "1-6"]
    assert total.endswith("kB in all")
    assert "1 regression" in cli("compare", tmp_path / "base", new, code=3).out


def test_wrong_input_is_a_sentence(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "empty").mkdir()
    assert "no finished run" in cli("compact", tmp_path / "empty", "-o", tmp_path, code=2).err
    assert "is no folder" in cli("compact", tmp_path / "none", "-o", tmp_path, code=2).err
    assert "--output" in cli("compact", tmp_path, code=2).err
