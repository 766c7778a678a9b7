"""The first slow version is found by noisy measurements, or it is said why not."""

import math
from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from benchyard.statistics.bisection import FIRST, Belief, Bisection, Conclusion

Measure = Callable[[int], float | None]

STEP, NOISE = 0.02, 0.01


def line(n: int, threshold: float = 0.01) -> Bisection:
    return Bisection(np.tri(n, dtype=np.bool_), threshold=threshold)


def concluded(bisection: Bisection, measure: Measure) -> Belief:
    *_, belief = bisection.course(measure)
    assert belief is not None
    return belief


def measured(
    truth: int | None,
    seed: int,
    step: float = STEP,
    noise: float = NOISE,
    unbuildable: frozenset[int] = frozenset(),
) -> Measure:
    random = Random(seed)  # noqa: S311 - a simulation

    def measure(place: int) -> float | None:
        if place in unbuildable:
            return None
        return step * (truth is not None and place >= truth) + random.gauss(0, noise)

    return measure


@pytest.mark.parametrize("truth", [0, 1, 31, 62, 63])
def test_the_first_slow_version_is_found_wherever_it_is(truth: int) -> None:
    right, pairs = 0, 0
    for seed in range(10):
        bisection = line(64)
        belief = concluded(bisection, measured(truth, seed))
        assert bisection.conclusion(belief) is Conclusion.FOUND
        right += bisection.likely(belief) == [truth]
        pairs += len(bisection.differences)
    assert right >= 9
    assert pairs < 10 * 45


def test_the_interval_of_the_step_holds_the_true_one() -> None:
    held = 0
    for seed in range(40):
        belief = concluded(line(16), measured(9, seed))
        held += belief.step(0.025) <= STEP <= belief.step(0.975)
    assert held >= 35


def test_no_difference_is_said_where_there_is_none() -> None:
    found = 0
    for seed in range(100):
        bisection = line(64)
        belief = concluded(bisection, measured(None, seed))
        found += bisection.conclusion(belief) is not Conclusion.NO_DIFFERENCE
        assert {place for place, _ in bisection.differences} == {63} or found
    assert found <= 3


def test_a_faster_bad_version_is_no_slow_one() -> None:
    bisection = line(64)
    belief = concluded(bisection, measured(5, 1, step=-0.1))
    assert bisection.conclusion(belief) is Conclusion.NO_DIFFERENCE
    assert len(bisection.differences) == FIRST


def test_a_step_below_the_threshold_is_no_difference() -> None:
    bisection = line(64, threshold=0.03)
    belief = concluded(bisection, measured(5, 1, step=0.01, noise=0.002))
    assert bisection.conclusion(belief) is Conclusion.NO_DIFFERENCE


def test_what_cannot_be_measured_is_passed_round() -> None:
    bisection = line(64)
    belief = concluded(bisection, measured(40, 1, unbuildable=frozenset({31, 32, 47})))
    assert bisection.conclusion(belief) is Conclusion.FOUND
    assert bisection.likely(belief) == [40]
    assert bisection.skipped <= {31, 32, 47}
    assert bisection.skipped


def test_what_only_unmeasurable_versions_separate_is_named_together() -> None:
    bisection = line(64)
    belief = concluded(bisection, measured(40, 1, unbuildable=frozenset({39, 40, 41})))
    assert bisection.conclusion(belief) is Conclusion.INSEPARABLE
    assert bisection.likely(belief) == [39, 40, 41, 42]
    assert bisection.skipped == {39, 40, 41}


def often_wild(truth: int, seed: int) -> Measure:
    usual, wild = measured(truth, seed), measured(None, seed, noise=0.5)
    turns = Random(seed)  # noqa: S311 - a simulation

    def measure(place: int) -> float | None:
        return wild(place) if turns.random() < 0.1 else usual(place)

    return measure


def test_wild_measurements_do_not_mislead() -> None:
    right, pairs = 0, 0
    for seed in range(10):
        bisection = line(32)
        right += bisection.likely(concluded(bisection, often_wild(20, seed))) == [20]
        pairs += len(bisection.differences)
    assert right >= 9
    assert pairs < 10 * 60


@pytest.mark.parametrize("wild", [0.4, 0.5, 1.0])
def test_no_measurement_decides_alone(wild: float) -> None:
    bisection, turns = line(4), iter([wild])

    def measure(place: int) -> float:
        return next(turns, 0.0) if place < 2 else 0.5 * (place > 2)

    belief = concluded(bisection, measure)
    assert bisection.likely(belief) == [3]
    assert len(bisection.differences) <= FIRST + 12


def test_a_time_out_counts_as_slow() -> None:
    bisection, usual = line(32), measured(20, 1, step=0.5)

    def measure(place: int) -> float | None:
        return math.inf if 20 <= place < 31 else usual(place)

    assert bisection.likely(concluded(bisection, measure)) == [20]


def test_a_branch_is_not_slow_by_what_it_does_not_contain() -> None:
    # 0 and 1 are on one branch, 2 and 3 on another, and 4 merges both.
    contains = np.tri(5, dtype=np.bool_)
    contains[2:4, :2] = False
    for truth in range(5):
        bisection, noise = Bisection(contains), measured(None, truth)
        slow = contains[:, truth] * 0.05
        belief = concluded(bisection, lambda place, s=slow, n=noise: s[place] + (n(place) or 0.0))
        assert bisection.likely(belief) == [truth]


def test_equal_measurements_are_enough() -> None:
    bisection = line(8)
    belief = concluded(bisection, lambda place: 0.1 * (place >= 3))
    assert bisection.likely(belief) == [3]
    assert belief.step() == pytest.approx(0.1, rel=0.01)


def test_one_version_is_found_as_soon_as_it_is_slower() -> None:
    bisection = line(1)
    belief = concluded(bisection, measured(0, 1, step=0.2))
    assert bisection.conclusion(belief) is Conclusion.FOUND
    assert len(bisection.differences) <= FIRST + 2


def test_the_rest_is_foreseen() -> None:
    bisections = [line(64) for _ in range(15)]
    courses = [one.course(measured(11, at, step=0.04)) for at, one in enumerate(bisections)]
    believed = [next(one for one in course if one is not None) for course in courses]
    known = [*bisections[0].differences]
    pairs, builds = bisections[0].foreseen(believed[0])
    assert bisections[0].differences == known, "simulated differences are not kept"
    taken = sorted(sum(1 for _ in course) for course in courses)
    assert pairs == pytest.approx(taken[7], rel=0.6)
    assert 4 <= builds <= 9
