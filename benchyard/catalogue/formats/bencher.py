"""Bencher Metric Format: ``{BENCHMARK: {MEASURE: {"value": NUMBER}}}``.

Source: bencher.dev/docs/reference/bencher-metric-format.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from benchyard.catalogue.formats.benchmark_file import BenchmarkFile, decoded
from benchyard.catalogue.formats.measurements import Measurement, Measurements, known
from benchyard.catalogue.formats.sniffing import Head

#: Measures that Bencher itself defines, with our units, and how many of theirs make one.
_MEASURES = {
    "latency": ("s", 1e9),
    "throughput": ("1/s", 1.0),
    "build-time": ("s", 1.0),
    "file-size": ("B", 1.0),
}
_NO_NUMBER = re.compile(rb'"(?:lower_|upper_)?value"\s*:\s*[^\s\d\-n]')


class _Metric(Struct, forbid_unknown_fields=True):
    value: float
    lower_value: float | None = None
    upper_value: float | None = None


def _read(content: bytes, _place: Path) -> Measurements:
    return Measurements([*_rows(decoded(content, dict[str, dict[str, _Metric]]))])


def _rows(benchmarks: dict[str, dict[str, _Metric]]) -> Iterator[Measurement]:
    for name, measures in benchmarks.items():
        for measure, one in measures.items():
            unit, parts = _MEASURES.get(measure, ("", 1.0))
            yield Measurement(name, measure, unit, known([one.value / parts]), note=_bounds(one))


def _bounds(one: _Metric) -> str:
    told = {"lower_value": one.lower_value, "upper_value": one.upper_value}
    said = [f"{name} {value:.15g}" for name, value in told.items() if value is not None]
    return f"the file has {', '.join(said)}" if said else ""


def _is_bencher(head: Head) -> bool:
    """Tell whether each key of the third level is a member of a metric, with a number behind it.

    Nothing in the format says its name.
    """
    third = {keys[2] for keys in head.keys if len(keys) == 3}
    members = set(_Metric.__struct_fields__)
    return "value" in third and third <= members and _NO_NUMBER.search(head.text) is None


BENCHER = BenchmarkFile("bencher", "Bencher Metric Format", _is_bencher, _read)
