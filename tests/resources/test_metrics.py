"""Metrics in what a program prints."""

import json
import math
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchyard.case.resource import NoSettings, Workspace
from benchyard.core.errors import CommandFailedError
from resources import _metrics
from resources._metrics import (
    Metric,
    MissingError,
    number_of,
    printed_metrics,
    refused_metrics,
    value_at,
)
from resources.process import Process


def grouped(thousands: str) -> Metric:
    return {"pattern": r"took (-?\d[\d.,' ]*\d) rows", "thousands": thousands}


def printed(tmp_path: Path, text: str, **wanted: Metric) -> dict[str, Any]:
    output = tmp_path / "out.txt"
    output.write_text(text)
    return printed_metrics(output, wanted)


@pytest.mark.parametrize(
    ("path", "value"), [("a.b", 1.5), ("a.c.1", 20), ("/a/d.e~1f~0", 3.0), ("a.g", 1000.0)]
)
def test_a_number_in_json_is_found(tmp_path: Path, path: str, value: float) -> None:
    document = {"a": {"b": 1.5, "c": [10, 20], "d.e/f~": 3.0, "g": "1e3"}}
    assert printed(tmp_path, json.dumps(document), x={"json": path}) == {"x": value}
    talked = f"warming up\nready\n{json.dumps(document)}\n"
    assert printed(tmp_path, talked, x={"json": path}) == {"x": value}


def test_the_last_match_of_a_pattern_counts(tmp_path: Path) -> None:
    text = "at 1 s: 100/s\nat 2 s: 250/s\n"
    by_group: Metric = {"pattern": r"(\d+)/s"}
    by_name: Metric = {"pattern": r"(at) (\d) s: (?P<value>\d+)", "factor": 0.001}
    assert printed(tmp_path, text, x=by_group, y=by_name) == {"x": 250, "y": 0.25}


LEFT, RIGHT = "the number goes on to the left: ", "the number goes on to the right: "


@pytest.mark.parametrize(
    ("wanted", "text", "outcome"),
    [
        (r"(\d+) rows/s", "1,234,567 rows/s", LEFT + "1,234,567"),
        (r"(\d+) MB/s", "12.5 MB/s", LEFT + "12.5"),
        (r"(\d+) q/s", "1e6 q/s", LEFT + "1e6"),
        (r"(\d+) q/s", "1.5E-6 q/s", LEFT + "1.5E-6"),
        (r"(-\d+) q/s", "1e-6 q/s", LEFT + "1e-6"),
        (r"(\d+) units", "-5 units", LEFT + "-5"),
        (r"(\d+) units", "\N{MINUS SIGN}5 units", LEFT + "\N{MINUS SIGN}5"),
        (r".*(\d+)", "rows: 1,234", LEFT + "1,234"),
        (r",?(\d+) rows", "1,234 rows", LEFT + "1,234"),
        (r"(\d+) rows", "1'234 rows", LEFT + "1'234"),
        (r"(\d+) rows", "1\N{NARROW NO-BREAK SPACE}234 rows", LEFT + "1"),
        ({"pattern": r"(\d+) rows", "thousands": " "}, "1 234 rows", LEFT + "1 234"),
        (r"took (\d+)", "took 12.5 s", RIGHT + "12.5"),
        (r"took (\d+)", "took 1,234 s", RIGHT + "1,234"),
        (r"took ([\d.]+)", "took 1.5e-6 s", RIGHT + "1.5e-6"),
        (r"took \d(\d)", "took 1234 s", "the number goes on to both sides: 1234"),
        (r"(\d+) rows", "1234 rows", 1234),
        (r"(-?[\d.]+) s", "at -1.5 s", -1.5),
        (r"took (\d+)", "took 12. Then", 12),
        (r"took (\d+)", "took 12elements", 12),
        (r"(\d+) s", "run-5 s", 5),
        (r"-(\d+)$", "2026-11-05", 5),
        (r"(\d+) s", "node.5 s", 5),
        # Where the pattern itself names the neighbour, that is its author's will.
        (r"^a,(\d+),", "a,10,200", 10),
        (r"(?<=\.)(\d+)", "v12.5", 5),
        (r"drop: -(\d+) %", "drop: -5 %", 5),
        (r"x: (\s*\d+)", "x:  5", 5),
        (r"([\d.]+)", "1e3 1.5e3\n2.5", 2.5),
        (grouped(","), "took 1,234,567 rows", 1_234_567),
        (grouped(","), "took -1,234.5 rows", -1234.5),
        (grouped(","), "took 12,34,567 rows", 1_234_567),
        (grouped("."), "took 1.234,5 rows", 1234.5),
        (grouped("."), "took 1,5 rows", 1.5),
        (grouped("'"), "took 1'234 rows", 1234),
        (grouped(" "), "took 1 234 rows", 1234),
        (grouped(","), "took 1,31 rows", "1,31 has no groups of"),
        ({"pattern": r"(\d+) (?P<unit>\w+)"}, "5 parsec", "'parsec' is no known unit; known: "),
    ],
)
def test_a_whole_number_is_taken_and_a_part_is_no_match(
    tmp_path: Path, wanted: str | Metric, text: str, outcome: float | str
) -> None:
    metric: Metric = {"pattern": wanted} if isinstance(wanted, str) else wanted
    if not isinstance(outcome, str):
        assert printed(tmp_path, text, x=metric) == {"x": outcome}
        return
    with pytest.raises(CommandFailedError, match=f"'x': {re.escape(outcome)}"):
        printed(tmp_path, text, x=metric)
    if outcome.startswith("the number goes on"):
        assert printed(tmp_path, text, x={**metric, "optional": True}) == {"x": None}


@given(
    st.floats(-1e12, 1e12) | st.integers(-(10**12), 10**12),
    st.sampled_from(["{}", "{:,}", "{:_}", "{:e}", "{:+}", "{:.3f}"]),
    st.sampled_from([r"(\d+)", r"(-?\d+)", r"([\d.]+)", r"(-?[\d.]+)", r"([-+\d.e]+)", r"(\d)"]),
)
@settings(max_examples=25, deadline=None)
def test_a_number_is_read_as_printed_or_refused(value: float, form: str, group: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        text = form.format(value)
        patterns = (f"took {group}", f"{group} rows", f"took .*{group}")
        wanted: dict[str, Metric] = {
            f"x{at}": {"pattern": pattern, "optional": True} for at, pattern in enumerate(patterns)
        }
        found = printed(Path(folder), f"took {text} rows", **wanted)
        assert {*found.values()} <= {None, float(text.replace(",", ""))}


_UNITS = [
    ("944 us", 0.000944),
    ("1.09 ms", 0.00109),
    ("7 µs", 7e-6),
    ("7 \N{GREEK SMALL LETTER MU}s", 7e-6),
    ("12 ns/op", 12e-9),
    ("2.5 s", 2.5),
    ("1.5 min", 90),
    ("3 kB", 3000),
    ("3 KiB", 3072),
    ("1.5 MiB/s", 1_572_864),
    ("2 GB", 2e9),
    ("12.5 %", 0.125),
    ("3.1 k", 3100),
    ("2 Melem/s", 2e6),
    ("42 ", 42),
]


def test_a_unit_that_is_printed_is_read(tmp_path: Path) -> None:
    lines = [f"{at}: {text}" for at, (text, _) in enumerate(_UNITS)]
    behind: dict[str, Metric] = {
        f"x{at}": {"pattern": rf"^{at}: ([\d.]+) ?(?P<unit>\S*)"} for at in range(len(_UNITS))
    }
    found = printed(tmp_path, "\n".join(lines), **behind)
    assert found == {f"x{at}": value for at, (_, value) in enumerate(_UNITS)}
    before: Metric = {"pattern": r"in (?P<unit>\S*): ([\d.]+)", "factor": 10}
    assert printed(tmp_path, "in ms: 5", x=before) == {"x": 0.05}


def test_all_that_is_missing_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(CommandFailedError) as caught:
        printed(
            tmp_path,
            '{"rate": 1, "text": "abc", "no": true, "big": 1e999}',
            a={"json": "rat"},
            b={"json": "text"},
            c={"json": "no", "optional": True},
            d={"json": "big"},
            e={"pattern": "x=(.)"},
            f={"json": "rate.x"},
            g={"pattern": "rate(,?)"},
            h={"pattern": "big(x)?", "optional": True},
        )
    said = str(caught.value)
    for part in (
        *("'a': there is no 'rat' of 'rat' in its JSON; did you mean 'rate'?", "'d'", "'f'"),
        *("'b': abc is no number", "'c': true is no number", "'g':  is no number"),
        "'e': nothing matches 'x=(.)'",
    ):
        assert part in said
    assert "'h'" not in said


def test_what_is_optional_may_be_missing(tmp_path: Path) -> None:
    wanted: dict[str, Metric] = {
        "a": {"json": "x", "optional": True},
        "b": {"pattern": "(x)", "optional": True},
    }
    assert printed(tmp_path, "no JSON", **wanted) == {"a": None, "b": None}
    assert printed_metrics(None, wanted) == {"a": None, "b": None}
    with pytest.raises(CommandFailedError, match="nothing was printed"):
        printed_metrics(None, {"a": {"json": "x"}})


def test_a_pattern_that_takes_for_ever_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_metrics, "SEARCH_SECONDS", 1)
    with pytest.raises(CommandFailedError, match="let repetitions in a pattern not overlap"):
        printed(tmp_path, "a" * 64, x={"pattern": "((?:a+)+)$b"})


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53))
def test_every_number_is_read_as_it_was_written(value: float) -> None:
    assert number_of(json.loads(json.dumps(value))) == value
    assert number_of(repr(value)) == value


@given(st.recursive(st.none() | st.booleans() | st.text() | st.floats(), st.lists), st.text())
def test_whatever_is_printed_ends_in_a_number_or_a_sentence(document: object, path: str) -> None:
    told: list[str] = []
    try:
        number = number_of(value_at(document, path))
    except MissingError as error:
        told.append(str(error))
    else:
        told.append("a number" if math.isfinite(number) else "")
    assert all(told)


@pytest.mark.parametrize(
    ("metrics", "said"),
    [
        ({"a b": "x"}, "has not the form"),
        ({"exit_code": "x"}, "is reported by the command itself"),
        ({"client_cpu_user_s": "x"}, "is reported by the command itself"),
        ({"a": {}}, "must have one of"),
        ({"a": {"json": "x", "pattern": "(x)"}}, "must have one of"),
        ({"a": ""}, "json is empty"),
        ({"a": {"pattern": "("}}, "no regular expression"),
        ({"a": {"pattern": "x"}}, "must have one group"),
        ({"a": {"pattern": "(x)(y)"}}, "must have one group"),
        ({"a": {"pattern": "(?P<unit>y)"}}, "must have one group"),
        ({"a": {"pattern": "(x)", "thousands": "x"}}, "thousands is"),
        ({"a": {"json": "x", "thousands": ","}}, "thousands is"),
        ({"a": {"json": "x", "unit": "a\nb"}}, "printable"),
        ({"a": {"json": "x", "factor": 0}}, "factor"),
    ],
)
def test_wrong_metrics_are_refused_before(metrics: dict[str, Any], said: str) -> None:
    ((path, text),) = refused_metrics(metrics)
    assert path[:2] == ("parameters", "metrics")
    assert said in text


def test_good_metrics_are_not_refused() -> None:
    good: dict[str, Any] = {
        "throughput": {"json": "r.rps", "unit": "req/s", "direction": "larger is better"},
        "p99_s": {"pattern": "(?P<value>.)(x)", "factor": 0.001, "optional": True},
        "mean_s": {"pattern": "(.) (?P<unit>.)", "thousands": ","},
        "x": "y",
    }
    assert [*refused_metrics(good)] == []


def test_a_process_reports_what_it_prints(workspace: Workspace) -> None:
    process = Process(NoSettings(), workspace)
    program = [sys.executable, "-c", "print('{\"rate\": 5}')"]
    result = process.execute(program, metrics={"rate_per_s": "rate"})
    assert "rate_per_s" not in result.values  # it is read when nothing is measured any more
    assert result.verified().values["rate_per_s"] == 5
    missing = process.execute(program, metrics={"x": "y"})
    with pytest.raises(CommandFailedError, match="lacks metrics: 'x'"):
        missing.verified()
