"""The table of formats says what the readers make of a file of each."""

from pathlib import Path

from benchyard.catalogue.formats import OTHERS, read_measurements
from benchyard.catalogue.formats.measurements import BenchmarkFile, Measurements
from benchyard.catalogue.formats.writing_more import WRITERS
from docs.site import build
from tests.benchyard.catalogue.formats.samples import SAMPLES, write_all

_HEADS = ("format", "tool", "recognised by", "values", "metrics", "side, import", "export")


def _values(measured: Measurements) -> str:
    most = max(len(row.values) for row in measured.rows)
    one = "one a commit" if measured.earlier else "one"
    return "no" if most == 0 else one if most == 1 else "yes"


def _row(one: BenchmarkFile, folder: Path) -> str:
    found = read_measurements(folder / SAMPLES[one.name][0])
    assert found is not None
    assert found[0] is one
    metrics = dict.fromkeys(row.metric for row in found[1].rows)
    shown = ", ".join([*metrics][:4]) + ", …" * (len(metrics) > 4)
    timed = "yes" if {"wall", "latency"} & set(metrics) else "no"
    told = (f"`{one.name}`", one.tool, one.by, _values(found[1]), shown, timed)
    return f"| {' | '.join((*told, 'yes' if one.name in WRITERS else 'no'))} |"


def test_the_page_has_a_row_for_each_format_of_benchmarks(tmp_path: Path) -> None:
    write_all(tmp_path)
    formats = [one for one in OTHERS if isinstance(one, BenchmarkFile)]
    head = [f"| {' | '.join(_HEADS)} |", "|" + "---|" * len(_HEADS)]
    table = "\n".join([*head, *(_row(one, tmp_path) for one in formats)])
    page = (build.DOCS / "reference/formats.md").read_text()
    assert table in page, f"docs/reference/formats.md is to have this table:\n{table}"
