"""The retry dashboard: what it counts and links to, how long it gets, and hostile texts."""

from collections.abc import Sequence

from benchyard.analysis.executions import StepTry, executions
from benchyard.core.model import Outcome
from benchyard.results.attempts import RunAttempt
from benchyard.show.pages.retries import retries_page, retries_rows
from tests.benchyard.analysis.conftest import MakeTry, step


def executed(*tries: RunAttempt) -> Sequence[StepTry]:
    return list(executions(tries))


def test_page_counts_steps_days_and_hosts(make_try: MakeTry) -> None:
    page = retries_page(
        executed(
            make_try(step("twice", "a", "b"), step("fine", index=2)),
            make_try(step("twice"), day=1, host="loud"),
            make_try(outcome=None, day=2),
        ),
        "words",
    )
    counts = "trouble in 1 of 3 executions of steps, 1 recovered; 2 of 5 attempts failed"
    assert f"The last 28 days on loud, quiet: {counts}; 1 try of a run broke off" in page
    assert "| 01-twice | words | 2 | ❌ 1 | 50 % |" in page
    assert "| 2026-11-02 | 2 | ❌ 1 | 50 % |" in page
    assert "##" not in retries_page([], "the lab")


def test_page_and_table_are_bounded(make_try: MakeTry) -> None:
    error = "y" * 5000
    tries = (
        make_try(*(step(f"s{k}", error, error, index=k) for k in range(1, 11)), run=run)
        for run in range(1, 101)
    )
    found = executed(*tries)
    rows = retries_rows(found)
    assert len(rows) == 300
    assert len(str(rows)) < 200_000
    page = retries_page(found, "words")
    assert len(page) < 50_000
    assert "240 more are in the table." in page


def test_hostile_names_are_texts_on_the_page(make_try: MakeTry) -> None:
    evil = "<img src=x onerror=alert(1)>|[x](javascript:alert(1))"
    found = executed(make_try(step(evil, evil, outcome=Outcome.FAILED), case=evil, host=evil))
    for text in (retries_page(found, evil), str(retries_rows(found))):
        assert "<img" not in text.replace("\\<img", "").replace("\\\\<img", "")
        assert "](javascript" not in text.replace("\\](javascript", "")
