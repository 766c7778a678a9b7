"""Sides of one session and of two: how that is seen, and what is called then."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchyard.analysis.comparison.document import document
from benchyard.analysis.comparison.gate import regressions_of
from benchyard.analysis.comparison.rows import Comparison, Pairs, Rule
from benchyard.analysis.comparison.sessions import relation
from benchyard.analysis.comparison.tables import overall
from benchyard.analysis.comparison.verdicts import compare
from benchyard.analysis.comparison.wording import notes, reason, verdict_words
from benchyard.results.record import RunRecord
from benchyard.statistics.comparison import Verdict
from tests.benchyard.analysis.comparison.conftest import place, run, run_set, select, step, titled

START = datetime(2026, 11, 1, tzinfo=UTC)
TURNS = {"id": "a", "order": "round-robin"}


def campaign(
    *values: float,
    at_h: float = 0.0,
    every_s: float = 60.0,
    metric: str | None = None,
    **facts: Any,
) -> list[RunRecord]:
    """Make a run for each duration, or each value of a metric, from an hour on."""
    found: list[RunRecord] = []
    for number, value in enumerate(values, 1):
        began = START + timedelta(hours=at_h, seconds=number * every_s)
        told = step(value) if metric is None else step(1.0, values={metric: value})
        ended = (began + timedelta(seconds=9)).isoformat()
        one = run(number, told, started_at=began.isoformat(), ended_at=ended, **facts)
        found.append(one)
    return found


def night(level: float, seed: int, n: int = 8) -> list[float]:
    random = Random(seed)  # noqa: S311
    return [level * random.gauss(1, 0.003) for _ in range(n)]


def between(one: Sequence[RunRecord], other: Sequence[RunRecord], **rule: Any) -> Comparison:
    both = run_set(one, "old"), run_set(other, "new")
    return compare(Pairs((both,)), Rule(**rule))


# -- who took turns
def test_sides_that_alternate_in_one_session_took_turns() -> None:
    one = campaign(1, 1, 1, session=TURNS)
    other = campaign(1, 1, 1, at_h=0.005, session=TURNS)
    found = relation(run_set(one, "old"), run_set(other, "new"))
    assert (found.in_turns, found.apart_s) == (True, None)


def test_an_interruption_makes_two_sessions_with_turns_in_both() -> None:
    later = {"id": "b", "order": "random"}
    sides = [
        [
            replace(one, session=TURNS if number < 3 else later)
            for number, one in enumerate(campaign(1, 1, 1, 1, 1, 1, at_h=at))
        ]
        for at in (0, 0.005)
    ]
    assert relation(run_set(sides[0], "old"), run_set(sides[1], "new")).in_turns


@pytest.mark.parametrize(
    ("session", "other"),
    [
        pytest.param({}, {}, id="older records"),
        pytest.param(TURNS, {"id": "b", "order": "round-robin"}, id="two commands"),
        pytest.param(dict(TURNS, order="case"), dict(TURNS, order="case"), id="blocks"),
        pytest.param(TURNS, {}, id="one side alone"),
    ],
)
def test_everything_else_is_two_sessions(session: Any, other: Any) -> None:
    one = campaign(1, 1, 1, session=session)
    two = campaign(1, 1, 1, at_h=0.005, session=other)
    assert not relation(run_set(one, "old"), run_set(two, "new")).in_turns


def test_copies_and_blocks_of_one_session_took_no_turns() -> None:
    one = campaign(1, 1, 1, session=TURNS)
    assert not relation(run_set(one, "old"), run_set(one, "new")).in_turns
    after = campaign(1, 1, 1, at_h=26, session=TURNS)
    found = relation(run_set(one, "old"), run_set(after, "new"))
    assert (found.in_turns, found.apart_s) == (False, 26 * 3600 - 120 - 9)


# -- what is called
def test_two_nights_of_the_same_code_are_not_called_and_two_turns_are() -> None:
    slower = campaign(*night(1.03, 2), at_h=26)
    [row] = between(campaign(*night(1, 1)), slower).rows
    assert row.verdict is Verdict.NO_CHANGE_SHOWN
    assert verdict_words(row) == (
        "differs by 3.1 %, as two sessions may (± 6.7 %, no campaign before)"
    )
    assert row.between is not None
    assert row.difference.p_value > 0.01 > row.between.inside_p
    [called] = between(campaign(*night(1, 1)), slower, in_turns=True).rows
    assert (called.verdict, called.between) == (Verdict.REGRESSION, None)


def test_a_large_difference_is_called_between_sessions_too() -> None:
    found = between(campaign(*night(1, 1)), campaign(*night(1.2, 2), at_h=26))
    assert found.regressions == 1
    assert notes(found)[0] == "measured in two sessions, 26 hours apart"


def test_a_declared_spread_between_sessions_decides() -> None:
    sides = campaign(*night(1, 1)), campaign(*night(1.03, 2), at_h=26)
    assert between(*sides, session_sd=0.002).regressions == 1
    assert between(*sides, session_sd=0.05).regressions == 0


def test_the_notes_name_the_remedies_with_their_commands() -> None:
    found = between(campaign(*night(1, 1)), campaign(*night(1.03, 2), at_h=26))
    [_, remedies] = notes(found)
    for command in ("benchyard run A B", "benchyard run --new", "--session-sd"):
        assert command in remedies
    assert "sessions are expected to vary by 1 %" in remedies


def test_a_count_that_never_varies_is_called_at_once() -> None:
    one, other = campaign(*[100.0] * 6), campaign(*[101.0] * 6, at_h=26)
    [row] = between(one, other).rows
    assert (row.verdict, row.between) == (Verdict.REGRESSION, None)


def test_values_below_0_need_five_campaigns(tmp_path: Path) -> None:
    def results(name: str, earlier: int) -> Path:
        new = campaign(*night(-90, 9), at_h=9 * 24, metric="score")
        made = place(tmp_path / name, new)
        for number in range(earlier):
            level = -100 + (-1) ** number * 0.5
            old = campaign(*night(level, number), at_h=number * 24, metric="score")
            place(made / "earlier" / f"2026110{number + 1}T000000Z-0123456789ab", old)
        return made

    for earlier, verdict in ((4, Verdict.CANNOT_TELL), (5, Verdict.CHANGE)):
        made = results(f"of-{earlier}", earlier)
        before = made / "earlier" / f"2026110{earlier}T000000Z-0123456789ab"
        [row] = compare(select(before, made), Rule(("score",))).rows
        assert row.verdict is verdict
        if verdict is Verdict.CANNOT_TELL:
            assert "need 5 earlier campaigns; there are 4" in reason(row, 1)


def test_the_mean_over_all_steps_is_held_against_sessions_too() -> None:
    def both(level: float, at_h: float, seed: int) -> list[RunRecord]:
        columns = zip(night(level, seed), night(level, seed + 1), strict=True)
        made = [step(a, name="a", index=1) for a, _ in columns]
        return [
            replace(one, steps=(first, step(0.5 * level, name="b", index=2)))
            for one, first in zip(campaign(*[1.0] * 8, at_h=at_h), made, strict=True)
        ]

    [line] = overall(between(both(1, 0, 1), both(1.04, 26, 3)))
    assert line.judgement.verdict is Verdict.NO_CHANGE_SHOWN
    assert verdict_words(line).startswith("differs by 4.1 %, as two sessions may (± 6.7 %")
    [line] = overall(between(both(1, 0, 1), both(1.2, 26, 3)))
    assert line.judgement.verdict is Verdict.CHANGE
    [line] = overall(between(both(1, 0, 1), both(1.04, 26, 3), in_turns=True))
    assert (line.judgement.verdict, line.between) == (Verdict.CHANGE, None)


# -- what is known of a host
def history(results: Path, nights: int, sd: float, newest: float, **facts: Any) -> Path:
    random = Random(nights)  # noqa: S311
    place(results, campaign(*night(newest, 99), at_h=24 * nights, **facts))
    for number in range(nights):
        records = campaign(*night(random.gauss(1, sd), number), at_h=24 * number, **facts)
        place(results / "earlier" / f"202611{number + 1:02d}T000000Z-0123456789ab", records)
    return results


def newest_against_before(results: Path, nights: int, **rule: Any) -> Comparison:
    before = results / "earlier" / f"202611{nights:02d}T000000Z-0123456789ab"
    return compare(select(before, results), Rule(**rule))


def test_quiet_nights_of_the_case_make_smaller_differences_visible(tmp_path: Path) -> None:
    quiet = history(tmp_path / "quiet", 12, 0.002, 1.035)
    noisy = history(tmp_path / "noisy", 12, 0.03, 1.035)
    [row] = newest_against_before(quiet, 12).rows
    assert row.verdict is Verdict.REGRESSION
    assert row.between is not None
    assert (row.between.campaigns, row.between.cases) == (12, 0)
    [row] = newest_against_before(noisy, 12).rows
    assert row.verdict is Verdict.NO_CHANGE_SHOWN
    assert verdict_words(row).endswith("12 campaigns)")


def test_other_cases_of_the_host_lend_their_nights_and_those_of_others_do_not(
    tmp_path: Path,
) -> None:
    results = history(tmp_path / "new", 1, 0, 1.055)
    others = [
        history(tmp_path / "others" / str(n), 6, 0.002, 1, **titled(str(n))) for n in range(5)
    ]
    elsewhere = history(tmp_path / "far", 6, 0.002, 1, environment={"host": "bench2"})
    [alone] = newest_against_before(results, 1).rows
    assert alone.verdict is Verdict.NO_CHANGE_SHOWN
    [row] = newest_against_before(
        results, 1, other_results=lambda: [*others, elsewhere, results]
    ).rows
    assert row.verdict is Verdict.REGRESSION
    assert row.between is not None
    assert (row.between.campaigns, row.between.cases) == (1, 5)


def test_other_cases_are_not_asked_where_the_own_campaigns_tell_enough(tmp_path: Path) -> None:
    others = [history(tmp_path / str(n), 6, 0.05, 1, **titled(str(n))) for n in range(2)]
    for nights, cases in ((15, 2), (16, 0)):
        made = history(tmp_path / f"after-{nights}", nights, 0.01, 1)
        [row] = newest_against_before(made, nights, campaigns=20, other_results=lambda: others).rows
        assert row.between is not None
        assert (row.between.campaigns, row.between.cases) == (nights, cases)


def test_damaged_campaigns_are_no_history(tmp_path: Path) -> None:
    results = history(tmp_path / "new", 3, 0.002, 1.03)
    (results / "earlier" / "20261101T000000Z-0123456789ab" / "run_1" / "run.json").write_text("{")
    [row] = newest_against_before(results, 3).rows
    assert row.between is not None
    assert row.between.campaigns == 2


def test_the_document_says_what_a_difference_was_held_against() -> None:
    found = between(campaign(*night(1, 1)), campaign(*night(1.03, 2), at_h=26))
    made = json.loads(json.dumps(document(found, ["old", "new"])))
    [case], [row] = made["cases"], made["comparisons"]
    assert (case["in_turns"], round(case["sessions_apart_s"])) == (False, 26 * 3600 - 429)
    told = row["between_sessions"]
    assert told["inside_p_value"] < 0.01 < told["p_value"] == row["p_value"]
    assert told["margin"] == pytest.approx(0.067, abs=0.001)
    assert (told["campaigns"], told["other_cases"]) == (0, 0)
    assert made["rule"]["session_sd"] is None


# -- the level of many campaigns
def test_a_small_change_from_the_level_of_twenty_campaigns_is_called(tmp_path: Path) -> None:
    made = history(tmp_path / "new", 20, 0.01, 1.045)
    [alone] = newest_against_before(made, 20).rows
    assert alone.difference.baseline_n == 8
    [row] = newest_against_before(made, 20, campaigns=20).rows
    assert row.verdict is Verdict.REGRESSION
    one = row.difference
    assert (one.baseline_n, one.candidate_n) == (20, 1)
    assert one.ratio == pytest.approx(1.045, abs=0.01)
    assert 1.0 < (one.ratio_interval.low or 0) < 1.045 < (one.ratio_interval.high or 0)
    [told] = regressions_of(newest_against_before(made, 20, campaigns=20))
    assert told.text.endswith("against 20 campaigns)")


def test_a_campaign_on_its_level_is_not_called_though_its_runs_differ(tmp_path: Path) -> None:
    made = history(tmp_path / "new", 20, 0.01, 1.015)
    [row] = newest_against_before(made, 20, campaigns=20).rows
    assert row.verdict is Verdict.NO_CHANGE_SHOWN


def test_too_few_campaigns_are_no_level(tmp_path: Path) -> None:
    made = history(tmp_path / "new", 4, 0.01, 1.2)
    [row] = newest_against_before(made, 4, campaigns=20).rows
    assert row.difference.baseline_n == 8
    assert row.verdict is Verdict.REGRESSION


def test_counts_that_were_always_equal_change_at_once(tmp_path: Path) -> None:
    place(tmp_path, campaign(*[101.0] * 8, at_h=24 * 20, metric="rows"))
    for number in range(9):
        records = campaign(*[100.0] * 8, at_h=24 * number, metric="rows")
        place(tmp_path / "earlier" / f"202611{number + 1:02d}T000000Z-0123456789ab", records)
    rule = {"metrics": ("rows",), "campaigns": 20}
    [row] = [one for one in newest_against_before(tmp_path, 9, **rule).rows if not one.explains]
    assert row.verdict is Verdict.CHANGE
