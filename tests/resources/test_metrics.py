"""Metrics in what a program prints."""

import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
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
        )
    said = str(caught.value)
    assert "'a': there is no 'rat' of 'rat' in its JSON; did you mean 'rate'?" in said
    assert "'b': abc is no number" in said
    assert "'c': true is no number" in said
    assert "'d'" in said
    assert "'e': nothing matches 'x=(.)'" in said
    assert "'f'" in said


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
