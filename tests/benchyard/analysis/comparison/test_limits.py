"""Rules of ``check``: how they are read, what their limits call worse, and which never fire."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchyard.analysis.comparison.document import markdown
from benchyard.analysis.comparison.gate import idle_rules, regressions_of, unjudged
from benchyard.analysis.comparison.limits import read_rules
from benchyard.analysis.comparison.rows import Comparison, Pairs, Row, Rule
from benchyard.analysis.comparison.tables import overall
from benchyard.analysis.comparison.verdicts import compare
from benchyard.analysis.comparison.wording import summary, verdict_in_full
from benchyard.core.errors import InputError
from benchyard.results.record import RunRecord
from benchyard.statistics.comparison import Verdict
from tests.benchyard.analysis.comparison.conftest import (
    BASE,
    compared,
    place,
    queries,
    run,
    run_set,
    scaled,
    select,
    step,
    titled,
)
from tests.benchyard.analysis.comparison.test_sessions import campaign, history, night

WORSE, BETTER, SAME = Verdict.REGRESSION, Verdict.IMPROVEMENT, Verdict.NO_CHANGE_SHOWN


def measured(metric: str, values: Sequence[float], **kind: str) -> list[RunRecord]:
    """Make a run of each value of a metric, whose unit and direction a step may declare."""
    facts: dict[str, Any] = {"parameters": {"metrics": {metric: kind}}} if kind else {}
    return [run(n, step(1.0, values={metric: v}, **facts)) for n, v in enumerate(values, 1)]


def judged(one: Sequence[RunRecord], other: Sequence[RunRecord], *rules: str) -> list[Row]:
    """Return the rows that are asked for by some rules."""
    return compared(one, other, rules=read_rules(rules)).asked


def near(level: float) -> list[float]:
    return [level * value for value in BASE]


# -- reading
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("sort:* wall_s +5% ada@x.org", ("sort", "*", "wall_s", 0.05, "%", "ada@x.org")),
        ("tpch/*:q1  rss_bytes\t+20MB bob", ("tpch/*", "q1", "rss_bytes", 20.0, "MB", "bob")),
        ("web:* ops_per_s -3% team-web", ("web", "*", "ops_per_s", 0.03, "%", "team-web")),
        ("a:b c ±1.5% @ops", ("a", "b", "c", 0.015, "%", "@ops")),
        ("a:b c 2 3d-team", ("a", "b", "c", 2.0, "", "3d-team")),
        ("two words: x[n=1]:b c +10/s ada", ("two words: x[n=1]", "b", "c", 10.0, "/s", "ada")),
        ("a:b c +5% ms", ("a", "b", "c", 0.05, "%", "ms")),
    ],
)
def test_a_rule_is_case_step_metric_limit_and_owner(text: str, told: tuple[object, ...]) -> None:
    [one] = read_rules([text])
    assert (one.case, one.step, one.metric, one.size, one.unit, one.owner) == told


def test_all_rules_that_are_wrong_are_told_at_once() -> None:
    ownerless = ["a:b c +5%", "a:b c +3 ms", "a:b c 5 %", "a:b c 2"]
    unreadable = [
        "a c 5% ada",
        ":b c 5% ada",
        "a:b c fast ada",
        "a:b c +3 ms ada",
        "a:b c ٣% x",
        "",
    ]
    with pytest.raises(InputError) as caught:
        read_rules([*ownerless, "a:b c +5% ada", *unreadable])
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[0] for line in lines[len(ownerless) :]] == [
        f"rule '{text}'" for text in unreadable
    ]
    assert lines[: len(ownerless)] == [
        f"rule '{text}' has no owner; write behind the limit who is asked" for text in ownerless
    ]


# -- what a limit calls worse
@pytest.mark.parametrize(
    ("limit", "factor", "verdict"),
    [
        ("+5%", 1.06, WORSE),
        ("+5%", 1.04, SAME),
        ("5%", 1.06, WORSE),
        ("±5%", 1.06, WORSE),
        ("5%", 0.9, BETTER),
        ("+5%", 0.96, SAME),
        ("+50ms", 1.06, WORSE),
        ("+70ms", 1.06, SAME),
        ("0.05", 1.06, WORSE),
        ("0.07s", 1.06, SAME),
        ("+0.2%", 1.006, WORSE),
        ("+0%", 1.0, SAME),
    ],
)
def test_a_limit_takes_the_place_of_the_threshold(
    limit: str, factor: float, verdict: Verdict
) -> None:
    one = [run(n, step(1 + n / 1e5)) for n in range(1, 9)]
    other = [run(n, step(factor * (1 + n / 1e5))) for n in range(1, 9)]
    [row] = judged(one, other, f"tpch:load duration_s {limit} ada")
    assert row.verdict is verdict


def test_a_limit_does_not_turn_noise_into_a_regression() -> None:
    noisy = [1.0, 1.3, 0.8, 1.2, 0.9, 1.1, 1.0, 1.25]
    one, other = ([run(n, step(f * v)) for n, v in enumerate(noisy)] for f in (1, 1.06))
    [row] = judged(one, other, "*:* duration_s +1% ada")
    assert (row.verdict, verdict_in_full(row)) == (SAME, "no difference shown")
    few = [run(n, step(9.0)) for n in range(2)]
    [row] = judged(one[:2], few, "*:* duration_s +5000% ada")
    assert row.verdict is Verdict.CANNOT_TELL


def test_exactly_the_limit_is_allowed() -> None:
    one, other = measured("error_count", [100.0] * 8), measured("error_count", [105.0] * 8)
    for limit, verdict in (("+5", SAME), ("+4", WORSE), ("+5%", SAME), ("+4.9%", WORSE)):
        [_, row] = judged(one, other, f"*:* error_count {limit} ada")
        assert row.verdict is verdict, limit


@pytest.mark.parametrize(
    ("limit", "verdict"),
    [("+5%", WORSE), ("5%", WORSE), ("+2", SAME), ("2", SAME), ("+1", WORSE), ("1", WORSE)],
)
def test_of_nothing_each_increase_is_beyond_a_share_and_not_beyond_an_amount(
    limit: str, verdict: Verdict
) -> None:
    one, other = measured("error_count", [0.0] * 8), measured("error_count", [2.0] * 8)
    [_, row] = judged(one, other, f"*:* error_count {limit} ada")
    assert row.verdict is verdict


def test_the_sign_says_which_way_is_worse_where_the_metric_does_not() -> None:
    one, other = measured("score", near(100)), measured("score", near(110))
    for limit, verdict in (("+5%", WORSE), ("-5%", BETTER), ("+20%", SAME), ("+9", WORSE)):
        [_, row] = judged(one, other, f"*:* score {limit} ada")
        assert row.verdict is verdict, limit
    [row] = judged(one, other, "*:* score 5% ada")
    assert row.metric == "duration_s"


def test_less_of_what_should_be_large_is_worse() -> None:
    one, other = measured("requests_per_s", near(100)), measured("requests_per_s", near(95))
    [_, row] = judged(one, other, "*:* requests_per_s -3% ada")
    assert (row.verdict, verdict_in_full(row)) == (WORSE, "less; ask ada")
    for limit in ("-4/s", "4", "3%"):
        assert judged(one, other, f"*:* requests_per_s {limit} ada")[1].verdict is WORSE
    assert judged(one, other, "*:* requests_per_s -6/s ada")[1].verdict is SAME


def test_amounts_are_converted_to_the_unit_of_the_metric() -> None:
    one, other = measured("rss_bytes", near(5e7)), measured("rss_bytes", near(7.5e7))
    for limit, verdict in (("+20MB", WORSE), ("+24MiB", SAME), ("+26MB", SAME), ("+2e7", None)):
        rows = judged(one, other, f"*:* rss_bytes {limit} ada")
        assert [row.verdict for row in rows[1:]] == ([verdict] if verdict else []), limit
    own = {"unit": "pages", "direction": "smaller is better"}
    one, other = measured("x", near(50), **own), measured("x", near(75), **own)
    assert judged(one, other, "*:* x +20pages ada")[1].verdict is WORSE
    assert judged(one, other, "*:* x +30pages ada")[1].verdict is SAME


def test_the_last_rule_that_matches_and_fits_holds() -> None:
    rules = ["*:* duration_s +1% all", "tpch:lo?d duration_s +20% ada", "tpch:x duration_s 1% x"]
    [row] = judged(scaled(1), scaled(1.1), *rules)
    assert (row.limit and row.limit.owner, row.verdict) == ("ada", SAME)
    [row] = judged(scaled(1), scaled(1.1), *rules[::-1])
    assert (row.owner, row.verdict) == ("all", WORSE)
    [row] = judged(scaled(1), scaled(1.1), *rules[:1], "*:* duration_s -50% eve")
    assert row.owner == "all"


def test_a_bracket_in_a_case_is_that_of_a_title() -> None:
    one, other = (
        [run(n, step(f * v), **titled("a[n=1]")) for n, v in enumerate(BASE)] for f in (1, 2)
    )
    for case, owner in (("a[n=1]", "ada"), ("a[n=*]", "ada"), ("a[n=2]", "")):
        [row] = judged(one, other, f"{case}:* duration_s 5% ada")
        assert row.owner == owner


def test_a_rule_asks_for_the_metric_that_it_names_and_one_of_all_for_none() -> None:
    both = measured("rows_count", near(100)), measured("rows_count", near(200))
    assert [row.metric for row in judged(*both, "*:* * +5% ada")] == ["duration_s"]
    [_, row] = judged(*both, "*:* rows_* +5% ada")
    assert (row.metric, row.verdict) == ("rows_count", WORSE)
    rows = judged(*both, "*:* rows_count +5% ada", "*:* * +150% eve")
    assert [(row.metric, row.limit and row.limit.owner) for row in rows] == [
        ("duration_s", "eve"),
        ("rows_count", "eve"),
    ]


def test_a_metric_with_a_limit_that_got_lost_is_not_passed_over() -> None:
    one, other = measured("rows_count", [1.0] * 8), scaled(1)
    assert unjudged(compared(one, other, rules=read_rules(["*:* * +5% ada"]))) == []
    made = compared(one, other, rules=read_rules(["*:* rows_count +5% ada"]))
    assert unjudged(made) == ["rows_count of step Load is known in the baseline only"]
    assert idle(made) == []


def test_the_mean_over_all_steps_keeps_the_threshold() -> None:
    steady = [1 + n / 1e6 for n in range(8)]
    sides = [queries({"a": [f * v for v in steady], "b": steady}) for f in (1, 1.015)]
    [line] = overall(compared(*sides, rules=read_rules(["*:a duration_s +50% ada"])))
    assert line.judgement.verdict is SAME


# -- between sessions
def nights(results: Path, last: float, newest: float) -> Path:
    """Return twenty nights at level 1, of which the last is at another one, and the newest."""
    case = history(results, 20, 0.004, newest)
    earlier = case / "earlier" / "20261120T000000Z-0123456789ab"
    shutil.rmtree(earlier)
    place(earlier, campaign(*night(last, 3), at_h=24 * 19))
    return case


def against_last(case: Path, rule: str, **more: Any) -> Row:
    before = case / "earlier" / "20261120T000000Z-0123456789ab"
    [row] = compare(select(before, case), Rule(rules=read_rules([rule]), **more)).rows
    return row


def test_the_limit_is_held_against_the_change_from_the_level(tmp_path: Path) -> None:
    over, under = nights(tmp_path / "a", 1.02, 1.045), nights(tmp_path / "b", 0.98, 1.02)
    for case, alone, from_level in ((over, SAME, WORSE), (under, WORSE, SAME)):
        row = against_last(case, "*:* duration_s +3.5% ada", in_turns=True)
        assert row.verdict is alone
        row = against_last(case, "*:* duration_s +3.5% ada", campaigns=20)
        assert row.compares_levels
        assert row.verdict is from_level


def test_a_limit_below_the_threshold_is_held_against_sessions_too() -> None:
    one, other = campaign(*night(1, 1)), campaign(*night(1.008, 2), at_h=26)
    both = run_set(one, "old"), run_set(other, "new")
    rule = Rule(rules=read_rules(["*:* duration_s +0.1% ada"]))
    [row] = compare(Pairs((both,)), rule).rows
    assert row.verdict is SAME
    assert row.differs_as_sessions_do


# -- what is told
def test_the_owner_is_named_where_a_row_is_worse() -> None:
    rules = read_rules(["*:load duration_s +5% ada@example.org"])
    worse = compared(scaled(1), scaled(1.1), rules=rules)
    [told] = regressions_of(worse)
    assert told.text.endswith("runs); ask ada@example.org")
    assert r"slower; ask ada\@example.org" in markdown(worse, "old", "new")
    assert "changes below 1 % are not called without a rule" in summary(worse)
    within = compared(scaled(1), scaled(1.04), rules=rules)
    assert "ada" not in markdown(within, "old", "new")
    assert verdict_in_full(within.rows[0]) == "within +5%"
    assert "ask" not in verdict_in_full(compared(scaled(1), scaled(0.8), rules=rules).rows[0])


# -- what never fires
WAY = "which way score gets worse is not known; write + or - before the limit"


def idle(made: Comparison, *, every: bool = True) -> list[str]:
    return idle_rules(made, [pair.candidate for pair in made.pairs], every=every)


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("tpc:* duration_s 5% ada", "no case is 'tpc'; did you mean 'tpch'?"),
        ("tpch:laod duration_s 5% ada", "no step is 'laod'; did you mean 'load'?"),
        ("tpch:load duration 5% ada", "no metric there is 'duration'; did you mean 'duration_s'?"),
        (
            "tpch:load score 5% ada",
            WAY,
        ),
        ("tpch:load duration_s -5% ada", "of duration_s, smaller is better"),
        ("tpch:load duration_s 5MB ada", "the unit of duration_s is s"),
        ("tpch:load score +5MB ada", "the unit of score is not known"),
        ("tpch:new duration_s 5% ada", "it has no history"),
    ],
)
def test_a_rule_that_can_never_fire_is_named_with_the_reason(rule: str, why: str) -> None:
    one = [run(n, step(v, values={"score": v})) for n, v in enumerate(BASE)]
    other = [run(n, *record.steps, step(1.0, name="new", index=2)) for n, record in enumerate(one)]
    made = compared(one, other, rules=read_rules([rule]))
    assert idle(made) == [f"rule '{rule}' never fires: {why}"]
    assert [row.limit for row in made.rows] == [None]


def test_a_rule_that_later_ones_cover_never_fires() -> None:
    first, second = "tpch:load duration_s +5% ada", "*:* duration_s +9% eve"
    made = compared(scaled(1), scaled(1), rules=read_rules([first, second]))
    assert idle(made) == [f"rule '{first}' never fires: a later rule covers it"]
    assert idle(compared(scaled(1), scaled(1), rules=read_rules([second, first]))) == [
        f"rule '{second}' never fires: a later rule covers it"
    ]
    one = queries({"a": BASE, "b": BASE})
    assert idle(compared(one, one, rules=read_rules([second, "*:a duration_s 5% ada"]))) == []


def test_of_what_is_not_looked_at_no_rule_is_called_idle() -> None:
    one = queries({"a": BASE, "b": BASE})
    rules = read_rules(["words:a duration_s 5% ada", "tpch:b duration_s 5% ada"])
    assert idle(compared(one, one, rules=rules, steps=("a",)), every=False) == []
    assert idle(compared(one, one, rules=()), every=True) == []
