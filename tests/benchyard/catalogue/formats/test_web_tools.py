"""What k6 and vitest wrote: units, names, statistics; what failed."""

import json
from pathlib import Path
from typing import Any

from benchyard.catalogue.formats.measurements import Measurement
from tests.benchyard.catalogue.formats.samples import K6, write
from tests.benchyard.catalogue.formats.test_others import loaded, only, rows, sample

# -- k6


def _k6(folder: Path, **metrics: Any) -> dict[tuple[str, str], Measurement]:
    write(folder, "k6.json", json.dumps({"root_group": {}, "metrics": metrics}).encode())
    return rows(only(folder))


def test_k6_metrics_of_data(tmp_path: Path) -> None:
    found = rows(sample(tmp_path, "k6"))
    wall = found["http_req_duration", "wall"]
    assert (wall.unit, wall.values) == ("s", ())
    assert wall.told == {
        "mean": 371.6463688888887 / 1e3,
        "median": 303.5241 / 1e3,
        "min": 268.6624 / 1e3,
        "max": 814.2146 / 1e3,
    }
    others = {key: (row.unit, row.values) for key, row in found.items() if row.values}
    assert others == {
        ("http_req_duration", "p(95)"): ("s", [798.57732 / 1e3]),
        ("http_reqs", "count"): ("1", [45]),
        ("http_reqs", "rate"): ("1/s", [3.348586516983361]),
        ("data_sent", "count"): ("B", [9680]),
        ("data_sent", "rate"): ("B/s", [720.3181663199763]),
        ("http_req_failed", "rate"): ("1", [0]),
        ("vus", "value"): ("1", [5]),
    }


def _exported(metric: dict[str, Any]) -> dict[str, Any]:
    """Return it as --summary-export writes it: without its type, with a rate as a value."""
    told = dict(metric["values"])
    return {**told, "value": told.pop("rate")} if metric["type"] == "rate" else told


def test_k6_an_export_tells_the_same(tmp_path: Path) -> None:
    exported = {name: _exported(metric) for name, metric in K6["metrics"].items()}
    found = _k6(tmp_path, **exported)
    assert found == rows(sample(tmp_path / "data", "k6"))


def test_k6_a_unit_that_an_export_does_not_tell_is_not_guessed(tmp_path: Path) -> None:
    trend = {"avg": 15, "max": 20, "med": 15, "min": 10, "p(90)": 19}
    found = _k6(tmp_path, my_trend=trend, **{"iteration_duration{scenario:a}": trend})
    own = found["my_trend", "value"]
    assert (own.unit, own.told["mean"], found["my_trend", "p(90)"].unit) == ("", 15, "")
    assert found["iteration_duration{scenario:a}", "wall"].told["max"] == 20 / 1e3


def test_k6_units_of_other_kinds(tmp_path: Path) -> None:
    sizes = {"type": "trend", "contains": "data", "values": {"p(99)": 7, "count": 3}}
    last = {"type": "gauge", "contains": "time", "values": {"value": 5, "min": 1, "max": 9}}
    found = _k6(tmp_path, sizes=sizes, last=last, free={"value": 2, "min": 2, "max": 2})
    assert found["sizes", "value"].told == {"n": 3}
    told = {key: (row.unit, row.values) for key, row in found.items() if row.values}
    assert told == {
        ("sizes", "p(99)"): ("B", [7]),
        ("last", "value"): ("s", [5e-3]),
        ("free", "value"): ("", [2]),
    }


def test_k6_numbers_that_are_none_are_left_out(tmp_path: Path) -> None:
    metric = {"type": "trend", "contains": "time", "values": {"avg": "fast", "p(95)": None}}
    found = _k6(tmp_path, slow=metric, counted={"count": "many", "rate": None})
    assert [(key, row.told) for key, row in found.items()] == [(("slow", "wall"), {})]


def test_k6_of_another_shape_is_told_with_its_place(tmp_path: Path) -> None:
    write(tmp_path, "k6.json", b'{"root_group": {}, "metrics": {"http_reqs": 5}}')
    assert "Expected `object`, got `int` - at `$.metrics[...]`" in only(tmp_path).broken


# -- vitest


def test_vitest_tells_statistics_in_milliseconds(tmp_path: Path) -> None:
    entry = sample(tmp_path, "vitest")
    row = rows(entry)["sum.bench.js > sums > loop", "wall"]
    assert (row.unit, row.statistic("n"), row.values) == ("s", 5, [])
    assert row.statistic("mean") == 0.004833200000012994 / 1e3
    assert row.statistic("stdev") == 0.006882724910968505 / 1e3
    assert loaded(entry).one_process


def test_vitest_as_it_says_itself(tmp_path: Path) -> None:
    found = rows(sample(tmp_path, "vitest"))
    means = [
        found[f"sum.bench.js > sums > {name}", "wall"].told["mean"] for name in ("reduce", "loop")
    ]
    # It wrote "loop - sum.bench.js > sums, 10.32x faster than reduce" to the terminal.
    assert f"{means[0] / means[1]:.2f}" == "10.32"


def test_vitest_tells_what_failed(tmp_path: Path) -> None:
    row = rows(sample(tmp_path, "vitest"))["sum.bench.js > sums > bad", "wall"]
    assert (row.told, row.note) == ({}, "failed: nothing was measured")


def test_vitest_samples_are_values(tmp_path: Path) -> None:
    one = {"name": "x", "samples": [2.0, None, 4.0], "mean": 3.0}
    told = {"files": [{"filepath": "a.js", "groups": [{"fullName": "", "benchmarks": [one]}]}]}
    write(tmp_path, "v.json", json.dumps(told).encode())
    row = rows(only(tmp_path))["x", "wall"]
    assert (row.values, row.told) == ([2e-3, 4e-3], {"mean": 3e-3})
