"""A comparison as JSON and as Markdown."""

import json
from typing import Any

from benchyard.analysis.comparison.document import FORMAT, VERSION, document, markdown
from benchyard.results.trust import Suspect
from tests.benchyard.analysis.comparison.conftest import (
    BASE,
    compared,
    failed,
    run,
    runs,
    scaled,
    step,
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


def test_markdown_is_a_table_and_names_are_no_markup() -> None:
    one, other = (
        [run(n, step(f * v, name="a|<b>")) for n, v in enumerate(BASE, 1)] for f in (1, 2)
    )
    text = markdown(compared(one, other), "old", "new")
    lines = text.splitlines()
    assert lines[0].startswith("**Candidate `new` against baseline `old`:** 1 regression;")
    assert lines[3].count("---") == lines[2].count(" | ") + 1 == 10
    assert "| A\\|\\<B\\> | 8/8 | 1.00 s | 2.00 s |" in text
    assert "❌ 2 times slower" in text
