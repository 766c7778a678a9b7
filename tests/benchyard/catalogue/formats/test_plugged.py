"""Formats that other packages add by an entry point."""

import os
import subprocess
import sys
from pathlib import Path

ASK = "from benchyard.catalogue.formats import OTHERS; print(*(one.name for one in OTHERS))"
GOOD = """
from benchyard.catalogue.formats.measurements import BenchmarkFile, Measurements
FORMAT = BenchmarkFile("seconds", "seconds", lambda head: False, lambda *_: Measurements([]))
"""


def asked(folder: Path, **entries: str) -> subprocess.CompletedProcess[str]:
    (folder / "good.py").write_text(GOOD)
    (folder / "bad.py").write_text("raise SystemExit('no licence')")
    info = folder / "plug-1.dist-info"
    info.mkdir()
    lines = "\n".join(f"{name} = {place}" for name, place in entries.items())
    (info / "entry_points.txt").write_text(f"[benchyard.formats]\n{lines}\n")
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", ASK]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True)


def test_a_format_of_another_package_is_the_last(tmp_path: Path) -> None:
    assert asked(tmp_path, seconds="good:FORMAT").stdout.split()[-1] == "seconds"


def test_what_cannot_be_loaded_is_told_and_left_out(tmp_path: Path) -> None:
    found = asked(tmp_path, broken="bad:FORMAT", other="good:GOOD", wrong="good:BenchmarkFile")
    assert "seconds" not in found.stdout
    assert "no format broken: SystemExit: no licence" in found.stderr
    assert "no format other" in found.stderr
    assert "no format wrong" in found.stderr
