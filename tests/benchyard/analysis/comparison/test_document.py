"""A comparison as JSON and as Markdown."""

import json
from typing import Any

from benchyard.analysis.comparison.document import FORMAT, VERSION, document
from benchyard.results.trust import Suspect
from tests.benchyard.analysis.comparison.conftest import (
    BASE,
    compared,
    failed,
    run,
    runs,
    scaled,
)


def test_the_document_is_json_and_has_everything() -> None:
    one = compared([*runs(*BASE), run(9, failed())], scaled(1.5), suspect=Suspect.INCLUDE)
    made: Any = json.loads(json.dumps(document(one, ["old", "new@1-8"]), allow_nan=False))
    assert (made["format"], made["version"]) == (FORMAT, VERSION)
    assert made["sides"] == ["old", "new@1-8"]
    assert made["verdict"] == "regression"
    assert made["rule"]["suspect"] == "include"
    assert made["rule"]["include_suspect"] is False
    [case] = made["cases"]
    assert case["baseline"]["failed_runs"] == [9]
    assert case["candidate"]["runs"] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert [finding["verdict"] for finding in case["findings"]] == ["improvement"]
    [row] = made["comparisons"]
    assert row["baseline"]["values"] == BASE
    assert row["baseline"]["left_out"] == {"failed": 1}
    assert row["difference_interval"][0] < row["difference"] < row["difference_interval"][1]
    assert row["ratio_interval"][0] < 1.5 < row["ratio_interval"][1]
    assert (row["verdict"], row["words"], row["reason"]) == ("regression", "slower", None)
    assert row["p_value"] <= row["adjusted_p_value"] <= 0.01


def test_the_document_of_no_values_has_nulls() -> None:
    broken = compared(scaled(1), [run(1, failed())])
    made: Any = json.loads(json.dumps(document(broken, ["a", "b"]), allow_nan=False))
    row = made["comparisons"][0]
    assert (
        row["p_value"] is row["adjusted_p_value"] is row["ratio"] is row["ratio_interval"] is None
    )
    assert row["candidate"]["median"] is None
    assert row["reason"] == "no value in the candidate: 1 failed"
