"""Looks: declared beforehand, and together no more likely to go wrong than promised."""

from itertools import islice

import pytest

from benchyard.timing.ranking import MOST, Plan, cannot_tell, last_level, minimum_for


def test_looks_without_an_end_spend_the_level_and_no_more() -> None:
    looks = list(Plan(minimum=6).levels())
    assert [at for at, _ in looks[:4]] == [6, 8, 12, 16]
    shares = [share for _, share in looks[:4]]
    assert shares == pytest.approx([0.005, 0.01 / 6, 0.01 / 12, 0.0005])
    assert sum(share for _, share in looks) < 0.01
    assert [at for at, _ in looks] == sorted({at for at, _ in looks})
    assert looks[-1][0] == MOST


def test_looks_with_an_end_share_the_level() -> None:
    looks = list(Plan(10, 50).levels())
    assert looks[-1][0] == 50
    assert sum(share for _, share in looks) == pytest.approx(0.01)
    assert list(Plan(20, 20).levels()) == [(20, pytest.approx(0.01))]


@pytest.mark.parametrize(
    ("round_s", "rounds"), [(0.001, 10), (0.35, 8), (0.5, 6), (100, 6), (0, 10)]
)
def test_the_first_look_comes_after_3_seconds_or_10_rounds(round_s: float, rounds: int) -> None:
    assert minimum_for(round_s) == rounds


def test_a_look_that_was_not_declared_spends_the_next_ones_share() -> None:
    plan = Plan(minimum=6)
    shares = [share for _, share in islice(plan.levels(), 3)]
    assert [last_level(plan, taken) for taken in range(3)] == shares
    assert last_level(Plan(20, 20), 1) == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("maximum", "commands", "said"),
    [
        (4, 2, "4 executions of each cannot tell at the 1 % level; 5 can"),
        (5, 2, ""),
        (5, 3, "5 executions of each cannot tell at the 1 % level over 3 comparisons; 6 can"),
        (1, 1, ""),
        (None, 9, ""),
    ],
)
def test_what_so_few_executions_cannot_tell_is_known_before(
    maximum: int | None, commands: int, said: str
) -> None:
    assert cannot_tell(Plan(minimum=maximum or 10, maximum=maximum), commands) == said
