"""The page of a case's result, and the table of a suite."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from benchyard.core.model import Json, Outcome
from benchyard.results.record import Attempt, ErrorRecord, RunRecord
from benchyard.results.summary import summarize
from benchyard.show.pages.result import result_page, suite_table
from tests.benchyard.analysis.comparison.conftest import WHEN, failed, step
from tests.benchyard.analysis.comparison.conftest import run as make_run

PLACE = Path("/results")


def record(run: int, seconds: float, name: str = "load", own: float | None = None) -> RunRecord:
    values: dict[str, Json] = {} if own is None else {"run_s": own}
    return make_run(run, replace(step(seconds, values=values), name=name))


def summary(*seconds: float, name: str = "load") -> dict[str, Any]:
    records = [record(run, length, name) for run, length in enumerate(seconds, 1)]
    return cast("dict[str, Any]", summarize("words", records))


def test_page_has_the_summary_and_the_picture() -> None:
    page = result_page("words", summary(1.0, 2.0, 3.0), [4], PLACE, (2, "<svg/>"))
    assert "# words" in page
    assert "3 runs done, run 4 failed." in page
    assert "| 1 | load | 3 | 2.00 s | - | 50 % | 1.00 s | 3.00 s | 3 completed |\n" in page
    assert "## Curves of run 2, the median one" in page
    assert "![run 2](data:image/svg+xml;base64,PHN2Zy8+)" in page
    assert "`/results`" in page


def test_a_programs_own_time_is_shown_where_it_is_not_the_steps() -> None:
    for own, is_shown in ((1.985, False), (1.9, True)):
        document = cast("dict[str, Any]", summarize("words", [record(1, 2.0, own=own)]))
        page = result_page("words", document, [], PLACE, None)
        assert ("| Own |" in page) is is_shown
        assert ("| 2.00 s | 1.90 s | 1 completed |" in page) is is_shown


def test_page_says_where_and_why_before_the_numbers() -> None:
    error = ErrorRecord("CommandFailedError", "'sh' failed: exit code 9; on stderr: <b>refused")
    attempt = Attempt(1, WHEN, 0.0, 1.0, Outcome.FAILED, (), error)
    flow_run: dict[str, Json] = {"id": "97aa7af2-52ce-4686-82e0-615de07efa2d", "name": "words"}
    broken = replace(failed(attempts=(attempt,)), name="load")

    page = result_page(
        *("words", summary(1.0), [4], PLACE, None), [make_run(4, broken, flow_run=flow_run)]
    )

    where = "run 4, flow run [words](/runs/flow-run/97aa7af2-52ce-4686-82e0-615de07efa2d)"
    told = f"- {where}, host bench1: step load: exit 9: \\<b\\>refused\n\n|"
    assert told in page


def test_warnings_are_told_and_are_texts() -> None:
    document = summary(1.0) | {"warnings": ["<b>careful</b>"] * 30}
    page = result_page("words", document, [], PLACE, None)
    assert page.count("- warning: \\<b\\>careful") == 20
    assert "10 more warnings" in page


def test_thousands_of_steps_are_cut_off() -> None:
    step = summary(1.0)["steps"][0]
    page = result_page("words", summary(1.0) | {"steps": [step] * 5000}, [], PLACE, None)
    assert "4800 more steps are in summary.json." in page
    assert len(page) < 100_000


def test_rows_of_a_suite_are_escaped_and_rounded() -> None:
    rows = [{"case": "<b>", "done": 3, "seconds": 29.700000000000003, "why": None, "ok": True}]
    made = suite_table(rows)
    assert made == [{"case": "\\<b\\>", "done": 3, "seconds": "29.7", "why": "", "ok": "yes"}]
    json.dumps(made, allow_nan=False)
