"""The retry dashboard: boards, how they are kept, merged and shown."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from benchyard.analysis.executions import Collected
from benchyard.analysis.failure_tables import place_of
from benchyard.core.model import Json, Outcome
from benchyard.show.pages.retries import (
    HEAD,
    Board,
    Counts,
    board_from,
    board_of,
    merged,
    metadata_of,
    retries_page,
    table_of,
)
from tests.benchyard.analysis.conftest import START, MakeTry, step

NOW = datetime(2026, 11, 20, tzinfo=UTC)
FLOW = "97aa7af2-52ce-4686-82e0-615de07efa2d"


def nowhere(_: Mapping[str, Json]) -> str | None:
    return None


def board(make_try: MakeTry, host: str = "quiet", case: str = "words") -> Board:
    tries = (
        make_try(step("twice", "a", "b"), step("fine", index=2), host=host, case=case),
        make_try(step("twice"), day=1, host=host, case=case),
        make_try(outcome=None, day=2, host=host, case=case),
    )
    return board_of(Collected(tries), nowhere, NOW)


def test_board_counts_steps_and_days(make_try: MakeTry) -> None:
    made = board(make_try)
    assert made.steps == {
        ("quiet", "words", "01-twice"): Counts(2, 1, 4, 2),
        ("quiet", "words", "02-fine"): Counts(1, 0, 1, 0),
        ("quiet", "words", "the run"): Counts(3, 1, 0, 0),
    }
    assert made.days == {
        ("quiet", "2026-11-02"): Counts(2, 1, 4, 2),
        ("quiet", "2026-11-03"): Counts(1, 0, 1, 0),
        ("quiet", "2026-11-04"): Counts(1, 1, 0, 0),
    }
    assert [row["Step"] for row in made.rows] == ["01-twice", "the run"]


def test_row_tells_all_of_an_execution(make_try: MakeTry) -> None:
    tried = make_try(step("load", "no *way*", "<b>"), flow_run={"id": FLOW, "name": "bold-bat"})
    (row,) = board_of(Collected((tried,)), place_of, NOW).rows
    assert tuple(map(row.get, HEAD)) == (
        *("01-load", "words", "1", "recovered", "3"),
        f"[bold-bat](/runs/flow-run/{FLOW})",
        *("quiet", "no \\*way\\*", "E: \\<b\\>", "1.50 s", "2026-11-02 12:00:00"),
    )


def test_what_is_long_ago_is_left_out(make_try: MakeTry) -> None:
    late = replace(make_try(step("load", "no")), started_at="2026-10-01T00:00:00+00:00")
    assert board_of(Collected((late,)), nowhere, NOW) == Board()


def test_board_comes_back_from_what_an_artifact_keeps(make_try: MakeTry) -> None:
    made = board(make_try)
    back = board_from(table_of(made), metadata_of(made), START.date())
    assert back == made
    assert all(len(value) <= 500 for value in metadata_of(made).values())


@pytest.mark.parametrize(
    ("rows", "metadata"),
    [
        (None, None),
        ("{", {"[": "1 2 3 4"}),
        ({"a": []}, {"[]": "1 2 3 4", '["step"]': "1 2 3 4", '["step","h","c","s"]': "many"}),
        ([5, None, "x"], {'["step","h","c","s"]': "1 2 3 4 5", '["day","h"]': "1 2 3 4", "5": ""}),
        (
            [{"Step": "old", "Started (UTC)": "2020-01-01 00:00:00"}],
            {'["day","h","2020-01-01"]': "1"},
        ),
    ],
)
def test_what_somebody_else_wrote_is_left_out(
    rows: object, metadata: dict[str, str] | None
) -> None:
    assert board_from(rows, metadata, date(2026, 11, 1)) == Board()


def test_boards_of_two_hosts_are_one(make_try: MakeTry) -> None:
    whole = merged([board(make_try, "quiet"), board(make_try, "loud")])
    assert whole.steps["quiet", "words", "01-twice"] == whole.steps["loud", "words", "01-twice"]
    assert len(whole.rows) == 4
    assert whole.without(["loud"]) == board(make_try, "quiet")


def test_most_fragile_steps_come_first_newest_of_each(make_try: MakeTry) -> None:
    bad = Collected(tuple(make_try(step("bad", "no"), day=n, case="b") for n in range(5)))
    fine = Collected(
        tuple(make_try(step("a", *["x"] * (n < 2)), day=n, case="a") for n in range(9))
    )
    whole = merged([board_of(one, nowhere, NOW) for one in (fine, bad)])
    assert [row["Case"] for row in whole.rows] == ["b"] * 5 + ["a"] * 2
    days = [row["Started (UTC)"][:10] for row in whole.rows[:5]]
    assert days == sorted(days, reverse=True)


def test_page_shows_counts_rates_and_errors(make_try: MakeTry) -> None:
    page = retries_page(board(make_try), "words")
    assert "1 of 3 executions of steps had trouble, 2 of 5 attempts failed." in page
    assert "1 run broke off outside of the steps." in page
    assert "| 01-twice | words | 1 of 2 | 50 % | 2 of 4 |" in page
    assert "| 2026-11-02 | 2 | 1 of 2 | 50 % | 2 of 4 |" in page
    assert "##" not in retries_page(Board(), "the lab")


def test_page_and_table_are_bounded(make_try: MakeTry) -> None:
    error = "y" * 5000
    tries = tuple(
        make_try(*(step(f"s{k}", error, error, index=k) for k in range(1, 11)), run=run)
        for run in range(1, 101)
    )
    made = board_of(Collected(tries), nowhere, NOW)
    assert len(made.rows) == 300
    assert len(str(table_of(made))) < 200_000
    page = retries_page(made, "words")
    assert len(page) < 50_000
    assert "240 more are in the table." in page


def test_hostile_names_are_texts_on_the_page(make_try: MakeTry) -> None:
    evil = "<img src=x onerror=alert(1)>|[x](javascript:alert(1))"
    tried = make_try(step(evil, evil, outcome=Outcome.FAILED), case=evil, host=evil)
    made = board_of(Collected((tried,)), nowhere, NOW)
    for text in (retries_page(made, "words"), str(table_of(made))):
        assert "<img" not in text.replace("\\<img", "").replace("\\\\<img", "")
        assert "](javascript" not in text.replace("\\](javascript", "")
